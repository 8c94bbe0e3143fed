//! Search requests: JSON ([`SearchRequest`], or the bodies of Elasticsearch's API) is parsed once into a [`Question`].
//! The plan derives a [`Resolved`] from it.
//!
//! ```text
//!   JSON ──▶ SearchRequest ──read──▶ Question ──plan──▶ Resolved
//! ```

mod aggregations;
mod asked_indexes;
mod counting;
mod elastic;
#[cfg(test)]
pub(crate) mod parses;
mod queries;
mod question;
mod resolved;
mod scroll;
mod search_request;
mod sort;

pub(crate) use aggregations::{AskedAggregations, refuse_ids};
pub(crate) use asked_indexes::AskedIndexes;
pub(crate) use counting::Counting;
pub(crate) use elastic::{
    AS_IN_COLUMN, Boundary, DateFormat, ElasticHits, Fragmenter, Highlight, HitsInBuckets,
    InnerHits, Marks, NamedField, ShownFrom, ShownVersions, SourceFilter,
};
pub(crate) use queries::{GivenQuery, parse_filters, read_filters};
pub(crate) use question::{AnswerForm, Question, VectorReads};
pub(crate) use resolved::{Resolved, TimeBounds};
pub(crate) use scroll::{FIRST_PAGE, Scroll, ScrollState, SealedPlace};
pub(crate) use search_request::SearchRequest;
pub(crate) use sort::{
    DistanceKey, InPlace, MAX_SORT_KEYS, SortKeySpec, SortMode, SortOrder, SortTarget, SortValue,
};

/// The name of an index, and the hash of its manifest.
pub(crate) type PinnedManifest = (String, String);

/// Number of hits that a search returns by default.
const DEFAULT_MAX_HITS: u64 = 20;

/// Maximum number of names in `search_field`, and in `snippet_fields`.
const MAX_FIELDS: usize = 100;

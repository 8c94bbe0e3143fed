//! Leaf search: a set of splits → one partial result.
//!
//! ```text
//!   open ──▶ (count) ──▶ choose ──▶ warm up ──▶ search ──▶ (places) ──▶ partial result
//! ```
//!
//! Reads come first, all of a phase together; then pure computation over resident bytes.

mod batch;
mod cached;
mod candidate;
mod explain;
mod hits;
mod leaf_search;
mod newest_first;
mod opening;
mod partial;
mod reads;
mod split;

pub(crate) use explain::{Decision, SplitFate, explain_leaf};
pub(crate) use hits::{HitOrder, place_in, shows_milliseconds};
pub(crate) use leaf_search::{Leaf, search_leaf};
pub(crate) use partial::{
    FailedSplit, HitPlace, PartialHit, PartialResult, check_listed, collapse, compare_hits,
    general_reason, kind_name,
};
pub(crate) use reads::{
    NearestIn, ScoredTerms, TermCounts, WantedEntries, WantedTerms, find_entries, find_nearest,
    keep_best, list_columns, near_terms, path_of_column,
};
pub(crate) use split::{Frequencies, count_words};

//! Contents of hits in Elasticsearch's form.

use canter_names::FilterPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::query::QueryNode;

use super::{Scroll, SortKeySpec};

/// Contents of hits in Elasticsearch's form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ElasticHits {
    /// Names of the query's named clauses, which hits that match them list. The question holds the clauses.
    pub(crate) named: Vec<String>,
    pub(crate) source: SourceFilter,
    pub(crate) versions: ShownVersions,
    /// True if hits show their sort values, as they do if a request asks for an order.
    pub(crate) shows_sort: bool,
    /// Formats of dates among the sort values, by key.
    pub(crate) date_formats: Vec<DateFormat>,
    /// Fields among the sort keys that must be mapped: those without `unmapped_type`.
    pub(crate) sorted_by_mapped: Vec<String>,
    /// The score of every hit, where none is computed.
    pub(crate) score: Option<f32>,
    /// Maximum number of hits that are counted; `None` if the number is not shown.
    pub(crate) most_counted: Option<u64>,
    /// True if the number of hits is shown as a bare number.
    pub(crate) total_is_number: bool,
    /// True if only the number of hits is wanted, as `_count` answers.
    pub(crate) is_count: bool,
    /// Fields that hits show as lists of values, with their date formats.
    pub(crate) fields: Vec<NamedField>,
    /// True if hits explain their scores.
    pub(crate) explains: bool,
    /// True if the answer tells how the search was carried out.
    pub(crate) profiles: bool,
    /// The objects that nested clauses match.
    pub(crate) inner_hits: Vec<InnerHits>,
    /// The passages that match.
    pub(crate) highlight: Option<Highlight>,
    /// Forms of the hits in buckets.
    pub(crate) in_buckets: Vec<HitsInBuckets>,
    /// True if the names of aggregations include their types.
    pub(crate) has_typed_keys: bool,
    /// The scroll through all hits in an order of values, page by page.
    pub(crate) scroll: Option<Scroll>,
    /// The point in time that is searched.
    pub(crate) pit_id: Option<String>,
    /// The parts of the answer that are wanted; all if absent.
    pub(crate) filter_path: Option<FilterPath>,
}

impl ElasticHits {
    /// Returns the names of the clauses that a hit matches, given its bits.
    pub(crate) fn names_of(&self, bits: u64) -> Vec<Value> {
        let mut names: Vec<Value> = Vec::new();
        for (place, name) in self.named.iter().enumerate() {
            let name = Value::from(name.as_str());
            // Several clauses may have the same name.
            if (bits >> place) & 1 == 1 && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Form of the hits that an aggregation shows in its buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HitsInBuckets {
    pub(crate) sort: Vec<SortKeySpec>,
    pub(crate) shown: ElasticHits,
}

/// What hits show of the versions of their documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownVersions {
    /// True if they show the number of versions.
    pub(crate) version: bool,
    /// True if they show the sequence number.
    pub(crate) seq_no: bool,
}

/// Objects of a hit that it shows because a nested clause matches them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InnerHits {
    pub(crate) name: String,
    /// Path of the objects.
    pub(crate) path: String,
    pub(crate) query: QueryNode,
    pub(crate) from: usize,
    pub(crate) size: usize,
    pub(crate) source: SourceFilter,
    pub(crate) versions: ShownVersions,
    pub(crate) fields: Vec<NamedField>,
    pub(crate) highlight: Option<Highlight>,
    /// Values of the objects that order them; empty for their order in the document.
    pub(crate) sort: Vec<SortKeySpec>,
}

/// Format of values as their column has them, which is that of `docvalue_fields`.
pub(crate) const AS_IN_COLUMN: &str = "use_field_mapping";

/// A field of which hits show the values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NamedField {
    /// Name, in which `*` matches any text.
    pub(crate) name: String,
    /// Format of its dates and numbers.
    pub(crate) format: Option<String>,
    pub(crate) from: ShownFrom,
}

/// Place of the values that hits show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ShownFrom {
    /// What the index shows of documents: `fields`.
    Source,
    /// Columns, in which values are in order: `docvalue_fields`.
    Column,
    /// Fields that are stored beside the documents: `stored_fields`.
    Stored,
}

/// The passages to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Highlight {
    /// Names of fields, in which `*` matches any text. The first that fits a field counts.
    pub(crate) fields: Vec<(String, Marks)>,
}

/// Form in which the passages of a field are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// The tags before and after a match.
    pub(crate) tags: (String, String),
    pub(crate) fragmenter: Fragmenter,
    pub(crate) boundary: Boundary,
    /// Maximum length of a passage, in characters; a word may exceed it. 0 for whole sentences.
    pub(crate) max_chars: usize,
    /// Maximum number of passages of a document; 0 for its whole values.
    pub(crate) num_passages: usize,
    /// True if the best passage comes first, instead of the first one.
    pub(crate) by_score: bool,
    /// The query whose words are marked, if it is another one than that of the search.
    pub(crate) query: Option<QueryNode>,
    /// Further fields whose words are marked in the text of this one.
    pub(crate) matched_fields: Vec<String>,
    /// Maximum length of the part of a value that is looked at, in characters.
    pub(crate) max_analyzed: Option<usize>,
    /// Marks the words that the query looks for in any field, instead of those in the passage's own.
    pub(crate) marks_any_field: bool,
    /// Escapes the text around tags as HTML.
    pub(crate) escapes: bool,
    /// Maximum length of the beginning of a field that is shown if nothing in it matches, in characters; 0 for none.
    pub(crate) max_chars_without_match: usize,
}

/// Elasticsearch's highlighters, which cut passages in different ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fragmenter {
    /// At boundaries.
    #[default]
    Unified,
    /// At any word.
    Plain,
    /// Around matches.
    Vectors,
}

/// Where passages may begin and end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Boundary {
    #[default]
    Sentence,
    Word,
    /// At one of these characters, if there is one among the next ones.
    Characters {
        characters: String,
        most: usize,
    },
}

/// The parts of documents that hits show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceFilter {
    /// Shows nothing.
    pub(crate) is_off: bool,
    /// Does not show the id, either.
    pub(crate) hides_id: bool,
    /// Shows only these fields, in which `*` matches any text; all if empty.
    pub(crate) includes: Vec<String>,
    /// Omits these fields.
    pub(crate) excludes: Vec<String>,
}

/// The format of a date as a sort value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DateFormat {
    /// As precise as the field.
    #[default]
    Usual,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Nanoseconds since 1970.
    Nanoseconds,
    /// A format with Elasticsearch's syntax.
    Named(String),
}

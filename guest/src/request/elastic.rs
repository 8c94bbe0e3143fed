//! What an answer in Elasticsearch's form shows of hits.

use canter_names::FilterPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Scroll;

/// What an answer in Elasticsearch's form shows of hits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ElasticHits {
    /// Names of clauses of the query, which hits that match them show. The clauses stand in the question.
    pub(crate) named: Vec<String>,
    pub(crate) source: SourceFilter,
    /// Whether hits show their sort values: where a request asks for an order.
    pub(crate) shows_sort: bool,
    /// How dates among the sort values are written, by key.
    pub(crate) date_formats: Vec<DateFormat>,
    /// The score of every hit, where none is computed.
    pub(crate) score: Option<f32>,
    /// How many hits are counted; none if their number is not shown.
    pub(crate) most_counted: Option<u64>,
    /// Whether the number of hits is a bare number.
    pub(crate) total_is_number: bool,
    /// Whether only the number of hits is wanted, as `_count` answers.
    pub(crate) is_count: bool,
    /// Fields that hits show as lists of values, and how dates are written in them.
    pub(crate) fields: Vec<NamedField>,
    /// The passages that match.
    pub(crate) highlight: Option<Highlight>,
    /// Whether the names of aggregations tell their types.
    pub(crate) has_typed_keys: bool,
    /// How all hits in an order of values are gone through, page by page.
    pub(crate) scroll: Option<Scroll>,
    /// The point in time that is searched.
    pub(crate) pit_id: Option<String>,
    /// Which parts of the answer are wanted; all if absent.
    pub(crate) filter_path: Option<FilterPath>,
}

impl ElasticHits {
    /// The names of the clauses that a hit matches; `bits` says which.
    pub(crate) fn names_of(&self, bits: u64) -> Vec<Value> {
        let mut names: Vec<Value> = Vec::new();
        for (place, name) in self.named.iter().enumerate() {
            let name = Value::from(name.as_str());
            // Several clauses may have one name.
            if (bits >> place) & 1 == 1 && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The name of a field, in which `*` stands for any text, and how its dates are written.
pub(crate) type NamedField = (String, Option<String>);

/// How passages that match are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Highlight {
    /// Names of fields, in which `*` stands for any text. The first that fits a field counts.
    pub(crate) fields: Vec<(String, Marks)>,
}

/// How the passages of a field are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// What stands before and behind a match.
    pub(crate) tags: (String, String),
    /// Longest passage, in characters.
    pub(crate) max_chars: usize,
}

/// Which parts of documents hits show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceFilter {
    /// Nothing at all.
    pub(crate) is_off: bool,
    /// Only these, in which `*` stands for any text; none: all.
    pub(crate) includes: Vec<String>,
    /// Without these.
    pub(crate) excludes: Vec<String>,
}

/// How a date is written as a sort value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DateFormat {
    /// As exact as the field is.
    #[default]
    Usual,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Nanoseconds since 1970.
    Nanoseconds,
    /// In a format of Elasticsearch's.
    Named(String),
}

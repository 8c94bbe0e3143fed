//! What a search asks for: the request as JSON (Quickwit's names), and its limits.

mod limits;
mod sort;

pub(crate) use limits::Limits;
pub(crate) use sort::{SortKeySpec, SortOrder, SortTarget, parse_sort_by};

use serde::{Deserialize, Serialize};
use tantivy::aggregation::agg_req::{AggregationVariants, Aggregations};

use crate::SearchError;

const SECOND_NS: i64 = 1_000_000_000;

/// A search as it comes in. Unknown keys are refused by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchRequest {
    /// The query string; `*` matches everything.
    #[serde(default = "match_all")]
    pub(crate) query: String,
    /// Fields for words that name none; the index config's default search fields if absent.
    #[serde(default, alias = "search_fields", deserialize_with = "one_or_many")]
    pub(crate) search_field: Vec<String>,
    /// Elasticsearch aggregations.
    #[serde(default, alias = "aggregations")]
    pub(crate) aggs: Option<serde_json::Value>,
    /// How many hits to return.
    #[serde(default = "default_max_hits")]
    pub(crate) max_hits: u64,
    /// How many hits to skip before those.
    #[serde(default)]
    pub(crate) start_offset: u64,
    /// Up to two fields, `_score` or `_doc`, comma-separated; `-` in front means ascending.
    #[serde(default, alias = "sort_by_field")]
    pub(crate) sort_by: Option<String>,
    /// Seconds since 1970, included.
    #[serde(default)]
    pub(crate) start_timestamp: Option<i64>,
    /// Seconds since 1970, excluded.
    #[serde(default)]
    pub(crate) end_timestamp: Option<i64>,
    /// Only says what the search would look at, and why.
    #[serde(default)]
    pub(crate) explain: bool,
}

fn match_all() -> String {
    "*".to_owned()
}

fn default_max_hits() -> u64 {
    20
}

/// `"a,b"`, `["a", "b"]` or nothing.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::<OneOrMany>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(OneOrMany::Many(fields)) => fields,
        Some(OneOrMany::One(fields)) => fields
            .split(',')
            .map(|field| field.trim().to_owned())
            .filter(|field| !field.is_empty())
            .collect(),
    })
}

impl SearchRequest {
    /// Reads a request and checks it against the limits.
    ///
    /// # Errors
    /// If it is no request, or asks for more than the limits allow.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, SearchError> {
        let request: Self = serde_json::from_str(json)
            .map_err(|error| SearchError::invalid(format!("search request: {error}")))?;
        let window = request.start_offset.saturating_add(request.max_hits);
        if window > limits.max_hits {
            return Err(SearchError::new(
                crate::ErrorKind::Limit,
                format!(
                    "start_offset + max_hits is {window}, more than the limit of {}: ask for less, \
                     narrow the query by time, or raise the limit max_hits",
                    limits.max_hits
                ),
            ));
        }
        if let (Some(start), Some(end)) = (request.start_timestamp, request.end_timestamp)
            && start > end
        {
            return Err(SearchError::invalid(format!(
                "start_timestamp {start} is later than end_timestamp {end}"
            )));
        }
        Ok(request)
    }

    /// How many hits each split must give: those returned and those skipped.
    pub(crate) fn window(&self) -> usize {
        usize::try_from(self.start_offset.saturating_add(self.max_hits)).unwrap_or(usize::MAX)
    }

    /// The aggregations, if any.
    ///
    /// # Errors
    /// If they are not Elasticsearch aggregations that the engine knows.
    pub(crate) fn aggregations(&self) -> Result<Option<Aggregations>, SearchError> {
        let Some(json) = &self.aggs else {
            return Ok(None);
        };
        if json.as_object().is_some_and(serde_json::Map::is_empty) || json.is_null() {
            return Ok(None);
        }
        let mut aggregations = Aggregations::deserialize(json)
            .map_err(|error| SearchError::invalid(format!("aggs: {error}")))?;
        keep_all_terms(&mut aggregations);
        Ok(Some(aggregations))
    }

    /// The time filter in nanoseconds: start included, end excluded.
    pub(crate) fn time_filter(&self) -> TimeFilter {
        TimeFilter {
            start_ns: self
                .start_timestamp
                .map(|seconds| seconds.saturating_mul(SECOND_NS)),
            end_ns: self
                .end_timestamp
                .map(|seconds| seconds.saturating_mul(SECOND_NS)),
        }
    }
}

/// So many terms does a split give to the merge unless the request says otherwise: with fewer
/// distinct values than this, counts are exact whatever the number of splits.
const TERMS_PER_SPLIT: u32 = 65_000;

fn keep_all_terms(aggregations: &mut Aggregations) {
    for aggregation in aggregations.values_mut() {
        if let AggregationVariants::Terms(terms) = &mut aggregation.agg {
            terms.segment_size.get_or_insert(TERMS_PER_SPLIT);
        }
        keep_all_terms(&mut aggregation.sub_aggregation);
    }
}

/// A range of time, each end optional: start included, end excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeFilter {
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

impl TimeFilter {
    /// Whether it lets everything through.
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

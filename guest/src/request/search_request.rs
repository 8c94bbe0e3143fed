//! A search request in JSON, with Quickwit's names: its texts are parsed once, into a [`Question`].

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::DEFAULT_MAX_HITS;
use super::aggregations::AskedAggregations;
use super::counting::{Counting, read_counting};
use super::queries::{GivenQuery, Language, parse_filters, read_filters, texts};
use super::question::{AnswerForm, Question};
use super::sort::parse_sort_by;
use crate::SearchError;
use crate::limits::{Limits, TimeFilter};
use crate::query::QueryNode;

/// A search request. Unknown keys are refused by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchRequest {
    /// The query string (`*` matches everything), or a query of Elasticsearch's query DSL.
    #[serde(default)]
    query: GivenQuery,
    /// The language of a query as text.
    #[serde(default)]
    language: Option<Language>,
    /// Fields for words that name none; the index config's default search fields if absent.
    #[serde(default, alias = "search_fields", deserialize_with = "one_or_many")]
    search_field: Vec<String>,
    /// Elasticsearch aggregations.
    #[serde(default, alias = "aggregations")]
    aggs: Option<Value>,
    /// Number of hits to return.
    #[serde(default = "default_max_hits")]
    max_hits: u64,
    /// Number of hits to skip before those.
    #[serde(default)]
    start_offset: u64,
    /// Fields, `_score` or `_doc`, comma-separated; `-` in front means ascending.
    #[serde(default, alias = "sort_by_field")]
    sort_by: Option<String>,
    /// Seconds since 1970, included.
    #[serde(default)]
    start_timestamp: Option<i64>,
    /// Seconds since 1970, excluded.
    #[serde(default)]
    end_timestamp: Option<i64>,
    /// Limit on counting hits.
    #[serde(default, alias = "count_all", deserialize_with = "read_counting")]
    track_total_hits: Counting,
    /// Fields whose matching passages hits show, besides the documents themselves.
    #[serde(default, deserialize_with = "one_or_many")]
    snippet_fields: Vec<String>,
    /// Additional queries that every hit must match, which limit what the caller may see. A text, or a list of texts.
    #[serde(default, deserialize_with = "read_filters")]
    forced_filter: Option<Vec<String>>,
    /// Explains what the search would read, and why, instead of searching.
    #[serde(default)]
    explain: bool,
    /// Lists the ids of all matching documents, split by split, for a deletion. Not part of the API.
    #[serde(default)]
    list_documents: bool,
    /// The name of the index, where its host does not name it. Not part of the API.
    #[serde(default)]
    index_name: Option<String>,
    /// The value of `now` in dates: milliseconds since 1970. The host supplies its clock's time where the request has
    /// none.
    #[serde(default)]
    pub(crate) now_ms: Option<i64>,
}

fn default_max_hits() -> u64 {
    DEFAULT_MAX_HITS
}

/// `"a,b"`, `["a", "b"]` or nothing.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = match Value::deserialize(deserializer)? {
        Value::String(fields) => {
            let fields = fields.split(',').map(str::trim);
            return Ok(fields
                .filter(|field| !field.is_empty())
                .map(str::to_owned)
                .collect());
        }
        json => texts(json),
    };
    texts.ok_or_else(|| {
        D::Error::custom("fields must be a text with commas between them, or a list of texts")
    })
}

impl SearchRequest {
    /// Parses the texts of a request. `forced_filter` replaces the request's own.
    ///
    /// # Errors
    /// If something cannot be parsed, contradicts itself, or exceeds the limits.
    pub(crate) fn read(
        self,
        forced_filter: Option<Vec<QueryNode>>,
        limits: &Limits,
        form: AnswerForm,
    ) -> Result<Question, SearchError> {
        self.check_times()?;
        let own_filter = self.forced_filter.as_ref();
        let own_filter = own_filter.map(|filters| parse_filters(filters, limits));
        let forced_filter = forced_filter.or(own_filter.transpose()?);
        let mut question = Question {
            search_field: self.search_field,
            max_hits: self.max_hits,
            start_offset: self.start_offset,
            sort: parse_sort_by(self.sort_by.as_deref().unwrap_or_default())?,
            time: TimeFilter::of_seconds(self.start_timestamp, self.end_timestamp),
            track_total_hits: self.track_total_hits,
            snippet_fields: self.snippet_fields,
            explain: self.explain,
            list_documents: self.list_documents,
            index_name: self.index_name,
            ..Question::of_all(forced_filter, limits.clone(), form)
        };
        question.check()?;
        let aggregations = self.aggs.map(|given| {
            refuse_global(&given)?;
            AskedAggregations::read(given, self.now_ms, question.is_filtered(), limits)
        });
        question.aggregations = aggregations.transpose()?.flatten();
        let wants_more =
            question.window() > 0 || question.aggregations.is_some() || question.explain;
        if question.list_documents && wants_more {
            return Err(SearchError::invalid(
                "list_documents goes with neither hits, aggregations nor explain: set max_hits to 0 and leave the \
                 others out",
            ));
        }
        let query = self.query.in_language(self.language)?;
        question.query = query.parse(self.now_ms, limits)?;
        Ok(question)
    }

    fn check_times(&self) -> Result<(), SearchError> {
        match (self.start_timestamp, self.end_timestamp) {
            (Some(start), Some(end)) if start > end => Err(SearchError::invalid(format!(
                "start_timestamp {start} is later than end_timestamp {end}"
            ))),
            _ => Ok(()),
        }
    }
}
/// Refuses aggregations over all documents: one search looks only at those that its query matches.
fn refuse_global(aggs: &serde_json::Value) -> Result<(), SearchError> {
    let mut all = aggs.as_object().into_iter().flatten();
    match all.find(|(_, agg)| agg.get("global").is_some()) {
        None => Ok(()),
        Some((name, _)) => Err(SearchError::invalid(format!(
            "aggs.{name}.global: global looks at documents that the query does not match, which aggregations here \
             never see: ask for those in a request of its own with the query *, or by Elasticsearch's API"
        ))),
    }
}

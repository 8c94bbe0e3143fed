//! The aggregations of a question, with the queries inside them.

use canter_aggregations::{Aggregations, Bounds, PlacedFilter, resolve_now};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::queries::GivenQuery;
use crate::SearchError;
use crate::limits::Limits;
use crate::query::QueryNode;

/// The aggregations of a question.
///
/// They travel as they were written, and are parsed once on arrival: a parsed aggregation holds functions and time
/// zone tables, which cannot be serialized.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Travelling", into = "Travelling")]
pub(crate) struct AskedAggregations {
    /// The request's JSON, with `now` replaced by times.
    given: Value,
    parsed: Aggregations,
    bounds: Bounds,
    /// The queries inside the aggregations, by slot.
    queries: Vec<QueryNode>,
}

/// The serialized form that travels between sessions.
#[derive(Serialize, Deserialize)]
struct Travelling {
    json: String,
    bounds: Bounds,
    queries: Vec<QueryNode>,
}

impl From<AskedAggregations> for Travelling {
    fn from(asked: AskedAggregations) -> Self {
        let AskedAggregations {
            given,
            parsed: _,
            bounds,
            queries,
        } = asked;
        Self {
            json: given.to_string(),
            bounds,
            queries,
        }
    }
}

impl TryFrom<Travelling> for AskedAggregations {
    type Error = String;

    fn try_from(arrived: Travelling) -> Result<Self, String> {
        let Travelling {
            json,
            bounds,
            queries,
        } = arrived;
        let given: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
        let parsed = parse(&given, bounds).map_err(|error| error.message)?;
        match parsed.filters().len() == queries.len() {
            true => Ok(Self {
                given,
                parsed,
                bounds,
                queries,
            }),
            false => Err("aggregations without their queries".to_owned()),
        }
    }
}

/// Parses aggregations.
fn parse(given: &Value, bounds: Bounds) -> Result<Aggregations, SearchError> {
    #[cfg(test)]
    super::parses::note(super::parses::Parsed::Aggregations);
    Ok(Aggregations::parse(given, bounds)?)
}

impl AskedAggregations {
    /// Parses the value of `aggs`; `None` if it is empty. `now_ms` is the time that `now` stands for.
    ///
    /// # Errors
    /// If they are not Elasticsearch aggregations that the engine knows, or a query inside them cannot be parsed.
    pub(crate) fn read(
        mut given: Value,
        now_ms: Option<i64>,
        is_filtered: bool,
        limits: &Limits,
    ) -> Result<Option<Self>, SearchError> {
        if given.is_null() || given.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(None);
        }
        if let Some(now_ms) = now_ms {
            resolve_now(&mut given, now_ms)?;
        }
        let bounds = Bounds {
            max_buckets: limits.max_buckets,
            max_bytes: limits.max_aggregation_bytes,
            is_filtered,
        };
        let parsed = parse(&given, bounds)?;
        let queries = parsed.filters().iter().map(|filter| {
            let query = GivenQuery::of(&filter.query);
            let query = query.and_then(|query| query.parse(now_ms, limits));
            let query = query.and_then(|query| refuse_ids(&query, is_filtered).map(|()| query));
            query.map_err(|error| error.at(&filter.path))
        });
        let queries = queries.collect::<Result<_, _>>()?;
        Ok(Some(Self {
            given,
            parsed,
            bounds,
            queries,
        }))
    }

    /// Returns the aggregations as the request has them.
    pub(crate) fn given(&self) -> &Value {
        &self.given
    }

    /// Returns the parsed aggregations.
    pub(crate) fn parsed(&self) -> &Aggregations {
        &self.parsed
    }

    /// Returns the queries inside the aggregations, by slot, each with its place in the request.
    pub(crate) fn queries(&self) -> impl Iterator<Item = (&PlacedFilter, &QueryNode)> {
        self.parsed.filters().iter().zip(&self.queries)
    }
}

/// Refuses a query that would reveal the position of visible documents among the others to a caller with a forced
/// filter.
///
/// # Errors
/// If it is such a query.
pub(crate) fn refuse_ids(query: &QueryNode, is_filtered: bool) -> Result<(), SearchError> {
    match is_filtered && query.asks_for_ids() {
        true => Err(SearchError::invalid(
            "a token with a filter cannot search by _id: search by a field of the documents",
        )),
        false => Ok(()),
    }
}

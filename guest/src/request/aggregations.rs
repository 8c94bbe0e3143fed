//! The aggregations of a question, with the queries that they are of.

use canter_aggregations::{Aggregations, Bounds, resolve_now};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::queries::GivenQuery;
use crate::SearchError;
use crate::limits::Limits;
use crate::query::QueryNode;

/// The aggregations of a question.
///
/// They travel as they were written, and are read once where they arrive: an aggregation that was read holds functions
/// and tables of time zones, which are no bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Travelling", into = "Travelling")]
pub(crate) struct AskedAggregations {
    /// As they stand in the request, but for the times that `now` stands for.
    given: Value,
    parsed: Aggregations,
    bounds: Bounds,
    /// The queries that they are of, by slot.
    queries: Vec<QueryNode>,
}

/// What goes from one session to another.
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

/// Reads aggregations.
fn parse(given: &Value, bounds: Bounds) -> Result<Aggregations, SearchError> {
    #[cfg(test)]
    super::parses::note(super::parses::Parsed::Aggregations);
    Ok(Aggregations::parse(given, bounds)?)
}

impl AskedAggregations {
    /// Reads the value of `aggs`; `None` if it asks for nothing. `now_ms` is the time that `now` stands for.
    ///
    /// # Errors
    /// If they are not Elasticsearch aggregations that the engine knows, or a query that they are of cannot be read.
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

    /// Returns them as the request has them.
    pub(crate) fn given(&self) -> &Value {
        &self.given
    }

    /// Returns them as they were read.
    pub(crate) fn parsed(&self) -> &Aggregations {
        &self.parsed
    }

    /// Returns the queries that they are of, by slot, each with its place in the request.
    pub(crate) fn queries(&self) -> impl Iterator<Item = (&str, &QueryNode)> {
        let places = self.parsed.filters().iter();
        let places = places.map(|filter| filter.path.as_str());
        places.zip(&self.queries)
    }
}

/// Refuses a query by which a caller who may see some documents only would learn where these lie among the others.
///
/// # Errors
/// If it is one.
pub(crate) fn refuse_ids(query: &QueryNode, is_filtered: bool) -> Result<(), SearchError> {
    match is_filtered && query.asks_for_ids() {
        true => Err(SearchError::invalid(
            "a token with a filter cannot search by _id: search by a field of the documents",
        )),
        false => Ok(()),
    }
}

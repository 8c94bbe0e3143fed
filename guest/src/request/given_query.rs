//! A query as a request gives it.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

use crate::SearchError;
use crate::limits::Limits;
use crate::query::{QueryNode, parse_dsl, parse_query};

/// A query string, or a query of Elasticsearch's query DSL.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum GivenQuery {
    /// `level:error`
    Text(String),
    /// `{"term": {"level": "error"}}`
    Dsl(serde_json::Map<String, Value>),
}

impl<'de> Deserialize<'de> for GivenQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        Self::of(&json).map_err(|error| D::Error::custom(error.message))
    }
}

impl Default for GivenQuery {
    fn default() -> Self {
        Self::Text("*".to_owned())
    }
}

impl GivenQuery {
    /// # Errors
    /// If it is neither a text nor an object.
    pub(crate) fn of(json: &Value) -> Result<Self, SearchError> {
        match json {
            Value::String(text) => Ok(Self::Text(text.clone())),
            Value::Object(clause) => Ok(Self::Dsl(clause.clone())),
            _ => Err(SearchError::invalid(
                "a query must be text, such as level:error, or a JSON object, such as {\"match_all\": {}}",
            )),
        }
    }

    /// Reads it; `now_ms` is the time that `now` stands for.
    ///
    /// # Errors
    /// If it is longer, deeper or has more clauses than the limits allow, or is in neither language.
    pub(crate) fn parse(
        &self,
        now_ms: Option<i64>,
        limits: &Limits,
    ) -> Result<QueryNode, SearchError> {
        match self {
            Self::Text(text) => parse_query(text, limits),
            Self::Dsl(clause) => parse_dsl(clause, now_ms, limits),
        }
    }
}

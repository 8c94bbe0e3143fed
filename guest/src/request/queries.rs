//! Queries in requests, and the forced filter: queries that a host adds to those of a caller.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use crate::SearchError;
use crate::limits::Limits;
use crate::query::{KqlOptions, QueryNode, parse_dsl, parse_kql, parse_query, parse_query_at};

/// A language of query strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    /// The query language of docs/query-language.md.
    #[default]
    #[serde(alias = "quickwit")]
    Canter,
    /// Kibana's query language.
    Kql,
}

/// A query string, or a query of Elasticsearch's query DSL.
#[derive(Debug)]
pub(crate) enum GivenQuery {
    /// `level:error`
    Text(String),
    /// `level: error and not host: web*`
    Kql(String),
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

    /// Returns the query in this language, if it is a text.
    ///
    /// # Errors
    /// If a language is named for a query of the DSL.
    pub(crate) fn in_language(self, language: Option<Language>) -> Result<Self, SearchError> {
        match (self, language) {
            (given, None) => Ok(given),
            (Self::Text(text) | Self::Kql(text), Some(Language::Kql)) => Ok(Self::Kql(text)),
            (Self::Text(text) | Self::Kql(text), Some(Language::Canter)) => Ok(Self::Text(text)),
            (Self::Dsl(_), Some(_)) => Err(SearchError::invalid(
                "language: this is for a query as text: leave it out, or write {\"kql\": {\"query\": \"…\"}}",
            )),
        }
    }

    /// Parses it; `now_ms` is the time that `now` stands for.
    ///
    /// # Errors
    /// If it is longer, deeper or has more clauses than the limits allow, or is valid in neither
    /// language.
    pub(crate) fn parse(
        &self,
        now_ms: Option<i64>,
        limits: &Limits,
    ) -> Result<QueryNode, SearchError> {
        #[cfg(test)]
        super::parses::note(super::parses::Parsed::Query);
        match self {
            Self::Text(text) => parse_query(text, limits),
            Self::Kql(text) => {
                let options = KqlOptions {
                    now_ms,
                    ..KqlOptions::default()
                };
                parse_kql("query", text, &options, limits)
            }
            Self::Dsl(clause) => parse_dsl(clause, now_ms, limits),
        }
    }
}

/// Parses forced filters, each separately: in a joined text, one could close the parentheses of another.
///
/// # Errors
/// As [`parse_filter`].
pub(crate) fn parse_filters(
    filters: &[String],
    limits: &Limits,
) -> Result<Vec<QueryNode>, SearchError> {
    let filters = filters.iter();
    filters.map(|filter| parse_filter(filter, limits)).collect()
}

/// Parses a forced filter.
///
/// # Errors
/// If it is not in the query language, or if a part of it names no field: the caller's `search_field`
/// would then decide what it means.
fn parse_filter(filter: &str, limits: &Limits) -> Result<QueryNode, SearchError> {
    #[cfg(test)]
    super::parses::note(super::parses::Parsed::Query);
    let ast = parse_query_at("forced_filter", filter, limits)?;
    if !ast.names_its_fields() {
        return Err(SearchError::invalid(
            "forced_filter: each of its terms needs a field in front, such as tenant_id:7",
        ));
    }
    Ok(ast)
}

/// Reads forced filters: a text, or a list of texts.
pub(crate) fn read_filters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let filters = match Value::deserialize(deserializer)? {
        Value::String(filter) => Some(vec![filter]),
        json => texts(json),
    };
    let filters = filters
        .ok_or_else(|| D::Error::custom("forced_filter: this must be text, or a list of texts"))?;
    Ok((!filters.is_empty()).then_some(filters))
}

/// Returns the texts of a list; `null` is an empty list.
pub(super) fn texts(json: Value) -> Option<Vec<String>> {
    match json {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => {
            let texts = list.into_iter().map(|text| match text {
                Value::String(text) => Some(text),
                _ => None,
            });
            texts.collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_filter_names_its_field() {
        for (filter, is_good) in [
            ("tenant:7", true),
            ("tenant:7 AND (level:error OR NOT level:info)", true),
            ("tenant: IN [7 8]", true),
            ("tenant:[7 TO 9] AND host:*", true),
            ("*", true),
            ("7", false),
            ("tenant:7 OR 8", false),
            ("tenant:(", false),
            ("", false),
        ] {
            let parsed = parse_filter(filter, &Limits::default());
            assert_eq!(parsed.is_ok(), is_good, "{filter}: {parsed:?}");
        }
    }
}

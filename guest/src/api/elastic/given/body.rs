//! The body of a request, read key by key, and the parts that bodies of several requests share.

use canter_aggregations::check_name;
use canter_names::read_json;
use serde_json::{Map, Value, json};

use super::params::{UrlParams, read_duration};
use crate::SearchError;

/// A body that is read key by key.
pub(in crate::api::elastic) struct Body {
    pub(in crate::api::elastic) map: Map<String, Value>,
}

pub(in crate::api::elastic) fn wrong(key: &str, what: impl std::fmt::Display) -> SearchError {
    SearchError::invalid(format!("{key}: {what}"))
}

/// Converts a number or a flag that may have been given as text.
pub(in crate::api::elastic) fn as_written(value: Value) -> Value {
    let text = value.as_str();
    let read = text.and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or(value)
}

impl Body {
    /// Parses a body; an empty one has no keys.
    ///
    /// # Errors
    /// If it is not a JSON object, or has a duplicate key.
    pub(in crate::api::elastic) fn parse(body: &[u8]) -> Result<Self, SearchError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self { map: Map::new() });
        }
        match read_json(body) {
            Ok(Value::Object(map)) => Ok(Self { map }),
            Ok(_) => Err(SearchError::invalid("the body must be a JSON object")),
            Err(error) => Err(SearchError::invalid(error.of("the body"))),
        }
    }

    /// Takes the value of a key; null counts as absent.
    pub(in crate::api::elastic) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(in crate::api::elastic) fn count(&mut self, key: &str) -> Result<Option<u64>, SearchError> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => as_written(value)
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong(key, "this must be a whole number, 0 or more")),
        }
    }

    /// Takes a time such as `10s`, in milliseconds.
    pub(in crate::api::elastic) fn duration(
        &mut self,
        key: &str,
    ) -> Result<Option<u64>, SearchError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => read_duration(key, &text).map(Some),
            Some(other) => read_duration(key, &other.to_string()).map(Some),
        }
    }

    /// Refuses a key.
    pub(in crate::api::elastic) fn refuse(
        &mut self,
        key: &str,
        why: &str,
    ) -> Result<(), SearchError> {
        self.only(key, &[], why)
    }

    /// Refuses a key unless its value has no effect.
    pub(in crate::api::elastic) fn only(
        &mut self,
        key: &str,
        allowed: &[Value],
        why: &str,
    ) -> Result<(), SearchError> {
        match self.take(key) {
            None => Ok(()),
            Some(value) if allowed.contains(&value) => Ok(()),
            Some(_) => Err(wrong(key, why)),
        }
    }

    /// Refuses the remaining keys.
    pub(in crate::api::elastic) fn finish(self) -> Result<(), SearchError> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(key) => Err(SearchError::invalid(format!(
                "the key {key:?} of the body is not known or not supported"
            ))),
        }
    }
}

/// Takes the query: from the body, or a query string from the URL, which replaces it; with Quickwit's `extra_filters`.
pub(in crate::api::elastic) fn query(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<Value, SearchError> {
    let of_body = body.take("query");
    let text = params.text("q").map(str::to_owned);
    let mut query_string = Map::new();
    for (name, key) in [
        ("df", "default_field"),
        ("default_operator", "default_operator"),
        ("analyze_wildcard", "analyze_wildcard"),
        ("lenient", "lenient"),
    ] {
        if let Some(value) = params.text(name) {
            query_string.insert(key.to_owned(), value.into());
        }
    }
    let query = match (of_body, text) {
        (_, None) if !query_string.is_empty() => {
            return Err(wrong(
                "q",
                "this is missing, and other parameters are about it",
            ));
        }
        (Some(query), None) => query,
        (_, Some(text)) if is_kql(params)? => {
            let mut kql = Map::new();
            for (name, value) in query_string {
                if name != "default_field" {
                    return Err(wrong(&name, "this is for another language than kql"));
                }
                kql.insert(name, value);
            }
            kql.insert("query".to_owned(), text.into());
            json!({ "kql": kql })
        }
        (_, Some(text)) => {
            query_string.insert("query".to_owned(), text.into());
            json!({"query_string": query_string})
        }
        (None, None) => json!({"match_all": {}}),
    };
    if !query.is_object() {
        return Err(wrong("query", "this must be a JSON object"));
    }
    let filters = params.names("extra_filters").unwrap_or_default();
    if filters.is_empty() {
        return Ok(query);
    }
    let filters = filters.iter();
    let filters: Vec<Value> = filters
        .map(|filter| json!({"query_string": {"query": filter}}))
        .collect();
    Ok(json!({"bool": {"must": [query], "filter": filters}}))
}

/// Takes the language of `q`; returns whether it is Kibana's.
fn is_kql(params: &mut UrlParams) -> Result<bool, SearchError> {
    match params.text("language") {
        None | Some("lucene") => Ok(false),
        Some("kql" | "kuery") => Ok(true),
        Some(other) => Err(wrong(
            "language",
            format!("{other:?} is not known; there are lucene and kql"),
        )),
    }
}

/// Checks the field names in a list.
pub(in crate::api::elastic) fn checked_names(
    key: &str,
    names: &[String],
) -> Result<(), SearchError> {
    names
        .iter()
        .try_for_each(|name| Ok(check_name(key, &name.replace('*', "x"))?))
}

//! The request beside the answer: the kind of each aggregation and its parameters.

use serde_json::Value;

static NOTHING: Value = Value::Null;

/// The aggregations of one level of a request, or null if unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a>(&'a Value);

/// One aggregation of a request; empty if unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct One<'a> {
    pub(super) kind: &'a str,
    pub(super) body: &'a Value,
    pub(super) inside: Asked<'a>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(aggregations: &'a Value) -> Self {
        Self(aggregations)
    }

    /// Returns the aggregation with this name.
    pub(super) fn of(self, name: &str) -> One<'a> {
        let found = self.0.get(name).and_then(Value::as_object);
        let inside = found.and_then(|found| found.get("aggs").or(found.get("aggregations")));
        let is_kind = |key: &&String| !["aggs", "aggregations", "meta"].contains(&key.as_str());
        let kind = found.and_then(|found| found.iter().find(|(key, _)| is_kind(key)));
        One {
            kind: kind.map_or("", |(kind, _)| kind),
            body: kind.map_or(&NOTHING, |(_, body)| body),
            inside: Asked(inside.unwrap_or(&NOTHING)),
        }
    }
}

impl<'a> One<'a> {
    /// Returns the names of the fields that hits are sorted by.
    pub(super) fn sort_fields(&self) -> Vec<&'a str> {
        let keys = match self.body.get("sort") {
            Some(Value::Array(keys)) => keys.as_slice(),
            Some(key) => std::slice::from_ref(key),
            None => &[],
        };
        let name = |key: &'a Value| match key {
            Value::String(name) => Some(name.as_str()),
            key => key.as_object()?.keys().next().map(String::as_str),
        };
        keys.iter().filter_map(name).collect()
    }

    /// Returns the name of a bucket without a key: the query of a filter, or the one for all others.
    pub(super) fn filter_at(&self, place: usize) -> String {
        match self.body.get("filters").and_then(Value::as_array) {
            Some(filters) => match filters.get(place).and_then(Value::as_str) {
                Some(query) => query.to_owned(),
                None => "all others".to_owned(),
            },
            None => format!("#{}", place + 1),
        }
    }
}

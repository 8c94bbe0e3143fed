//! Request as a tree and as JSON, and the order of its hits.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::query::Node;
use crate::random::aggregations::{self, Filters};
use crate::random::schema::Setup;
use crate::random::truth::table::{Scalar, Table};

/// Request as a tree; [`Request::json`] serializes it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) node: Node,
    pub(crate) max_hits: usize,
    pub(crate) start_offset: usize,
    pub(crate) sort_by: Vec<SortKey>,
    /// Minimum number of hits to count; `None` counts all.
    pub(crate) count_up_to: Option<u64>,
    /// Start of the time range in seconds since 1970, inclusive.
    pub(crate) start: Option<i64>,
    /// End of the time range in seconds since 1970, exclusive.
    pub(crate) end: Option<i64>,
    pub(crate) aggs: Map<String, Value>,
    /// Queries inside of aggregations.
    pub(crate) filters: Filters,
    /// Search field that the request names, for words without a field.
    pub(crate) search_field: Option<usize>,
    /// Variant of the DSL form; `None` for the query string.
    pub(crate) dsl: Option<u64>,
}

impl Request {
    /// Returns the kind of the request. Only one difference is shown for each signature.
    pub(crate) fn signature(&self, setup: &Setup) -> String {
        let mut parts = vec![self.node.signature(setup)];
        let kind = |field: usize| setup.fields[field].signature();
        parts.extend(
            self.sort_by
                .iter()
                .map(|key| format!("sort {}", kind(key.field))),
        );
        if self.start.or(self.end).is_some() {
            parts.push("time filter".to_owned());
        }
        if !self.aggs.is_empty() {
            parts.push(aggregations::signature(&self.aggs));
        }
        parts.join(", ")
    }

    /// Returns the request for the `composite` page that follows the page in an answer.
    pub(crate) fn next_page(&self, answer: &Value) -> Option<Request> {
        let (name, agg) = self.aggs.iter().next()?;
        let size = agg["composite"]["size"].as_u64()?;
        let found = &answer[name];
        let is_full = found["buckets"].as_array()?.len() as u64 == size;
        let after = found.get("after_key").filter(|_| is_full)?;
        let mut next = self.clone();
        next.aggs[name]["composite"]["after"] = after.clone();
        Some(next)
    }

    pub(crate) fn json(&self, setup: &Setup) -> Value {
        let paths: Vec<&str> = setup.fields.iter().map(|field| field.path).collect();
        let dsl = self.dsl.and_then(|variant| self.node.dsl(setup, variant));
        let query = dsl.unwrap_or_else(|| self.node.text(&paths).into());
        let mut request = json!({ "query": query, "max_hits": self.max_hits });
        if self.start_offset > 0 {
            request["start_offset"] = self.start_offset.into();
        }
        if !self.sort_by.is_empty() {
            let keys = self.sort_by.iter().map(|key| {
                format!(
                    "{}{}",
                    if key.is_ascending { "-" } else { "" },
                    paths[key.field]
                )
            });
            request["sort_by"] = keys.collect::<Vec<_>>().join(",").into();
        }
        if let Some(most) = self.count_up_to {
            request["track_total_hits"] = most.into();
        }
        if let Some(start) = self.start {
            request["start_timestamp"] = start.into();
        }
        if let Some(end) = self.end {
            request["end_timestamp"] = end.into();
        }
        if !self.aggs.is_empty() {
            request["aggs"] = Value::Object(self.aggs.clone());
        }
        if let Some(field) = self.search_field {
            request["search_field"] = paths[field].into();
        }
        request
    }
}

/// Sort key. Missing values come last in either direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortKey {
    pub(crate) field: usize,
    pub(crate) is_ascending: bool,
}

impl SortKey {
    /// Compares two values in the order of hits.
    fn compare(self, left: &Scalar, right: &Scalar) -> Ordering {
        let order = class(left)
            .cmp(&class(right))
            .then_with(|| left.compare(right).unwrap_or(Ordering::Equal));
        match self.is_ascending {
            true => order,
            false => order.reverse(),
        }
    }
}

impl Table {
    /// Returns the sort values of a document: of several values of a key, the one that places the document first.
    pub(crate) fn sort_values(&self, doc: usize, keys: &[SortKey]) -> Vec<Option<Scalar>> {
        keys.iter()
            .map(|key| {
                let values = self.column(doc, key.field).into_iter();
                values.min_by(|left, right| key.compare(left, right))
            })
            .collect()
    }

    /// Compares the sort values of two documents.
    pub(crate) fn compare_values(
        left: &[Option<Scalar>],
        right: &[Option<Scalar>],
        keys: &[SortKey],
    ) -> Ordering {
        for ((left, right), key) in left.iter().zip(right).zip(keys) {
            let order = match (left, right) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(left), Some(right)) => key.compare(left, right),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Returns the rank of a type: numbers come before booleans, then dates, then texts.
fn class(value: &Scalar) -> u8 {
    match value {
        Scalar::Int(_) | Scalar::Float(_) => 0,
        Scalar::Bool(_) => 1,
        Scalar::Date(_) => 2,
        Scalar::Text(_) | Scalar::Ip(_) | Scalar::Bytes(_) => 3,
    }
}

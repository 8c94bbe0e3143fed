//! Look-up of numbers in finished buckets, along validated paths.

use serde_json::Value;

use super::types::{BucketsPath, End, GapPolicy};
use crate::respond::{Bucket, Level, Outcome};

/// Returns a number of a bucket; `None` if it does not exist, such as in the first bucket of a
/// derivative; undefined for a gap.
pub(super) fn value_of(bucket: &Bucket<'_>, path: &BucketsPath, gaps: GapPolicy) -> Option<f64> {
    let value = raw(bucket, path)?;
    // A count is never missing.
    if path.steps.is_empty() && path.end == End::Count {
        return Some(value);
    }
    let is_empty = bucket.doc_count == 0;
    Some(match gaps {
        _ if value.is_finite() && !is_empty => value,
        GapPolicy::InsertZeros => 0.0,
        GapPolicy::KeepValues if value.is_finite() => value,
        GapPolicy::Skip | GapPolicy::KeepValues => f64::NAN,
    })
}

fn raw(bucket: &Bucket<'_>, path: &BucketsPath) -> Option<f64> {
    let mut bucket = bucket;
    for step in &path.steps {
        bucket = match (find(&bucket.inside, &step.name)?, &step.key) {
            (Outcome::Bucket(inside), None) => inside,
            (Outcome::Buckets(list), Some(key)) => {
                list.buckets.iter().find(|bucket| is_called(bucket, key))?
            }
            _ => return None,
        };
    }
    match &path.end {
        End::Count => Some(bucket.doc_count as f64),
        End::Key => key(bucket).and_then(Value::as_f64),
        End::BucketCount { name } => match find(&bucket.inside, name)? {
            Outcome::Buckets(list) => Some(list.buckets.len() as f64),
            _ => None,
        },
        End::Number { name, property } => match find(&bucket.inside, name)? {
            Outcome::Metric(value) => Some(number(value, property)),
            _ => None,
        },
    }
}

/// Returns whether a bucket has this key, as text.
fn is_called(bucket: &Bucket<'_>, wanted: &str) -> bool {
    let field = |wanted: &str| bucket.fields.iter().find(|(name, _)| *name == wanted);
    if bucket.name.as_deref() == Some(wanted) {
        return true;
    }
    match field("key_as_string").or_else(|| field("key")) {
        Some((_, Value::String(text))) => text == wanted,
        Some((_, key)) => serde_json::to_string(key).is_ok_and(|text| text == wanted),
        None => false,
    }
}

pub(super) fn key<'b>(bucket: &'b Bucket<'_>) -> Option<&'b Value> {
    let mut fields = bucket.fields.iter();
    let found = fields.find(|(name, _)| *name == "key");
    found.map(|(_, value)| value)
}

/// Finds a result by name in a level, which is sorted by name.
pub(super) fn find<'l, 'r>(level: &'l Level<'r>, name: &str) -> Option<&'l Outcome<'r>> {
    let place = level
        .binary_search_by(|(found, _)| (*found).cmp(name))
        .ok()?;
    level.get(place).map(|(_, outcome)| outcome)
}

/// Returns a number of a metric as shown in an answer; undefined if it is not shown.
fn number(metric: &Value, property: &str) -> f64 {
    let name = if property.is_empty() {
        "value"
    } else {
        property
    };
    let bounds = metric.get("std_deviation_bounds");
    let found = metric
        .get(name)
        .or_else(|| bounds?.get(name.strip_prefix("std_")?))
        .or_else(|| by_number(metric.get("values")?, name.parse().ok()?));
    found.and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Returns the value of a percentile, from named values or a list.
fn by_number(values: &Value, number: f64) -> Option<&Value> {
    let is_it = |key: Option<f64>| key.is_some_and(|key| key.total_cmp(&number).is_eq());
    match values {
        Value::Object(named) => {
            let mut named = named.iter();
            let found = named.find(|(name, _)| is_it(name.parse().ok()));
            found.map(|(_, value)| value)
        }
        Value::Array(list) => {
            let mut list = list.iter();
            let found = list.find(|entry| is_it(entry.get("key").and_then(Value::as_f64)));
            found.and_then(|entry| entry.get("value"))
        }
        _ => None,
    }
}

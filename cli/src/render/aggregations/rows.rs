//! Buckets as rows of a table: each with its nested ones, stacked or below it.

use serde_json::{Map, Value};

use super::asked::{Asked, One};
use super::figures::named_numbers;
use super::{MAX_STACK_KEYS, hits};

/// One bucket, ready to be shown.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) depth: usize,
    /// `None` for a row that is not a bucket.
    pub(super) num_docs: Option<u64>,
    pub(super) parts: Vec<u64>,
    pub(super) metrics: Vec<(String, String)>,
}

/// A bucket with its label.
pub(super) type Bucket<'a> = (String, &'a Map<String, Value>);

/// Returns the buckets of a result, if it has any: a list, or an object by key.
pub(super) fn buckets_of<'a>(result: &'a Value, one: One<'_>) -> Option<Vec<Bucket<'a>>> {
    let buckets: Vec<Bucket<'_>> = match result.get("buckets")? {
        Value::Array(buckets) => buckets
            .iter()
            .enumerate()
            .filter_map(|(place, bucket)| {
                let label = label_of(bucket).unwrap_or_else(|| one.filter_at(place));
                Some((label, bucket.as_object()?))
            })
            .collect(),
        Value::Object(buckets) => buckets
            .iter()
            .filter_map(|(key, bucket)| Some((key.clone(), bucket.as_object()?)))
            .collect(),
        _ => return None,
    };
    Some(without_midnight(buckets))
}

fn label_of(bucket: &Value) -> Option<String> {
    let key = bucket.get("key_as_string").or_else(|| bucket.get("key"))?;
    Some(match key {
        Value::Object(keys) => {
            let keys = keys.iter();
            let keys = keys.map(|(name, key)| format!("{name}: {}", key_text(key)));
            keys.collect::<Vec<_>>().join(", ")
        }
        key => key_text(key),
    })
}

/// Formats a key, or a part of one.
pub(super) fn key_text(key: &Value) -> String {
    match key {
        Value::String(key) => key.clone(),
        Value::Number(key) if key.is_f64() => key.as_f64().map_or(key.to_string(), plain_number),
        Value::Null => "-".to_owned(),
        key => key.to_string(),
    }
}

/// Formats a numeric key, which is a name and so has no thousands separators.
fn plain_number(key: f64) -> String {
    match key.fract() == 0.0 && key.abs() < 1e15 {
        true => format!("{key:.0}"),
        false => key.to_string(),
    }
}

/// Formats days without their `T00:00:00Z`, if all buckets are whole days.
fn without_midnight(buckets: Vec<Bucket<'_>>) -> Vec<Bucket<'_>> {
    let short = |label: &str| {
        let day = label
            .strip_suffix("T00:00:00Z")
            .or_else(|| label.strip_suffix("T00:00:00.000Z"))?;
        Some(day.to_owned())
    };
    match buckets.iter().all(|(label, _)| short(label).is_some()) {
        true => buckets
            .into_iter()
            .map(|(label, bucket)| (short(&label).unwrap_or(label), bucket))
            .collect(),
        false => buckets,
    }
}

pub(super) fn num_docs_of(bucket: &Map<String, Value>) -> u64 {
    bucket.get("doc_count").and_then(Value::as_u64).unwrap_or(0)
}

/// Returns the results of sub-aggregations in a bucket, which are beside its key and count.
fn sub_results(bucket: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    bucket
        .iter()
        .filter(|(name, value)| value.is_object() && *name != "key")
}

/// Returns whether a result has rows of its own instead of only numbers.
fn has_rows(result: &Value) -> bool {
    let mut keys = ["buckets", "doc_count"].iter();
    keys.any(|key| result.get(key).is_some()) || hits::hits_of(result).is_some()
}

pub(super) fn push_rows(
    rows: &mut Vec<Row>,
    buckets: &[Bucket<'_>],
    asked: Asked<'_>,
    depth: usize,
) {
    for (label, bucket) in buckets {
        rows.push(Row {
            label: label.clone(),
            depth,
            num_docs: Some(num_docs_of(bucket)),
            parts: Vec::new(),
            metrics: metrics_of(bucket, asked),
        });
        push_inner_rows(rows, bucket, asked, depth + 1);
    }
}

/// Adds the rows of nested results. With several results, each row names its own.
pub(super) fn push_inner_rows(
    rows: &mut Vec<Row>,
    bucket: &Map<String, Value>,
    asked: Asked<'_>,
    depth: usize,
) {
    let with_rows = sub_results(bucket).filter(|(_, result)| has_rows(result));
    let with_rows: Vec<(&String, &Value)> = with_rows.collect();
    let is_alone = with_rows.len() == 1;
    for (name, result) in with_rows {
        let one = asked.of(name);
        let first = rows.len();
        if let Some(inner) = buckets_of(result, one) {
            push_rows(rows, &inner, one.inside, depth);
        } else if let Some(hits) = hits::hits_of(result) {
            rows.extend(hits.iter().map(|hit| Row {
                label: hits::line(hit, one),
                depth,
                num_docs: None,
                parts: Vec::new(),
                metrics: Vec::new(),
            }));
        } else if let Some(bucket) = result.as_object() {
            push_rows(rows, &[(name.clone(), bucket)], one.inside, depth);
            continue;
        }
        if !is_alone {
            let own = rows.iter_mut().skip(first);
            for row in own.filter(|row| row.depth == depth) {
                row.label = format!("{name}: {}", row.label);
            }
        }
    }
}

/// Returns the name and text of each number that sub-aggregations computed for a bucket.
pub(super) fn metrics_of(bucket: &Map<String, Value>, asked: Asked<'_>) -> Vec<(String, String)> {
    sub_results(bucket)
        .filter(|(_, result)| !has_rows(result))
        .flat_map(|(name, result)| named_numbers(name, result, asked.of(name)))
        .collect()
}

/// The sub-aggregation whose buckets are stacked, and its keys, the largest first.
pub(super) struct Stack {
    name: String,
    pub(super) keys: Vec<String>,
}

impl Stack {
    pub(super) fn of(buckets: &[Bucket<'_>], asked: Asked<'_>) -> Option<Stack> {
        let mut name: Option<&String> = None;
        let mut totals: Vec<(String, u64)> = Vec::new();
        for (_, bucket) in buckets {
            for (sub_name, result) in sub_results(bucket) {
                if !has_rows(result) {
                    continue;
                }
                let inner = buckets_of(result, asked.of(sub_name))?;
                if *name.get_or_insert(sub_name) != sub_name {
                    return None;
                }
                for (key, inner_bucket) in inner {
                    if sub_results(inner_bucket).next().is_some() {
                        return None;
                    }
                    let num_docs = num_docs_of(inner_bucket);
                    match totals.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, total)) => *total += num_docs,
                        None => totals.push((key, num_docs)),
                    }
                }
            }
        }
        totals.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
        let keys: Vec<String> = totals.into_iter().map(|(key, _)| key).collect();
        (1..=MAX_STACK_KEYS).contains(&keys.len()).then_some(Stack {
            name: name?.clone(),
            keys,
        })
    }

    pub(super) fn rows(&self, buckets: &[Bucket<'_>], asked: Asked<'_>) -> Vec<Row> {
        let part = |bucket: &Map<String, Value>, key: &String| {
            let inner = buckets_of(bucket.get(&self.name)?, asked.of(&self.name))?;
            let found = inner.iter().find(|(label, _)| label == key)?;
            Some(num_docs_of(found.1))
        };
        buckets
            .iter()
            .map(|(label, bucket)| Row {
                label: label.clone(),
                depth: 0,
                num_docs: Some(num_docs_of(bucket)),
                parts: self
                    .keys
                    .iter()
                    .map(|key| part(bucket, key).unwrap_or(0))
                    .collect(),
                metrics: metrics_of(bucket, asked),
            })
            .collect()
    }
}

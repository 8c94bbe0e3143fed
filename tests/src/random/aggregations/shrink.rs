//! Shrinking of aggregations, and their signatures.

use serde_json::{Map, Value};

use super::scan::kind_of;

/// Parameters that aggregations require.
const NEEDED: [&str; 14] = [
    "field",
    "interval",
    "fixed_interval",
    "calendar_interval",
    "ranges",
    "filters",
    "terms",
    "sources",
    "values",
    "sort",
    "metrics",
    "value",
    "weight",
    "size",
];

/// Returns all variants of aggregations with one element less.
pub(in crate::random) fn smaller(aggs: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = Vec::new();
    for (name, agg) in aggs {
        if aggs.len() > 1 {
            all.push([(name.clone(), agg.clone())].into_iter().collect());
            let others = aggs.iter().filter(|(other, _)| *other != name);
            all.push(
                others
                    .map(|(name, agg)| (name.clone(), agg.clone()))
                    .collect(),
            );
        }
        if let Some(inside) = agg["aggs"].as_object() {
            all.push(inside.clone());
        }
        for less in smaller_one(agg) {
            let mut changed = aggs.clone();
            changed.insert(name.clone(), less);
            all.push(changed);
        }
    }
    all
}

fn smaller_one(agg: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    if let Some(inside) = agg["aggs"].as_object() {
        let mut without = agg.clone();
        if let Some(agg) = without.as_object_mut() {
            agg.remove("aggs");
        }
        all.push(without);
        for inside in smaller(inside) {
            let mut changed = agg.clone();
            changed["aggs"] = Value::Object(inside);
            all.push(changed);
        }
    }
    let (kind, body) = kind_of(agg);
    for (name, value) in body.as_object().into_iter().flatten() {
        let mut with = |value: Option<Value>| {
            let mut changed = agg.clone();
            if let Some(body) = changed[kind].as_object_mut() {
                match value {
                    Some(value) => body.insert(name.clone(), value),
                    None => body.remove(name),
                };
            }
            all.push(changed);
        };
        if !NEEDED.contains(&name.as_str()) {
            with(None);
        }
        if let Some(items) = value.as_array().filter(|items| items.len() > 1) {
            for place in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(place);
                with(Some(Value::Array(fewer)));
            }
        }
    }
    all
}

/// Returns the kinds of aggregations, including nested ones.
pub(in crate::random) fn signature(aggs: &Map<String, Value>) -> String {
    let of_one = |agg: &Value| {
        let (kind, body) = kind_of(agg);
        let keys = body
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str());
        let keys = keys
            .filter(|key| *key != "field")
            .collect::<Vec<_>>()
            .join("+");
        match agg["aggs"].as_object() {
            Some(inside) => format!("{kind}({keys}) of {}", signature(inside)),
            None => format!("{kind}({keys})"),
        }
    };
    aggs.values().map(of_one).collect::<Vec<_>>().join(" and ")
}

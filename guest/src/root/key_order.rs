//! Terms in the order of their keys, where the keys are numbers.
//!
//! tantivy orders the keys of a column of floating point numbers by whether they are whole before it compares them
//! (12, 7, then -2.5), and cuts the list by that order. So it is asked for all of them, and the order and the cut are
//! made here.

use std::cmp::Ordering;

use serde_json::Value;
use tantivy::aggregation::agg_req::{AggregationVariants, Aggregations};
use tantivy::aggregation::bucket::{Order, OrderTarget, TermsAggregation};

/// Terms that are returned unless the request says otherwise, as in Elasticsearch.
const DEFAULT_SIZE: usize = 10;

/// More terms than an answer can have; tantivy multiplies the number by ten.
const ALL: u32 = 100_000_000;

/// Lifts the bound of all terms that are ordered by key, so that nothing is cut too early.
pub(super) fn lift_sizes(aggregations: &mut Aggregations) {
    for aggregation in aggregations.values_mut() {
        if let AggregationVariants::Terms(terms) = &mut aggregation.agg
            && is_by_key(terms)
        {
            terms.size = Some(ALL);
        }
        lift_sizes(&mut aggregation.sub_aggregation);
    }
}

/// Puts the terms of a result that are ordered by key in order, and leaves as many as were asked for.
pub(super) fn order_by_key(result: &mut Value, asked: &Aggregations) {
    for (name, aggregation) in asked {
        let Some(result) = result.get_mut(name) else {
            continue;
        };
        if let AggregationVariants::Terms(terms) = &aggregation.agg
            && is_by_key(terms)
        {
            order_and_cut(result, terms);
        }
        match result.get_mut("buckets") {
            Some(Value::Array(buckets)) => buckets
                .iter_mut()
                .for_each(|bucket| order_by_key(bucket, &aggregation.sub_aggregation)),
            Some(Value::Object(buckets)) => buckets
                .values_mut()
                .for_each(|bucket| order_by_key(bucket, &aggregation.sub_aggregation)),
            // A single bucket, as that of `filter`, is the result itself.
            _ => order_by_key(result, &aggregation.sub_aggregation),
        }
    }
}

fn is_by_key(terms: &TermsAggregation) -> bool {
    let order = terms.order.as_ref();
    order.is_some_and(|order| order.target == OrderTarget::Key)
}

fn order_and_cut(result: &mut Value, terms: &TermsAggregation) {
    let is_descending = terms
        .order
        .as_ref()
        .is_some_and(|order| order.order == Order::Desc);
    let Some(Value::Array(buckets)) = result.get_mut("buckets") else {
        return;
    };
    // Keys that are text stand in order already, and a stable sort leaves them there.
    buckets.sort_by(|a, b| match is_descending {
        true => compare(&b["key"], &a["key"]),
        false => compare(&a["key"], &b["key"]),
    });
    let size = terms.size.map_or(DEFAULT_SIZE, |size| {
        usize::try_from(size).unwrap_or(usize::MAX)
    });
    let cut = buckets.split_off(size.min(buckets.len()));
    let num_cut: u64 = cut
        .iter()
        .filter_map(|bucket| bucket["doc_count"].as_u64())
        .sum();
    if let Some(other) = result.get_mut("sum_other_doc_count") {
        *other = Value::from(other.as_u64().unwrap_or(0).saturating_add(num_cut));
    }
}

/// Numbers by value; the rest as equals.
fn compare(a: &Value, b: &Value) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        },
    }
}

fn integer(value: &Value) -> Option<i128> {
    let signed = value.as_i64().map(i128::from);
    signed.or_else(|| value.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_in_order_and_what_is_cut_is_counted() {
        let check = |asked: Value, keys: &[Value], other: u64| {
            let asked: Aggregations = serde_json::from_value(asked).unwrap();
            let bucket = |key: Value| json!({"key": key, "doc_count": 2});
            let buckets = [
                json!(12),
                json!(7),
                json!(u64::MAX),
                json!(-2.5),
                json!(7.25),
            ];
            let buckets: Vec<Value> = buckets.into_iter().map(bucket).collect();
            let terms = json!({"buckets": buckets, "sum_other_doc_count": 1});
            let mut result = json!({"a": terms.clone(), "f": {"doc_count": 9, "a": terms}});
            order_by_key(&mut result, &asked);
            let found = match asked.contains_key("f") {
                true => &result["f"]["a"],
                false => &result["a"],
            };
            let shown: Vec<&Value> = found["buckets"]
                .as_array()
                .unwrap()
                .iter()
                .map(|b| &b["key"])
                .collect();
            assert_eq!(shown, keys.iter().collect::<Vec<_>>());
            assert_eq!(found["sum_other_doc_count"], other);
        };
        let terms = |order: &str, size: u32| json!({"a": {"terms": {"field": "x", "size": size, "order": {"_key": order}}}});
        let all = [
            json!(-2.5),
            json!(7),
            json!(7.25),
            json!(12),
            json!(u64::MAX),
        ];
        check(terms("asc", 10), &all, 1);
        check(terms("asc", 2), &all[..2], 7);
        check(terms("desc", 1), &all[4..], 9);
        let inside = json!({"f": {"filter": "*", "aggs": terms("asc", 3)}});
        check(inside, &all[..3], 5);
    }

    #[test]
    fn only_terms_by_key_are_asked_for_without_a_bound() {
        let asked = json!({
            "a": {"terms": {"field": "x", "size": 3, "order": {"_count": "asc"}}, "aggs": {
                "b": {"terms": {"field": "y", "order": {"_key": "asc"}}}}},
        });
        let mut asked: Aggregations = serde_json::from_value(asked).unwrap();
        lift_sizes(&mut asked);
        let AggregationVariants::Terms(outer) = &asked["a"].agg else {
            panic!()
        };
        let AggregationVariants::Terms(inner) = &asked["a"].sub_aggregation["b"].agg else {
            panic!()
        };
        assert_eq!((outer.size, inner.size), (Some(3), Some(ALL)));
    }
}

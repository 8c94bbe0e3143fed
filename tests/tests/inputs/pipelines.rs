//! Pipeline aggregations end to end: results that they add to the buckets of others, over splits
//! and leaves.

use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_tests::{TestIndex, run, run_divided};
use serde_json::{Value, json};

const FIELDS: &str = "
version: 0.8
index_id: sales
doc_mapping:
  field_mappings:
    - {name: ts, type: datetime, input_formats: [unix_timestamp], fast: true, fast_precision: seconds}
    - {name: shop, type: text, tokenizer: raw, fast: true}
    - {name: price, type: f64, fast: true}
    - {name: n, type: u64, fast: true}
  timestamp_field: ts
";
const DAY: u64 = 86_400;
/// 15 November 2023, in days since 1970.
const FIRST_DAY: u64 = 19_676;

/// Day, shop, price, n. There are no sales on the third day, and the last sale has no price.
const SALES: [(u64, &str, Option<f64>, u64); 8] = [
    (0, "a", Some(10.0), 1),
    (0, "b", Some(20.0), 1),
    (1, "a", Some(5.0), 2),
    (1, "a", Some(40.0), 3),
    (3, "b", Some(30.0), 6),
    (4, "c", Some(15.0), 6),
    (4, "a", Some(15.0), 7),
    (5, "c", None, 9),
];

fn index() -> TestIndex {
    let lines = SALES.iter().map(|(day, shop, price, n)| {
        let mut line = json!({"ts": (FIRST_DAY + day) * DAY, "shop": shop, "n": n});
        if let Some(price) = price {
            line["price"] = json!(price);
        }
        line.to_string()
    });
    TestIndex::build(FIELDS, &lines.collect::<Vec<_>>(), 3).unwrap()
}

/// Returns the answer, which must be the same from one leaf and from several.
#[track_caller]
fn answer(index: &TestIndex, aggs: &Value) -> Value {
    let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
    let searcher = |leaves| index.searcher(Arc::new(NativeEngine::new()), 0, leaves);
    let answer = run(&searcher(1).unwrap(), &request).unwrap().json["aggregations"].clone();
    let divided = run_divided(&searcher(3).unwrap(), &request).unwrap();
    assert_eq!(divided.json["aggregations"], answer);
    answer
}

#[track_caller]
fn refused(index: &TestIndex, aggs: &Value, place: &str, what: &str) {
    let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
    let message = match index.search(&request) {
        Ok(_) => panic!("{aggs} is let through"),
        Err(error) => format!("{error:#}"),
    };
    assert!(
        message.contains(place) && message.contains(what),
        "{place}: {message}"
    );
}

/// Returns daily buckets with the sum of prices and the aggregations `inside`.
fn days(inside: Value) -> Value {
    let mut aggs =
        json!({"price": {"sum": {"field": "price"}}, "avg": {"avg": {"field": "price"}}});
    for (name, aggregation) in inside.as_object().unwrap() {
        aggs[name] = aggregation.clone();
    }
    json!({"days": {"date_histogram": {"field": "ts", "fixed_interval": "1d"}, "aggs": aggs}})
}

/// Returns the value of a pipeline in each bucket, or "absent" where there is none.
fn column(list: &Value, name: &str) -> Vec<Value> {
    let buckets = list["buckets"].as_array().unwrap();
    let of_bucket = |bucket: &Value| match bucket.get(name) {
        None => json!("absent"),
        Some(found) => found["value"].clone(),
    };
    buckets.iter().map(of_bucket).collect()
}

fn keys(list: &Value) -> Vec<Value> {
    let buckets = list["buckets"].as_array().unwrap();
    buckets.iter().map(|bucket| bucket["key"].clone()).collect()
}

#[test]
fn rows_have_these_numbers() {
    let index = index();
    // Sums by day: 30, 45, none, 30, 30, 0 (of one document without a price).
    for (pipeline, expected) in [
        (
            json!({"derivative": {"buckets_path": "price"}}),
            json!(["absent", 15.0, null, null, 0.0, -30.0]),
        ),
        (
            json!({"derivative": {"buckets_path": "price", "gap_policy": "insert_zeros"}}),
            json!(["absent", 15.0, -45.0, 30.0, 0.0, -30.0]),
        ),
        (
            json!({"derivative": {"buckets_path": "price", "gap_policy": "keep_values"}}),
            json!(["absent", 15.0, -45.0, 30.0, 0.0, -30.0]),
        ),
        (
            json!({"derivative": {"buckets_path": "avg", "gap_policy": "keep_values"}}),
            json!(["absent", 7.5, null, null, -15.0, null]),
        ),
        (
            json!({"derivative": {"buckets_path": ["_count"]}}),
            json!(["absent", 0.0, -2.0, 1.0, 1.0, -1.0]),
        ),
        (
            json!({"cumulative_sum": {"buckets_path": "avg"}}),
            json!([15.0, 37.5, 37.5, 67.5, 82.5, 82.5]),
        ),
        (
            json!({"serial_diff": {"buckets_path": "price", "lag": 2}}),
            json!(["absent", "absent", "absent", -15.0, "absent", -30.0]),
        ),
        (
            json!({"moving_fn": {"buckets_path": "price", "window": 2,
                "script": "MovingFunctions.unweightedAvg(values)"}}),
            json!([null, 30.0, "absent", 37.5, 37.5, 30.0]),
        ),
        (
            json!({"moving_fn": {"buckets_path": "price", "window": 2, "shift": 1,
                "script": {"source": "MovingFunctions.sum(values) / params.k", "params": {"k": 2}}}}),
            json!([15.0, 37.5, "absent", 37.5, 30.0, 15.0]),
        ),
        (
            json!({"bucket_script": {"buckets_path": {"sum": "price", "docs": "_count"},
                "script": "params.sum / params.docs"}}),
            json!([15.0, 22.5, "absent", 30.0, 15.0, 0.0]),
        ),
        (
            json!({"bucket_script": {"buckets_path": "price", "gap_policy": "insert_zeros",
                "script": {"source": "1 / _value", "lang": "expression"}}}),
            json!([1.0 / 30.0, 1.0 / 45.0, null, 1.0 / 30.0, 1.0 / 30.0, null]),
        ),
        (
            json!({"bucket_script": {"buckets_path": {"x": "_key"}, "script": "params.x / 86400000 - 19676"}}),
            json!([0.0, 1.0, "absent", 3.0, 4.0, 5.0]),
        ),
        (
            json!({"normalize": {"buckets_path": "price", "method": "rescale_0_1"}}),
            json!([30.0 / 45.0, 1.0, "absent", 30.0 / 45.0, 30.0 / 45.0, 0.0]),
        ),
    ] {
        let answer = answer(&index, &days(json!({"x": pipeline})));
        assert_eq!(json!(column(&answer["days"], "x")), expected, "{pipeline}");
    }
}

#[test]
fn siblings_have_these_results() {
    let index = index();
    let day = |day: u64| format!("2023-11-{}T00:00:00Z", day + 15);
    for (pipeline, expected) in [
        (
            json!({"max_bucket": {"buckets_path": "days>price"}}),
            json!({"value": 45.0, "keys": [day(1)]}),
        ),
        (
            json!({"min_bucket": {"buckets_path": "days>avg"}}),
            json!({"value": 15.0, "keys": [day(0), day(4)]}),
        ),
        (
            json!({"min_bucket": {"buckets_path": "days._count"}}),
            json!({"value": 0.0, "keys": [day(2)]}),
        ),
        (
            json!({"avg_bucket": {"buckets_path": "days>price"}}),
            json!({"value": 27.0}),
        ),
        (
            json!({"avg_bucket": {"buckets_path": "days>price", "gap_policy": "insert_zeros"}}),
            json!({"value": 22.5}),
        ),
        (
            json!({"sum_bucket": {"buckets_path": "days>_count"}}),
            json!({"value": 8.0}),
        ),
        (
            json!({"stats_bucket": {"buckets_path": "days>price"}}),
            json!({"count": 5, "min": 0.0, "max": 45.0, "avg": 27.0, "sum": 135.0}),
        ),
        (
            json!({"percentiles_bucket": {"buckets_path": "days>price", "percents": [0, 50, 99]}}),
            json!({"values": {"0.0": 0.0, "50.0": 30.0, "99.0": 45.0}}),
        ),
        (
            json!({"percentiles_bucket": {"buckets_path": "days>price", "percents": [50], "keyed": false}}),
            json!({"values": [{"key": 50.0, "value": 30.0}]}),
        ),
        // Aggregates a pipeline inside.
        (
            json!({"sum_bucket": {"buckets_path": "days>d"}}),
            json!({"value": -15.0}),
        ),
    ] {
        let mut aggs = days(json!({"d": {"derivative": {"buckets_path": "price"}}}));
        aggs["x"] = pipeline.clone();
        assert_eq!(answer(&index, &aggs)["x"], expected, "{pipeline}");
    }
    let mut aggs = days(json!({}));
    aggs["x"] = json!({"extended_stats_bucket": {"buckets_path": "days>price", "sigma": 1}});
    let found = answer(&index, &aggs)["x"].clone();
    // 30, 45, 30, 30 and 0.
    assert_eq!(found["sum_of_squares"], json!(4725.0));
    assert_eq!(found["variance"], json!(216.0));
    assert_eq!(
        found["std_deviation_bounds"]["upper"],
        json!(27.0 + 216.0f64.sqrt())
    );
}

#[test]
fn siblings_of_nothing_are_those_of_elasticsearch() {
    let index = index();
    let mut aggs =
        json!({"none": {"filter": "shop:none", "aggs": {"shops": {"terms": {"field": "shop"}}}}});
    for kind in [
        "max_bucket",
        "avg_bucket",
        "sum_bucket",
        "stats_bucket",
        "percentiles_bucket",
    ] {
        aggs[kind] = json!({kind: {"buckets_path": "none>shops>_count"}});
    }
    aggs["percentiles_bucket"]["percentiles_bucket"]["percents"] = json!([50]);
    let answer = answer(&index, &aggs);
    assert_eq!(answer["max_bucket"], json!({"value": null, "keys": []}));
    assert_eq!(answer["avg_bucket"], json!({"value": null}));
    assert_eq!(answer["sum_bucket"], json!({"value": 0.0}));
    let stats = json!({"count": 0, "min": null, "max": null, "avg": null, "sum": 0.0});
    assert_eq!(answer["stats_bucket"], stats);
    assert_eq!(
        answer["percentiles_bucket"],
        json!({"values": {"50.0": null}})
    );
}

#[test]
fn a_unit_makes_a_derivative_comparable() {
    let aggs = days(json!({"x": {"derivative": {"buckets_path": "price", "unit": "12h"}}}));
    let answer = answer(&index(), &aggs);
    let second = &answer["days"]["buckets"][1]["x"];
    assert_eq!(*second, json!({"value": 15.0, "normalized_value": 7.5}));
}

#[test]
fn pipelines_use_pipelines_whatever_they_are_called() {
    let aggs = days(json!({
        "a": {"derivative": {"buckets_path": "b", "gap_policy": "keep_values"}},
        "b": {"derivative": {"buckets_path": "c", "gap_policy": "keep_values"}},
        "c": {"cumulative_sum": {"buckets_path": "price"}},
    }));
    let answer = answer(&index(), &aggs);
    let days = &answer["days"];
    assert_eq!(
        json!(column(days, "c")),
        json!([30.0, 75.0, 75.0, 105.0, 135.0, 135.0])
    );
    assert_eq!(
        json!(column(days, "b")),
        json!(["absent", 45.0, 0.0, 30.0, 30.0, 0.0])
    );
    assert_eq!(
        json!(column(days, "a")),
        json!(["absent", "absent", -45.0, 30.0, 0.0, -30.0])
    );
}

#[test]
fn a_row_is_taken_as_it_is_shown() {
    let row = |order: Value| {
        json!({"days": {
            "date_histogram": {"field": "ts", "fixed_interval": "1d", "order": order},
            "aggs": {"x": {"derivative": {"buckets_path": "_count"}}},
        }})
    };
    let index = index();
    let descending = answer(&index, &row(json!({"_key": "desc"})));
    assert_eq!(
        json!(column(&descending["days"], "x")),
        json!(["absent", 1.0, -1.0, -1.0, 2.0, 0.0])
    );
    // Days with equal numbers of documents keep the order of their keys: 2, then 3 and 5, then 0, 1
    // and 4.
    let by_count = answer(&index, &row(json!({"_count": "asc"})));
    let order: Vec<u64> = keys(&by_count["days"])
        .iter()
        .map(|key| key.as_u64().unwrap() / DAY / 1000 - FIRST_DAY)
        .collect();
    assert_eq!(order, [2, 3, 5, 0, 1, 4]);
    assert_eq!(
        json!(column(&by_count["days"], "x")),
        json!(["absent", 1.0, 0.0, 1.0, 0.0, 0.0])
    );
}

#[test]
fn keyed_histograms_keep_their_names() {
    let aggs = json!({
        "n": {
            "histogram": {"field": "n", "interval": 3, "keyed": true},
            "aggs": {"x": {"cumulative_sum": {"buckets_path": "_count"}}},
        },
        "most": {"max_bucket": {"buckets_path": "n>_count"}},
        "first": {"min_bucket": {"buckets_path": "n>_key"}},
    });
    let answer = answer(&index(), &aggs);
    let buckets = &answer["n"]["buckets"];
    assert_eq!(buckets["6.0"]["x"], json!({"value": 7.0}));
    assert_eq!(
        answer["most"],
        json!({"value": 3.0, "keys": ["0.0", "6.0"]})
    );
    assert_eq!(answer["first"], json!({"value": 0.0, "keys": ["0.0"]}));
}

#[test]
fn selectors_and_sorts_cut_what_is_shown_after_all_else() {
    let index = index();
    let found = answer(
        &index,
        &json!({
            "days": days(json!({
                "a_keep": {"bucket_selector": {"buckets_path": {"x": "price"}, "script": "params.x >= 30"}},
                "a_sort": {"bucket_sort": {"sort": [{"price": {"order": "asc"}}, {"_key": "desc"}], "size": 3}},
                "total": {"cumulative_sum": {"buckets_path": "price"}},
            }))["days"],
            "shown": {"sum_bucket": {"buckets_path": "days>_count"}},
        }),
    );
    let day = |day: u64| json!((FIRST_DAY + day) * DAY * 1000);
    assert_eq!(keys(&found["days"]), [day(4), day(3), day(0)]);
    assert_eq!(
        json!(column(&found["days"], "total")),
        json!([135.0, 105.0, 30.0])
    );
    assert_eq!(found["shown"], json!({"value": 5.0}));
}

#[test]
fn sorts_keep_ties_and_leave_out_what_has_no_number() {
    let index = index();
    let shops = |sort: Value| {
        let aggs = json!({"avg": {"avg": {"field": "price"}}, "most": {"max": {"field": "n"}}, "s": {"bucket_sort": sort}});
        let aggs =
            json!({"shops": {"terms": {"field": "shop", "order": {"_key": "asc"}}, "aggs": aggs}});
        keys(&answer(&index, &aggs)["shops"])
    };
    // a: 4 sales, 17.5; b: 2 sales, 25; c: 2 sales, 15.
    assert_eq!(shops(json!({"sort": "_count"})), ["b", "c", "a"]);
    assert_eq!(
        shops(json!({"sort": [{"_count": "asc"}, {"_key": {"order": "desc"}}]})),
        ["c", "b", "a"]
    );
    assert_eq!(
        shops(json!({"sort": {"avg": {"order": "desc"}}})),
        ["b", "a", "c"]
    );
    assert_eq!(
        shops(json!({"sort": {"avg": "desc"}, "from": 1, "size": 1})),
        ["a"]
    );
    assert_eq!(shops(json!({"from": 1})), ["b", "c"]);
    assert_eq!(shops(json!({"from": 7})), Vec::<Value>::new());
    // The last day has no average, and the third day has no documents.
    let by_avg = days(json!({"s": {"bucket_sort": {"sort": "avg"}}}));
    let order = keys(&answer(&index, &by_avg)["days"]);
    assert_eq!(
        json!(order),
        json!([0, 4, 1, 3].map(|day: u64| (FIRST_DAY + day) * DAY * 1000))
    );
    let zeros = days(json!({"s": {"bucket_sort": {"sort": "avg", "gap_policy": "insert_zeros"}}}));
    let order = keys(&answer(&index, &zeros)["days"]);
    assert_eq!(
        json!(order),
        json!([2, 5, 0, 4, 1, 3].map(|day: u64| (FIRST_DAY + day) * DAY * 1000))
    );
}

#[test]
fn nested_levels_each_have_their_own() {
    let aggs = json!({"shops": {
        "terms": {"field": "shop", "order": {"_key": "asc"}},
        "aggs": {
            "days": {
                "date_histogram": {"field": "ts", "fixed_interval": "1d"},
                "aggs": {
                    "dear": {"filter": "price:>=20", "aggs": {"stats": {"stats": {"field": "price"}}}},
                    "d": {"bucket_script": {"buckets_path": {
                        "dear": "dear>_count", "all": "_count", "sum": "dear>stats.sum",
                    }, "script": "params.dear * 100 + params.all * 10 + params.sum"}},
                },
            },
            "best": {"max_bucket": {"buckets_path": "days>d"}},
            "num_days": {"bucket_script": {"buckets_path": {"n": "days._bucket_count", "best": "best"},
                "script": "params.n + params.best / 1000"}},
        },
    }});
    let answer = answer(&index(), &aggs);
    let shops = &answer["shops"];
    // a: days 0 to 4, with 2 sales on the second day, one of them at 40; b: days 0 to 3; c: days 4
    // and 5.
    assert_eq!(json!(column(shops, "best")), json!([160.0, 140.0, 10.0]));
    assert_eq!(json!(column(shops, "num_days")), json!([5.16, 4.14, 2.01]));
}

#[test]
fn what_is_cut_does_not_count_against_the_limit() {
    let index = index();
    let request = |size: u64| {
        let inside = json!({
            "n": {"histogram": {"field": "n", "interval": 1}, "aggs": {
                "keep": {"bucket_selector": {"buckets_path": {"c": "_count"}, "script": "params.c > 0"}}}},
        });
        let aggs = json!({"shops": {"terms": {"field": "shop", "size": 3}, "aggs": inside}});
        let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
        let mut limits = canter_runtime::Limits::default();
        limits.guest.insert("max_buckets".to_owned(), size.into());
        let searcher = index.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(searcher.search(&request, &limits))
    };
    // 3 shops; a: 4 of 7 buckets, b: 2 of 6, c: 2 of 4. The row of a is the longest.
    assert!(request(13).is_ok());
    for too_few in [12, 9] {
        assert!(
            request(too_few)
                .unwrap_err()
                .message
                .contains("more buckets")
        );
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let index = index();
    let inside = |pipeline: Value| days(json!({"x": pipeline}));
    let path = |path: &str| inside(json!({"derivative": {"buckets_path": path}}));
    let place = "aggs.days.aggs.x.derivative.buckets_path";
    refused(&index, &path("nothing"), place, "there is no \"nothing\"");
    refused(&index, &path("price.avg"), place, "one of value");
    refused(
        &index,
        &path("nothing>price"),
        place,
        "there is no \"nothing\"",
    );
    refused(&index, &path("price['x']"), place, "is one of value");
    refused(
        &index,
        &path("x"),
        "aggs.days.aggs.x.derivative",
        "need each other",
    );
    let cycle = json!({"y": {"cumulative_sum": {"buckets_path": "z"}}, "z": {"derivative": {"buckets_path": "y"}}});
    refused(
        &index,
        &days(cycle),
        "aggs.days.aggs.y.cumulative_sum",
        "y, z",
    );
    for (pipeline, place, what) in [
        (
            json!({"derivative": {}}),
            "derivative.buckets_path",
            "is missing",
        ),
        (
            json!({"derivative": {"buckets_path": "price", "gap_policy": "no"}}),
            "derivative.gap_policy",
            "skip",
        ),
        (
            json!({"bucket_selector": {"buckets_path": "price", "script": "_value > 0", "format": "0"}}),
            "x.bucket_selector",
            "\"format\" is not known",
        ),
        (
            json!({"derivative": {"buckets_path": "price", "unit": "soon"}}),
            "derivative.unit",
            "fixed interval",
        ),
        (
            json!({"serial_diff": {"buckets_path": "price", "lag": 0}}),
            "serial_diff.lag",
            "1 or more",
        ),
        (
            json!({"moving_fn": {"buckets_path": "price", "script": "1"}}),
            "moving_fn.window",
            "missing",
        ),
        (
            json!({"moving_fn": {"buckets_path": "price", "script": "1", "window": 9999}}),
            "moving_fn.window",
            "limit",
        ),
        (
            json!({"moving_fn": {"buckets_path": "price", "window": 1, "script": "MovingFunctions.holtWinters(values)"}}),
            "moving_fn.script",
            "no \"holtWinters\"",
        ),
        (
            json!({"bucket_script": {"buckets_path": {"a": "price"}, "script": "params.b"}}),
            "bucket_script.script",
            "\"b\"",
        ),
        (
            json!({"bucket_script": {"buckets_path": {"a": "price"}, "script": "params.a > 1"}}),
            "bucket_script.script",
            "true or false",
        ),
        (
            json!({"bucket_selector": {"buckets_path": {"a": "price"}, "script": "params.a"}}),
            "bucket_selector.script",
            "a number",
        ),
        (
            json!({"bucket_script": {"buckets_path": {"a": "no"}, "script": "1"}}),
            "bucket_script.buckets_path.a",
            "\"no\"",
        ),
        (
            json!({"bucket_sort": {}}),
            "bucket_sort.sort",
            "one of sort, from and size",
        ),
        (
            json!({"bucket_sort": {"sort": [{"price": "up"}]}}),
            "bucket_sort.sort",
            "each entry",
        ),
        (
            json!({"normalize": {"buckets_path": "price", "method": "best"}}),
            "normalize.method",
            "rescale_0_1",
        ),
        (
            json!({"max_bucket": {"buckets_path": "price"}}),
            "max_bucket.buckets_path",
            "has buckets",
        ),
        (
            json!({"derivative": {"buckets_path": "price"}, "aggs": {"y": {"avg": {"field": "n"}}}}),
            "x.aggs",
            "no buckets",
        ),
    ] {
        refused(&index, &inside(pipeline), place, what);
    }
    let derivative = json!({"derivative": {"buckets_path": "_count"}});
    refused(
        &index,
        &json!({"x": {"bucket_sort": {"size": 1}}}),
        "aggs.x",
        "must be declared inside of another aggregation",
    );
    let terms = json!({"t": {"terms": {"field": "shop"}, "aggs": {"x": derivative.clone()}}});
    refused(&index, &terms, "aggs.t.aggs.x.derivative", "a histogram");
    let sparse = json!({"field": "n", "interval": 1, "min_doc_count": 1});
    let sparse = json!({"h": {"histogram": sparse, "aggs": {"x": derivative}}});
    refused(
        &index,
        &sparse,
        "aggs.h.aggs.x.derivative",
        "min_doc_count of 0",
    );
    let metric = json!({"m": {"avg": {"field": "n"}, "aggs": {"x": {"max_bucket": {"buckets_path": "y>z"}}}}});
    refused(
        &index,
        &metric,
        "aggs.m.aggs.x.max_bucket",
        "there is no \"y\"",
    );
    let mut siblings = days(json!({}));
    siblings["x"] = json!({"max_bucket": {"buckets_path": "days"}});
    refused(
        &index,
        &siblings,
        "aggs.x.max_bucket.buckets_path",
        ">_count",
    );
    let ordered = json!({"field": "shop", "order": {"x": "asc"}});
    let script = json!({"bucket_script": {"buckets_path": {"a": "_count"}, "script": "params.a"}});
    let ordered = json!({"t": {"terms": ordered, "aggs": {"x": script}}});
    refused(&index, &ordered, "aggs.t.terms.order", "\"x\"");
}

//! Minimal examples of defects that random aggregations found, kept because a seed may generate
//! other requests in future versions.

use canter_tests::TestIndex;
use serde_json::{Value, json};

const FIELDS: &str = "
version: 0.8
index_id: findings
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: f, type: f64, fast: true}
    - {name: n, type: i64, fast: true}
    - {name: word, type: text, tokenizer: raw, fast: true}
    - {name: ok, type: bool, fast: true}
    - {name: ip, type: ip, fast: true}
    - {name: at, type: datetime, input_formats: [rfc3339], fast: true, fast_precision: milliseconds}
";

/// Two indexes of the same documents: one with a split for each document, and one with a single
/// split.
struct Divided([TestIndex; 2]);

impl Divided {
    fn new(lines: &[Value]) -> Self {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        Self([1, 1_000].map(|num_docs| TestIndex::build(FIELDS, &lines, num_docs).unwrap()))
    }

    /// Returns the answer, which must be the same for both indexes.
    #[track_caller]
    fn answer(&self, aggs: &Value) -> Value {
        let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
        let of = |index: &TestIndex| index.search(&request).unwrap().json["aggregations"].clone();
        let [each, all] = [&self.0[0], &self.0[1]].map(of);
        assert_eq!(each.to_string(), all.to_string());
        all
    }
}

#[track_caller]
fn answer(lines: &[Value], aggs: &Value) -> Value {
    Divided::new(lines).answer(aggs)
}

fn keys(found: &Value) -> Vec<Value> {
    let buckets = found["buckets"].as_array().unwrap().iter();
    buckets.map(|bucket| bucket["key"].clone()).collect()
}

#[test]
fn what_stands_in_for_a_float_is_a_float_whichever_split_comes_first() {
    let aggs = json!({"t": {"terms": {"field": "f", "missing": 3}}});
    for lines in [
        [json!({"n": 1}), json!({"f": 3.0})],
        [json!({"f": 3.0}), json!({"n": 1})],
    ] {
        let found = answer(&lines, &aggs);
        assert_eq!(
            found["t"]["buckets"].to_string(),
            r#"[{"key":3.0,"doc_count":2}]"#
        );
    }
}

#[test]
fn terms_are_ordered_by_a_sum_in_a_filter_that_matches_nothing_as_by_0() {
    let lines = [
        json!({"word": "below", "ok": true, "n": -5}),
        json!({"word": "none", "ok": false, "n": 7}),
        json!({"word": "above", "ok": true, "n": 5}),
    ];
    for (metric, expected) in [
        ("sum", json!(["above", "none", "below"])),
        // A missing average is not a number and comes last.
        ("avg", json!(["above", "below", "none"])),
    ] {
        let aggs = json!({"t": {"terms": {"field": "word", "order": {"yes>m": "desc"}},
            "aggs": {"yes": {"filter": "ok:true", "aggs": {"m": {metric: {"field": "n"}}}}}}});
        assert_eq!(
            json!(keys(&answer(&lines, &aggs)["t"])),
            expected,
            "{metric}"
        );
    }
    let aggs = json!({"t": {"terms": {"field": "word", "order": [{"yes>_count": "asc"}, {"_key": "asc"}]},
        "aggs": {"yes": {"filter": "ok:true"}}}});
    let found = answer(&lines, &aggs);
    assert_eq!(keys(&found["t"]), ["none", "above", "below"]);
}

#[test]
fn a_page_goes_on_after_an_address() {
    let lines = ["10.0.0.9", "10.0.0.10", "9.0.0.1"].map(|ip| json!({"ip": ip}));
    let index = Divided::new(&lines);
    let page = |after: Value| {
        let aggs = json!({"c": {"composite": {
            "size": 1, "sources": [{"k": {"terms": {"field": "ip"}}}], "after": after}}});
        index.answer(&aggs)["c"]["after_key"].clone()
    };
    let mut after = page(Value::Null);
    for expected in ["9.0.0.1", "10.0.0.9", "10.0.0.10"] {
        assert_eq!(after["k"], expected);
        after = page(after);
    }
    assert_eq!(after, Value::Null);
}

#[test]
fn a_page_goes_on_after_zero() {
    let lines: Vec<Value> = (-3..4)
        .flat_map(|f| {
            [
                json!({"f": f64::from(f), "n": 1}),
                json!({"f": f64::from(f), "n": 2}),
            ]
        })
        .collect();
    let index = Divided::new(&lines);
    for order in ["asc", "desc"] {
        let page = |after: Value| {
            let aggs = json!({"c": {"composite": {"size": 1, "after": after, "sources": [
                {"f": {"terms": {"field": "f", "order": order}}}, {"n": {"terms": {"field": "n"}}}]}}});
            index.answer(&aggs)["c"]["after_key"].clone()
        };
        let mut after = page(Value::Null);
        for place in 0..14 {
            let f = if order == "asc" {
                place / 2 - 3
            } else {
                3 - place / 2
            };
            assert_eq!(
                after,
                json!({"f": f64::from(f), "n": place % 2 + 1}),
                "{order}"
            );
            after = page(after);
        }
    }
}

#[test]
fn numbers_to_include_are_compared_by_what_they_are_worth() {
    let lines = [json!({"f": 3.0, "n": 3}), json!({"f": 3.5, "n": 4})];
    for (field, include) in [("f", json!([3])), ("f", json!([3.0])), ("n", json!([3.0]))] {
        let aggs = json!({"t": {"terms": {"field": field, "include": include}}});
        let found = answer(&lines, &aggs);
        assert_eq!(found["t"]["buckets"][0]["doc_count"], 1, "{aggs}");
        assert_eq!(found["t"]["buckets"].as_array().unwrap().len(), 1, "{aggs}");
    }
}

#[test]
fn keys_of_a_field_without_a_type_do_not_show_which_numbers_were_beside_them() {
    let lines = [json!({"any": 3}), json!({"any": 3.5}), json!({"any": 4.0})];
    let found = answer(
        &lines,
        &json!({"t": {"terms": {"field": "any", "order": {"_key": "asc"}}}}),
    );
    assert_eq!(json!(keys(&found["t"])), json!([3, 3.5, 4]));
}

#[test]
fn what_stands_in_for_a_missing_value_keeps_to_the_hard_bounds() {
    let lines = [
        json!({"n": 1, "at": "2024-01-01T00:00:00Z"}),
        json!({"word": "none"}),
    ];
    let aggs = json!({
        "n": {"histogram": {"field": "n", "interval": 1, "missing": 9, "hard_bounds": {"min": 0, "max": 5}}},
        "at": {"date_histogram": {"field": "at", "fixed_interval": "1d", "missing": "2024-01-09T00:00:00Z",
            "hard_bounds": {"min": "2024-01-01T00:00:00Z", "max": "2024-01-05T00:00:00Z"}}}});
    let found = answer(&lines, &aggs);
    for name in ["n", "at"] {
        assert_eq!(
            found[name]["buckets"].as_array().unwrap().len(),
            1,
            "{found}"
        );
    }
}

#[test]
fn milliseconds_in_a_request_are_taken_exactly() {
    // The product of floating-point numbers would be 256 nanoseconds off.
    let ms = 1_709_337_600_001_i64;
    let lines = [
        json!({"at": "2024-03-02T00:00:00.001Z"}),
        json!({"at": "2024-03-02T00:00:00Z"}),
    ];
    let aggs =
        json!({"r": {"date_range": {"field": "at", "ranges": [{"from": ms, "to": ms + 1}]}}});
    let found = answer(&lines, &aggs);
    assert_eq!(found["r"]["buckets"][0]["doc_count"], 1, "{found}");
}

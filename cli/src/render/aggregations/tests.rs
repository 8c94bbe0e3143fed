//! Tests of formatted aggregations.

use super::*;
use serde_json::json;

fn check(results: Value, expect: &str) {
    check_asked(Value::Null, results, expect);
}

/// Checks the text of a request's answer, on a narrow screen without colours.
fn check_asked(request: Value, results: Value, expect: &str) {
    let text = aggregations(&results, &request, &Screen::plain(60, false), "");
    assert_eq!(text, expect.trim_start_matches('\n'));
}

#[test]
fn one_level_of_few_keys_is_stacked() {
    check(
        json!({"events": {"buckets": [
            {"key": 1, "key_as_string": "2016-04-13T00:00:00Z", "doc_count": 1000, "level": {"buckets": [
                {"key": "INFO", "doc_count": 900}, {"key": "ERROR", "doc_count": 100},
            ]}},
            {"key": 2, "key_as_string": "2016-04-14T00:00:00Z", "doc_count": 500, "level": {"buckets": [
                {"key": "INFO", "doc_count": 500},
            ]}},
        ]}}),
        "
events      documents                            INFO  ERROR
2016-04-13      1,000  ######################++   900    100
2016-04-14        500  ############               500      0
# INFO   + ERROR
",
    );
}

#[test]
fn buckets_have_bars_and_metrics() {
    check(
        json!({"status": {"buckets": [
            {"key": 200.0, "doc_count": 8, "least": {"value": 12.5}},
            {"key": 404.0, "doc_count": 4, "least": {"value": null}},
        ]}}),
        "
status  documents                                      least
200             8  ##################################   12.5
404             4  #################                       -
",
    );
}

#[test]
fn deeper_levels_are_indented() {
    check(
        json!({"a": {"buckets": [{"key": "x", "doc_count": 4, "b": {"buckets": [
            {"key": "y", "doc_count": 4, "c": {"buckets": [{"key": "z", "doc_count": 2}]}},
        ]}}]}}),
        "
a      documents
x              4  ##########################################
  y            4  ##########################################
    z          2  ##########################################
",
    );
}

#[test]
fn numbers_stand_alone() {
    check(
        json!({"total": {"value": 12345.0}, "size": {"count": 2, "min": 1.0, "max": 3.5}}),
        "
total       12,345
size.count       2
size.min         1
size.max       3.5
",
    );
}

#[test]
fn a_filter_is_one_bucket() {
    check(
        json!({"errors": {"doc_count": 25, "mean": {"value": 1.5}}}),
        "
errors  documents                                       mean
errors         25  ###################################   1.5
",
    );
}

#[test]
fn percentiles_are_marks_on_a_line() {
    check(
        json!({"tail": {"values": {"50.0": 10.0, "95.0": 60.0, "99.9": 110.0}}}),
        "
tail
  p50     10
  p95     60
  p99.9  110
  10 |-----------------------|----------------------| 110
     p50                     p95                    p99.9
",
    );
    let asked = json!({"tail": {"percentiles": {"field": "x", "keyed": false}}});
    check_asked(
        asked,
        json!({"tail": {"values": [{"key": 50.0, "value": 7.5}, {"key": 99.0, "value": 7.5}]}}),
        "
tail
  p50  7.5
  p99  7.5
",
    );
    check(
        json!({"tail": {"values": {"50.0": null}}}),
        "
tail
  p50  -
",
    );
}

#[test]
fn ranks_are_bars_of_percent() {
    check_asked(
        json!({"goal": {"percentile_ranks": {"field": "x", "values": [100, 500]}}}),
        json!({"goal": {"values": {"100.0": 25.0, "500.0": 100.0}}}),
        "
goal
  up to  percent
    100    25.00  #####
    500   100.00  ####################
",
    );
}

#[test]
fn a_page_has_a_column_for_each_source() {
    let asked =
        json!({"c": {"composite": {"sources": []}, "aggs": {"t": {"terms": {"field": "x"}}}}});
    check_asked(
        asked.clone(),
        json!({"c": {"after_key": {"day": 2, "v": "b"}, "buckets": [
            {"key": {"day": 1, "v": null}, "doc_count": 3, "m": {"value": 2.5}, "t": {"buckets": [
                {"key": "x", "doc_count": 2}]}},
            {"key": {"day": 2, "v": "b"}, "doc_count": 1500, "m": {"value": null}, "t": {"buckets": []}},
        ]}}),
        "
c
  day  v  documents    m
  1    -          3  2.5
    x             2
  2    b      1,500    -
  the next page is after {\"day\":2,\"v\":\"b\"}
",
    );
    check_asked(asked, json!({"c": {"buckets": []}}), "c: no buckets\n");
}

#[test]
fn filters_without_names_are_called_by_their_queries() {
    check_asked(
        json!({"f": {"filters": {"filters": ["level:error", "a:1"], "other_bucket": true}}}),
        json!({"f": {"buckets": [{"doc_count": 2}, {"doc_count": 1}, {"doc_count": 0}]}}),
        "
f            documents
level:error          2  ####################################
a:1                  1  ##################
all others           0
",
    );
}

#[test]
fn keyed_buckets_come_in_the_order_given() {
    check(
        json!({"h": {"buckets": {"-250.0": {"key": -250.0, "doc_count": 1}, "1750.0": {"key": 1750.0, "doc_count": 2},
            "13750.0": {"key": 13750.0, "doc_count": 1}}}}),
        "
h        documents
-250.0           1  ####################
1750.0           2  ########################################
13750.0          1  ####################
",
    );
}

#[test]
fn hits_are_rows() {
    let asked = json!({"top": {"top_hits": {"sort": [{"price": "desc"}, {"n": "asc"}]}}});
    check_asked(
        asked.clone(),
        json!({"top": {"hits": [
            {"sort": [7.5, 1], "docvalue_fields": {"name": ["a", "b"], "n": [1]}},
            {"sort": [null, 2], "docvalue_fields": {"name": [], "n": [2]}},
        ]}}),
        "
top
  price  name  n
  7.5    a, b  1
  -            2
",
    );
    check_asked(asked, json!({"top": {"hits": []}}), "top: no hits\n");
}

#[test]
fn metrics_of_the_first_documents_are_rows() {
    let top = json!({"top": [
        {"sort": ["2024-05-01T00:00:00Z"], "metrics": {"name": "a", "n": 7}},
        {"sort": ["2024-05-02T00:00:00Z"], "metrics": {"name": "b", "n": null}},
    ]});
    for sort in [
        json!("at"),
        json!({"at": "asc"}),
        json!([{"at": {"order": "asc"}}]),
    ] {
        check_asked(
            json!({"first": {"top_metrics": {"sort": sort}}}),
            json!({"first": top}),
            "
first
  at                    name  n
  2024-05-01T00:00:00Z  a     7
  2024-05-02T00:00:00Z  b     -
",
        );
    }
    check_asked(
        json!({"v": {"terms": {"field": "v"}, "aggs": {"first": {"top_metrics": {"sort": "at"}}}}}),
        json!({"v": {"buckets": [{"key": "x", "doc_count": 4, "first": {"top": [
            {"sort": [9], "metrics": {"name": "a"}}]}}]}}),
        "
v  documents
x          4  ##############################################
  at: 9, name: a
",
    );
}

#[test]
fn hits_inside_of_buckets_are_lines() {
    let inside = json!({"top": {"top_hits": {"sort": [{"price": "desc"}]}}});
    check_asked(
        json!({"v": {"terms": {"field": "v"}, "aggs": inside}}),
        json!({"v": {"buckets": [{"key": "x", "doc_count": 4, "top": {"hits": [
            {"sort": [9.0], "docvalue_fields": {"name": ["a"]}}]}}]}}),
        "
v  documents
x          4  ##############################################
  price: 9, name: a
",
    );
}

#[test]
fn extended_statistics_are_four_rows() {
    check(
        json!({"s": {"count": 4, "min": 1.0, "max": 5.0, "avg": 3.0, "sum": 12.0, "sum_of_squares": 44.0,
            "variance": 2.0, "std_deviation": 1.5, "std_deviation_sampling": 1.6,
            "std_deviation_bounds": {"upper": 6.0, "lower": 0.0, "upper_sampling": 6.2, "lower_sampling": -0.2}}}),
        "
s
  count          4  min           1  max               5
  avg            3  sum          12  sum of squares   44
  deviation    1.5  lower         0  upper             6
  of a sample  1.6  its lower  -0.2  its upper       6.2
",
    );
}

#[test]
fn dates_of_statistics_are_dates() {
    check(
        json!({"s": {"count": 2, "min": 0.0, "max": 1000.0, "min_as_string": "1970-01-01T00:00:00Z",
            "max_as_string": "1970-01-01T00:00:01Z"}, "m": {"value": 0.0, "value_as_string": "1970"}}),
        "
s.count                     2
s.min    1970-01-01T00:00:00Z
s.max    1970-01-01T00:00:01Z
m                        1970
",
    );
}

#[test]
fn what_is_inside_of_a_filter_inside_of_buckets_is_there() {
    check(
        json!({"v": {"buckets": [{"key": "x", "doc_count": 4,
            "failed": {"doc_count": 2, "mean": {"value": 1.5}},
            "rest": {"buckets": [{"key": "y", "doc_count": 1}]}}]}}),
        "
v          documents                                    mean
x                  4  ################################
  failed           2  ################################   1.5
  rest: y          1  ################
",
    );
}

#[test]
fn percentiles_inside_of_buckets_are_columns() {
    check_asked(
        json!({"v": {"terms": {}, "aggs": {"p": {"percentiles": {}}, "r": {"percentile_ranks": {}}}}}),
        json!({"v": {"buckets": [{"key": "x", "doc_count": 4, "p": {"values": {"99.9": 5.0}},
            "r": {"values": [{"key": 10.0, "value": 50.0}]}}]}}),
        "
v  documents                             p p99.9  r up to 10
x          4  #########################        5          50
",
    );
}

#[test]
fn unknown_shapes_are_json() {
    check(json!({"odd": {"what": []}}), "odd: {\n  \"what\": []\n}\n");
    check(json!({"none": {"buckets": []}}), "none: no buckets\n");
}

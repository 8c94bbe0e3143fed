//! What aggregations look like.

use super::*;
use serde_json::json;

fn check(results: Value, expect: &str) {
    let text = aggregations(&results, &Screen::plain(60, false), "");
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
fn unknown_shapes_are_json() {
    check(json!({"top": {"hits": []}}), "top: {\n  \"hits\": []\n}\n");
    check(json!({"none": {"buckets": []}}), "none: no buckets\n");
}

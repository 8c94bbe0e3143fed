//! Invalid requests, with the locations in their errors, and valid ones.

use serde_json::{Value, json};

use super::*;

const BOUNDS: Bounds = Bounds {
    max_buckets: 65_000,
    max_bytes: 500_000_000,
    is_filtered: false,
};

fn check(aggregations: &Value) -> Result<()> {
    Aggregations::parse(aggregations, BOUNDS).map(drop)
}

/// Checks that one aggregation is refused with a message that begins with this location.
#[track_caller]
fn refused(aggregation: Value, place: &str) {
    let error = match check(&json!({"a": aggregation})) {
        Err(error) => error,
        Ok(()) => panic!("{place}: {aggregation} is let through"),
    };
    let message = error.to_string();
    assert!(message.starts_with(place), "{place}: {message}");
}

#[test]
fn what_grafana_types_is_taken() {
    let deviation = json!({"extended_stats": {"field": "f"}});
    for aggregations in [
        json!({"a": {"terms": {"field": "f", "size": "5", "min_doc_count": "1"}}}),
        json!({"a": {"histogram": {"field": "f", "interval": "10", "min_doc_count": " 0 "}}}),
        json!({"a": {"percentiles": {"field": "f", "percents": ["25", "99.9"]}}}),
        json!({"": {"terms": {"field": "f"}}}),
        json!({"a": {"terms": {"field": "f", "order": {"1[std_deviation]": "asc"}},
                     "aggs": {"1": deviation}}}),
        json!({"a": {"histogram": {"field": "f", "interval": 1, "min_doc_count": 2,
                                   "extended_bounds": {"min": 0, "max": 5}}}}),
    ] {
        check(&aggregations).unwrap();
    }
    refused(
        json!({"terms": {"field": "f", "size": "5x"}}),
        "aggs.a.terms.size",
    );
    refused(
        json!({"terms": {"field": "f", "order": {"1[std_deviation": "asc"}}, "aggs": {"1": deviation}}),
        "aggs.a.terms.order",
    );
}

#[test]
fn numbers_have_bounds() {
    let huge = 1_000_000_000_000u64;
    for (aggregation, place) in [
        (
            json!({"top_hits": {"size": huge, "sort": [{"f": "asc"}]}}),
            "aggs.a.top_hits.size",
        ),
        (
            json!({"terms": {"field": "f", "size": huge}}),
            "aggs.a.terms.size",
        ),
        (
            json!({"terms": {"field": "f", "size": 0}}),
            "aggs.a.terms.size",
        ),
        (
            json!({"terms": {"field": "f", "shard_size": huge}}),
            "aggs.a.terms.shard_size",
        ),
        (
            json!({"terms": {"field": "f", "include": vec!["x"; 5000]}}),
            "aggs.a.terms.include",
        ),
        (
            json!({"terms": {"field": "f", "exclude": "x".repeat(5000)}}),
            "aggs.a.terms.exclude",
        ),
        (
            json!({"multi_terms": {"terms": [{"field": "f"}, {"field": "g"}], "size": u32::MAX}}),
            "aggs.a.multi_terms.size",
        ),
        (
            json!({"multi_terms": {"terms": vec![json!({"field": "f"}); 20]}}),
            "aggs.a.multi_terms.terms",
        ),
        (
            json!({"composite": {"size": huge, "sources": [{"s": {"terms": {"field": "f"}}}]}}),
            "aggs.a.composite.size",
        ),
        (
            json!({"percentiles": {"field": "f", "percents": vec![50; 5000]}}),
            "aggs.a.percentiles.percents",
        ),
        (
            json!({"percentiles": {"field": "f", "percents": [101]}}),
            "aggs.a.percentiles.percents",
        ),
        (
            json!({"cardinality": {"field": "f", "precision_threshold": huge}}),
            "aggs.a.cardinality.precision_threshold",
        ),
        (
            json!({"auto_date_histogram": {"field": "f", "buckets": 1_001}}),
            "aggs.a.auto_date_histogram.buckets",
        ),
        (
            json!({"auto_date_histogram": {"field": "f", "minimum_interval": "week"}}),
            "aggs.a.auto_date_histogram.minimum_interval",
        ),
        (
            json!({"top_metrics": {"sort": "f", "metrics": {"field": "f"}, "size": 101}}),
            "aggs.a.top_metrics.size",
        ),
        (
            json!({"top_metrics": {"sort": [{"f": "asc"}, {"g": "asc"}], "metrics": {"field": "f"}}}),
            "aggs.a.top_metrics.sort",
        ),
        (
            json!({"top_metrics": {"sort": "f", "metrics": [{"field": "f"}, {"field": "f"}]}}),
            "aggs.a.top_metrics.metrics",
        ),
        (
            json!({"string_stats": {"field": "f", "show_distribution": 1}}),
            "aggs.a.string_stats.show_distribution",
        ),
        (json!({"global": {"x": 1}}), "aggs.a.global"),
        (
            json!({"range": {"field": "f", "ranges": []}}),
            "aggs.a.range.ranges",
        ),
        (
            json!({"range": {"field": "f", "ranges": vec![json!({"to": 1}); 5000]}}),
            "aggs.a.range.ranges",
        ),
        (
            json!({"range": {"field": "f", "ranges": [{"from": 2, "to": 1}]}}),
            "aggs.a.range.ranges.0.to",
        ),
    ] {
        refused(aggregation, place);
    }
}

#[test]
fn a_histogram_is_bounded_before_its_buckets_are_made() {
    let near = 1u64 << 59;
    for (histogram, name) in [
        (json!({"interval": 0}), "interval"),
        (json!({"interval": -1}), "interval"),
        (json!({"interval": "inf"}), "interval"),
        (json!({"interval": 1e-300, "offset": 1}), "offset"),
        (
            json!({"interval": 1, "extended_bounds": {"min": 0, "max": near}}),
            "extended_bounds.max",
        ),
        (
            json!({"interval": 1, "extended_bounds": {"min": near, "max": near}}),
            "extended_bounds.min",
        ),
        (
            json!({"interval": 1, "extended_bounds": {"min": 0, "max": 65_001}}),
            "extended_bounds",
        ),
        (
            json!({"interval": 1, "extended_bounds": {"min": 9, "max": 1}}),
            "extended_bounds",
        ),
        (
            json!({"interval": 1e-9, "hard_bounds": {"min": 0, "max": 1e9}}),
            "hard_bounds.max",
        ),
        (
            json!({"interval": 1, "hard_bounds": {"min": 3, "max": 9}, "extended_bounds": {"min": 1, "max": 9}}),
            "extended_bounds",
        ),
        (json!({"interval": 1, "is_normalized_to_ns": true}), ""),
    ] {
        let mut histogram = histogram;
        histogram["field"] = "f".into();
        let place = format!(
            "aggs.a.histogram{}{name}",
            if name.is_empty() { ":" } else { "." }
        );
        refused(json!({ "histogram": histogram }), &place);
    }
}

#[test]
fn a_date_histogram_has_an_interval_that_is_one() {
    for (histogram, name) in [
        (json!({}), "fixed_interval"),
        (json!({"fixed_interval": "0s"}), "fixed_interval"),
        (
            json!({"fixed_interval": "1d", "interval": "1d"}),
            "interval",
        ),
        (
            json!({"calendar_interval": "day", "interval": "1d"}),
            "interval",
        ),
        (
            json!({"fixed_interval": "1d", "calendar_interval": "day"}),
            "fixed_interval",
        ),
        (
            json!({"fixed_interval": "9223372036854775807d"}),
            "fixed_interval",
        ),
        (
            json!({"fixed_interval": "99999999999999999999s"}),
            "fixed_interval",
        ),
        (json!({"fixed_interval": "1w"}), "fixed_interval"),
        (json!({"fixed_interval": "é"}), "fixed_interval"),
        (json!({"fixed_interval": "1d", "offset": "é"}), "offset"),
        (json!({"calendar_interval": "2d"}), "calendar_interval"),
        (
            json!({"calendar_interval": "month", "time_zone": "Mars/Olympus"}),
            "time_zone",
        ),
        (
            json!({"calendar_interval": "month", "format": "yyyy-QQQQQ"}),
            "format",
        ),
        (
            json!({"calendar_interval": "month", "order": {"x": "asc"}}),
            "order",
        ),
        (
            json!({"fixed_interval": "1s", "extended_bounds": {"min": 0, "max": 1_700_000_000_000u64}}),
            "extended_bounds",
        ),
        (
            json!({"fixed_interval": "1s", "extended_bounds": {"min": "2024-05-01T00:00:00Z", "max": "2025-05-01T00:00:00Z"}}),
            "extended_bounds",
        ),
        (
            json!({"fixed_interval": "1s", "extended_bounds": {"min": "yesterday", "max": 0}}),
            "extended_bounds.min",
        ),
    ] {
        let mut histogram = histogram;
        histogram["field"] = "f".into();
        refused(
            json!({ "date_histogram": histogram }),
            &format!("aggs.a.date_histogram.{name}"),
        );
    }
}

#[test]
fn what_is_no_aggregation_is_refused() {
    for (aggregation, place) in [
        (
            json!({"top_hits": {"size": 2, "sort": [{"f": "asc"}], "docvalue_fields": ["no*"]}}),
            "aggs.a.top_hits.docvalue_fields",
        ),
        (
            json!({"top_hits": {"sort": [{"f": "asc"}], "docvalue_fields": [{"field": "g", "format": "epoch_millis"}]}}),
            "aggs.a.top_hits.docvalue_fields: format is not supported",
        ),
        (
            json!({"top_hits": {"sort": [{"f": "asc"}], "_source": ["f"]}}),
            "aggs.a.top_hits._source",
        ),
        (json!({"rate": {"unit": "day"}}), "aggs.a.rate"),
        (
            json!({"date_histogram": {"field": "f", "fixed_interval": "30d"}, "aggs": {"r": {"rate": {"unit": "month"}}}}),
            "aggs.a.aggs.r.rate.unit",
        ),
        (
            json!({"date_histogram": {"field": "f", "fixed_interval": "1d"}, "aggs": {"r": {"rate": {"mode": "sum"}}}}),
            "aggs.a.aggs.r.rate.mode",
        ),
        (
            json!({"date_histogram": {"field": "f", "fixed_interval": "1d"}, "aggs": {"r": {"rate": {"unit": "2d"}}}}),
            "aggs.a.aggs.r.rate.unit",
        ),
        (
            json!({"composite": {"sources": [{"a": {"terms": {"field": "f"}}}]}, "aggs": {"r": {"rate": {}}}}),
            "aggs.a.aggs.r.rate",
        ),
        (
            json!({"composite": {"size": 2, "sources": [{"s": {"histogram": {"field": "f", "interval": 0}}}]}}),
            "aggs.a.composite.sources.0.s.histogram.interval",
        ),
        (
            json!({"composite": {"size": 2, "sources": [{"s": {"date_histogram": {"field": "f", "fixed_interval": "0d"}}}]}}),
            "aggs.a.composite.sources.0.s.date_histogram.fixed_interval",
        ),
        (
            json!({"composite": {"size": 2, "after": {"t": "x"}, "sources": [{"s": {"terms": {"field": "f"}}}]}}),
            "aggs.a.composite.after",
        ),
        (
            json!({"composite": {"size": 2, "after": {"s": []}, "sources": [{"s": {"terms": {"field": "f"}}}]}}),
            "aggs.a.composite.after",
        ),
        (json!({"filter": ["level:error"]}), "aggs.a.filter"),
        (
            json!({"filters": {"filters": {}}}),
            "aggs.a.filters.filters",
        ),
        (json!({"avg": {"field": "f", "script": "x"}}), "aggs.a.avg"),
        (
            json!({"date_histogram": {"field": "f", "fixed_interval": "1d", "time_zone": "Nowhere"}}),
            "aggs.a.date_histogram.time_zone",
        ),
        (
            json!({"avg": {"field": "f"}, "aggs": {"x": {"avg": {"field": "f"}}}}),
            "aggs.a.aggs",
        ),
        (
            json!({"terms": {"field": "f", "order": {"x": "asc"}}}),
            "aggs.a.terms.order",
        ),
        (
            json!({"terms": {"field": "f", "order": {"x": "asc"}}, "aggs": {"x": {"stats": {"field": "f"}}}}),
            "aggs.a.terms.order",
        ),
        (
            json!({"terms": {"field": "f", "order": {"x>y": "asc"}}, "aggs": {"x": {"terms": {"field": "f"}, "aggs": {"y": {"avg": {"field": "g"}}}}}}),
            "aggs.a.terms.order",
        ),
        (
            json!({"terms": {"field": "f", "include": "a("}}),
            "aggs.a.terms.include",
        ),
        (
            json!({"ip_range": {"field": "f", "ranges": [{"mask": "10.0.0.0/33"}]}}),
            "aggs.a.ip_range.ranges.0.mask",
        ),
        (
            json!({"date_range": {"field": "f", "ranges": [{"from": "x"}]}}),
            "aggs.a.date_range.ranges.0.from",
        ),
        (
            json!({"rare_terms": {"field": "f", "max_doc_count": 101}}),
            "aggs.a.rare_terms.max_doc_count",
        ),
        (
            json!({"weighted_avg": {"value": {"field": "f"}}}),
            "aggs.a.weighted_avg.weight",
        ),
        (
            json!({"percentile_ranks": {"field": "f"}}),
            "aggs.a.percentile_ranks.values",
        ),
        (json!({"avg": {"field": "a\0b"}}), "aggs.a.avg.field"),
        (json!({"median": {"field": "f"}}), "aggs.a.median"),
    ] {
        refused(aggregation, place);
    }
}

#[test]
fn aggregations_are_counted_and_nest_only_so_deep() {
    let mut nested = json!({"a": {"avg": {"field": "f"}}});
    for _ in 1..MAX_DEPTH {
        nested = json!({"a": {"terms": {"field": "f"}, "aggs": nested}});
    }
    check(&nested).unwrap();
    let error = check(&json!({"a": {"terms": {"field": "f"}, "aggs": nested}})).unwrap_err();
    assert!(matches!(error, Error::Limit(_)), "{error}");

    let many = |count: usize| -> Value {
        let names = (0..count).map(|n| (format!("a{n}"), json!({"avg": {"field": "f"}})));
        Value::Object(names.collect())
    };
    check(&many(MAX_AGGREGATIONS)).unwrap();
    let error = check(&many(MAX_AGGREGATIONS + 1)).unwrap_err();
    assert!(matches!(error, Error::Limit(_)), "{error}");
}

#[test]
fn what_is_right_is_let_through() {
    for aggregation in [
        json!({"terms": {"field": "f", "size": 65_000, "min_doc_count": 0, "order": {"x.avg": "desc"}},
            "aggs": {"x": {"stats": {"field": "g", "missing": "1.5"}}}}),
        // As clients ask for all.
        json!({"terms": {"field": "f", "size": 2_147_483_647, "shard_size": 2_147_483_647}}),
        json!({"terms": {"field": "f", "include": "a.*", "exclude": ["ab"], "missing": 3, "order": [{"_key": "asc"}]}}),
        json!({"histogram": {"field": "f", "interval": "0.5", "offset": 0.25, "keyed": true,
            "hard_bounds": {"min": -3, "max": 100}, "extended_bounds": {"min": 0, "max": 10}}}),
        json!({"date_histogram": {"field": "f", "fixed_interval": "1000ms", "offset": "+1h",
            "extended_bounds": {"min": "2024-05-01T00:00:00Z", "max": "2024-05-01T10:00:00Z"}}, "aggs": {}}),
        json!({"range": {"field": "f", "ranges": [{"to": -1.5, "key": "low"}, {"from": 2}]}}),
        json!({"filter": "a:b AND c:>3", "aggs": {"h": {"top_hits": {"size": 3, "from": 0, "sort": [{"f": "desc"}], "docvalue_fields": ["f"]}}}}),
        json!({"multi_terms": {"terms": [{"field": "f"}, {"field": "g", "missing": "none"}], "size": 3}}),
        json!({"composite": {"size": 5, "after": {"a": "x", "b": 10}, "sources": [
            {"a": {"terms": {"field": "f", "order": "desc", "missing_bucket": true}}},
            {"b": {"histogram": {"field": "g", "interval": 10}}}]}}),
        json!({"composite": {"size": 5, "sources": [{"a": {"date_histogram": {"field": "f", "calendar_interval": "month"}}}]}}),
        json!({"percentiles": {"field": "f", "percents": [0, 99.9, 100], "keyed": false}}),
        json!({"cardinality": {"field": "f", "precision_threshold": 3000}}),
        json!({"extended_stats": {"field": "f", "sigma": 2}}),
        json!({"date_histogram": {"field": "f", "calendar_interval": "1M", "time_zone": "America/New_York", "offset": "+6h",
            "format": "yyyy-MM", "order": {"_count": "desc"}, "missing": "2000-01"}}),
        json!({"date_histogram": {"field": "f", "fixed_interval": "250ms", "min_doc_count": 1}}),
        json!({"terms": {"field": "f", "order": [{"x>y": "asc"}, {"_key": "desc"}]},
            "aggs": {"x": {"filter": "a:b", "aggs": {"y": {"avg": {"field": "g"}}}}}}),
        json!({"date_range": {"field": "f", "ranges": [{"to": "2020-01-01"}, {"from": 1577836800000u64, "key": "since"}]}}),
        json!({"ip_range": {"field": "f", "ranges": [{"to": "10.0.0.5"}, {"mask": "10.0.0.0/25"}, {"mask": "::/0"}]}}),
        json!({"filters": {"filters": {"a": "x:1", "b": "x:2"}, "other_bucket_key": "rest"}}),
        json!({"terms": {"field": "f"}, "aggs": {"h": {"top_hits": {"sort": [{"g": {"order": "desc"}}]}}}}),
        json!({"top_hits": {"sort": [{"g": "asc"}], "docvalue_fields": ["f", {"field": "g"}], "_source": false}}),
        json!({"date_histogram": {"field": "f", "fixed_interval": "36h"}, "aggs": {"s": {"terms": {"field": "g"}, "aggs": {
            "r": {"rate": {"unit": "week"}}, "w": {"rate": {"field": "h", "missing": 1}}}}}}),
        json!({"date_histogram": {"field": "f", "calendar_interval": "1q"}, "aggs": {
            "d": {"rate": {"unit": "1d", "field": "h", "mode": "sum"}}, "y": {"rate": {"unit": "year"}}}}),
        json!({"composite": {"sources": [{"a": {"date_histogram": {"field": "f", "fixed_interval": "1d"}}}, {"b": {"terms": {"field": "g"}}}]},
            "aggs": {"r": {"rate": {"unit": "hour", "field": "h", "mode": "value_count"}}}}),
    ] {
        check(&json!({ "a": aggregation }))
            .unwrap_or_else(|error| panic!("{aggregation}: {error}"));
    }
}

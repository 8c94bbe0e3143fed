//! Results from heads, completed document by document: comparison with counting all documents.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::request::Bounds;

const BOUNDS: Bounds = Bounds {
    max_buckets: 65_000,
    max_bytes: 500_000_000,
    is_filtered: false,
};

const LEVELS: [&str; 3] = ["ERROR", "INFO", "WARN"];

const SECOND_NS: i64 = 1_000_000_000;

/// Document: its time, and the index of its level, if it has one.
type Document = (i64, Option<usize>);

/// Document counts by bucket (`None` outside of a histogram), then by level.
type Counts = BTreeMap<Option<i64>, (u64, BTreeMap<String, u64>)>;

fn rollup_of(documents: &[Document]) -> Rollup {
    let times: Vec<i64> = documents.iter().map(|(time, _)| *time).collect();
    let mut rollup = Rollup::over(&times).unwrap();
    let levels = LEVELS.map(str::to_owned).to_vec();
    rollup.add_field("level", levels, documents.iter().map(|(_, level)| *level));
    rollup
}

fn request_of(aggregations: &Value) -> Aggregations {
    Aggregations::parse(aggregations, BOUNDS).unwrap()
}

/// Computes an aggregation over these documents with a simple loop.
fn plain(aggregation: &Aggregation, documents: &[Document], counts: &mut Counts) {
    for (time_ns, level) in documents {
        let bucket = match &aggregation.kind {
            Kind::DateHistogram(histogram) => {
                let bounds = histogram.row.hard_bounds;
                if bounds.is_some_and(|(from, to)| *time_ns < from || to < *time_ns) {
                    continue;
                }
                Some(histogram.rounding.start_of(*time_ns))
            }
            _ => None,
        };
        let has_levels = bucket.is_none() || !aggregation.inside.is_empty();
        let (num_docs, levels) = counts.entry(bucket).or_default();
        if bucket.is_some() {
            *num_docs += 1;
        }
        if let Some(level) = level.filter(|_| has_levels) {
            *levels.entry(LEVELS[level].to_owned()).or_default() += 1;
        }
    }
}

fn levels_of(buckets: &Buckets, around: usize) -> BTreeMap<String, u64> {
    let count = |bucket| match buckets.key(bucket) {
        Some(Key::Text(level)) => (level.clone(), buckets.count(bucket)),
        other => panic!("{other:?} is no level"),
    };
    buckets.of(around).map(count).collect()
}

fn counts_of(aggregation: &Aggregation, node: &Node) -> Counts {
    let Node::Buckets(buckets) = node else {
        panic!("no buckets");
    };
    if !matches!(aggregation.kind, Kind::DateHistogram(_)) {
        let levels = levels_of(buckets, 0);
        return Counts::from_iter((!levels.is_empty()).then_some((None, (0, levels))));
    }
    let counted = buckets.of(0).map(|bucket| {
        let Some(Key::Date(start_ns)) = buckets.key(bucket) else {
            panic!("no date");
        };
        let levels = match buckets.inside.first() {
            Some(Node::Buckets(levels)) => levels_of(levels, bucket),
            _ => BTreeMap::new(),
        };
        (Some(*start_ns), (buckets.count(bucket), levels))
    });
    counted.collect()
}

fn requests() -> Value {
    let level = json!({"terms": {"field": "level"}});
    let by = |interval: &str, more: Value| {
        let mut histogram = json!({"field": "time", "fixed_interval": interval});
        let more = more.as_object().unwrap().clone();
        histogram.as_object_mut().unwrap().extend(more);
        histogram
    };
    let bounds = json!({"hard_bounds": {"min": -90_000, "max": 400_000}});
    json!({
        "a": {"date_histogram": by("1h", json!({})), "aggs": {"l": level}},
        "b": {"date_histogram": by("1d", json!({"offset": "7m"})), "aggs": {"l": level}},
        "c": {"date_histogram": by("7s", json!({}))},
        "d": {"date_histogram": by("10s", bounds), "aggs": {"l": level}},
        "e": level,
        "f": {"avg": {"field": "number"}},
        "g": {"date_histogram": {"field": "time", "calendar_interval": "day", "time_zone": "Asia/Kathmandu"}},
        "h": {"terms": {"field": "other"}},
    })
}

proptest! {
    #[test]
    fn heads_and_columns_together_count_every_document_once(
        mut documents in prop::collection::vec((-400_000i64..400_000, prop::option::of(0..3usize)), 1..300),
        unit_ns in prop::sample::select(vec![1_000_000i64, SECOND_NS, 60 * SECOND_NS]),
        cuts in prop::collection::btree_set(0u32..300, 0..7),
        unsure in prop::option::of((0u32..20, 0u32..20)),
    ) {
        documents.iter_mut().for_each(|(time, _)| *time *= unit_ns);
        documents.sort_unstable();
        let num_docs = u32::try_from(documents.len()).unwrap();
        // Ranges with gaps in between, as after a time filter and deletions.
        let cuts: Vec<u32> = cuts.into_iter().map(|cut| cut.min(num_docs)).collect();
        let docs = cuts.chunks_exact(2).map(|ends| ends[0]..ends[1]);
        let mut docs: Vec<Range<u32>> = docs.filter(|range| !range.is_empty()).collect();
        if cuts.is_empty() {
            docs.push(0..num_docs);
        }
        let asked_for = |ranges: &[Range<u32>]| -> Vec<Document> {
            let ranges = ranges.iter().cloned();
            ranges.flat_map(|range| documents[range.start as usize..range.end as usize].to_vec()).collect()
        };
        let request = request_of(&requests());
        let rollup = rollup_of(&documents);
        // Ends of a time filter that may lie further inside.
        let (before, behind) = unsure.unwrap_or_default();
        let sure = before..num_docs.saturating_sub(behind).max(before);
        let found = request.from_head(&rollup, "time", num_docs, &docs, &sure);
        prop_assert!(found.of(5).is_none() && found.of(7).is_none());
        for (place, aggregation) in request.list.iter().enumerate() {
            let Some(said) = found.of(place) else {
                continue;
            };
            let mut counts = counts_of(aggregation, &said.node);
            let within = |ranges: &[Range<u32>]| -> Vec<Range<u32>> {
                let ranges = ranges.iter();
                let ranges = ranges.map(|range| range.start.max(sure.start)..range.end.min(sure.end));
                ranges.filter(|range| !range.is_empty()).collect()
            };
            plain(aggregation, &asked_for(&within(&said.rest)), &mut counts);
            let mut expected = Counts::new();
            plain(aggregation, &asked_for(&within(&docs)), &mut expected);
            // Documents without a level leave an entry without any.
            counts.retain(|_, counted| counted != &Default::default());
            expected.retain(|_, counted| counted != &Default::default());
            prop_assert_eq!(counts, expected, "{}", aggregation.path);
        }
    }
}

/// Documents of three days, each with 24 rollup buckets.
fn three_days() -> Vec<Document> {
    let minute = |at: i64| (at * 60 * SECOND_NS, Some((at % 3) as usize));
    (0..3 * 24 * 60).map(minute).collect()
}

fn said(aggregations: &Value, docs: &[Range<u32>]) -> FromHead {
    let documents = three_days();
    let num_docs = u32::try_from(documents.len()).unwrap();
    let request = request_of(aggregations);
    let all = 0..num_docs;
    request.from_head(&rollup_of(&documents), "time", num_docs, docs, &all)
}

fn days(more: &Value) -> Value {
    let mut histogram = json!({"field": "time", "fixed_interval": "1d"});
    let more = more.as_object().unwrap().clone();
    histogram.as_object_mut().unwrap().extend(more);
    json!({"d": {"date_histogram": histogram, "aggs": {"l": {"terms": {"field": "level"}}}}})
}

#[test]
fn only_the_ends_of_a_time_filter_are_left_to_columns() {
    // From 10:17 on the first day to 20:03 on the last; rollup buckets are hours.
    let docs = 617..2 * 1440 + 1203;
    let found = said(&days(&json!({})), std::slice::from_ref(&docs));
    assert_eq!(found.of(0).unwrap().rest, [617..660, 4080..4083]);
    assert!(found.whole().is_none() && found.reads_columns(0));
}

#[test]
fn a_time_filter_that_ends_with_buckets_of_the_rollup_reads_nothing() {
    let found = said(&days(&json!({})), std::slice::from_ref(&(600..2 * 1440)));
    assert!(found.whole().is_some() && !found.reads_columns(0));
    // Neither does a filter that selects no document.
    assert!(said(&days(&json!({})), &[]).whole().is_some());
}

#[test]
fn borders_of_buckets_are_left_to_columns() {
    let found = said(
        &days(&json!({"offset": "7m"})),
        std::slice::from_ref(&(0..3 * 1440)),
    );
    let hour_of = |day: u32| day * 1440..day * 1440 + 60;
    assert_eq!(found.of(0).unwrap().rest, [0, 1, 2].map(hour_of));
}

#[test]
fn what_heads_do_not_say_leaves_the_others_as_they_are() {
    let mut request = days(&json!({}));
    request["a"] = json!({"avg": {"field": "number"}});
    let found = said(&request, std::slice::from_ref(&(0..3 * 1440)));
    assert!(found.reads_columns(0) && !found.reads_columns(1));
    assert!(found.whole().is_none());
    let request = request_of(&request);
    assert_eq!(request.fields(None, &found), ["number"]);
}

#[test]
fn a_rollup_of_other_documents_says_nothing() {
    let request = request_of(&days(&json!({})));
    let rollup = rollup_of(&three_days());
    let all = 0..9;
    let found = request.from_head(&rollup, "time", 9, std::slice::from_ref(&all), &all);
    assert!(found.whole().is_none() && found.reads_columns(0));
}

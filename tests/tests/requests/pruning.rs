//! Splits that a search skips: those outside the time filter, those without a required tag, and
//! those that cannot hold a better hit. `answers.rs` compares the answers.

use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{CATALOGUE_CONFIG, TestIndex, catalogue, hdfs_lines};
use serde_json::{Value, json};

fn profile(index: &TestIndex, mut request: Value) -> Value {
    request["profile"] = json!(true);
    let mut answer = index.search(&request).unwrap().json;
    answer["profile"].take()
}

#[test]
fn a_time_filter_leaves_out_splits() {
    let index = TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(8_000, 2).unwrap(), 1_000).unwrap();
    let first = index.manifest().unwrap().manifest.splits[0]
        .time_range
        .unwrap();
    let end = first.start_ns / 1_000_000_000 + 60;
    let profile = profile(&index, json!({"query": "body:block", "end_timestamp": end}));
    assert_eq!(profile["num_splits"], 8);
    assert_eq!(profile["num_splits_pruned_by_time"], 7);
    assert_eq!(profile["num_splits_searched"], 1);
}

#[test]
fn a_tag_leaves_out_splits_that_lack_it() {
    let index = TestIndex::build(CATALOGUE_CONFIG, &catalogue(4_000, 11), 400).unwrap();
    let splits = index.manifest().unwrap().manifest.splits;
    for (query, vendors) in [
        ("vendor:acme", &["acme"][..]),
        ("vendor: IN [acme dune]", &["acme", "dune"]),
        ("vendor:acme OR vendor:dune", &["acme", "dune"]),
        ("shoes AND vendor:ember", &["ember"]),
        ("vendor:nobody", &[]),
    ] {
        let without = splits
            .iter()
            .filter(|split| {
                !vendors
                    .iter()
                    .any(|vendor| split.tags["vendor"].contains(*vendor))
            })
            .count();
        assert!(without > 0, "{query} prunes nothing here");
        let profile = profile(&index, json!({"query": query, "sort_by": "price"}));
        assert_eq!(profile["num_splits_pruned_by_tags"], without, "{query}");
    }
    for query in [
        "-vendor:acme",
        "vendor:acme OR active:true",
        "vendor:ac*",
        "shoes",
    ] {
        let profile = profile(&index, json!({"query": query, "sort_by": "price"}));
        assert_eq!(profile["num_splits_pruned_by_tags"], 0, "{query}");
    }
}

#[test]
fn a_term_query_reads_the_newest_split_only() {
    let index = TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(16_000, 2).unwrap(), 2_000).unwrap();
    let newest = profile(
        &index,
        json!({"query": "severity_text:WARN", "max_hits": 10}),
    );
    assert_eq!(newest["num_splits_searched"], 1);
    assert_eq!(newest["num_splits_answered_from_head"], 7);
    let counted = profile(
        &index,
        json!({"query": "severity_text:WARN", "max_hits": 0}),
    );
    assert_eq!(
        (&counted["num_splits_searched"], &counted["num_requests"]),
        (&json!(0), &json!(1))
    );
    let all = profile(
        &index,
        json!({"query": "severity_text:WARN", "sort_by": "tenant_id"}),
    );
    assert_eq!(all["num_splits_searched"], 8);
}

#[test]
fn a_phrase_prefix_finds_all_that_its_last_word_may_become() {
    let lines: Vec<String> = (0..1_200)
        .map(|ord| {
            json!({"created": 1_700_000_000 + ord, "title": format!("spare part{ord:04}")})
                .to_string()
        })
        .collect();
    let index = TestIndex::build(CATALOGUE_CONFIG, &lines, 5_000).unwrap();
    for (query, expected) in [
        ("title:\"spare part\"*", 1_200),
        ("title:\"spare part00\"*", 100),
        ("title:\"part00 spar\"*", 0),
        ("title:\"missing part\"*", 0),
        ("NOT title:\"spare part00\"*", 1_100),
        ("title:\"spare part00\"* AND title:part0007", 1),
    ] {
        for sort_by in [None, Some("_score")] {
            let answer =
                index.search(&json!({"query": query, "sort_by": sort_by, "profile": true}));
            let answer = answer.unwrap().json;
            assert_eq!(answer["num_hits"], expected, "{query} by {sort_by:?}");
            assert_eq!(answer["profile"]["warmup_gaps"], 0, "{query}");
        }
    }
}

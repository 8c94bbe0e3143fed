//! 64 concurrent searches of one cold index: each range is fetched once, and shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_lab::{Attempt, LatencyModel, SimulatedStore};
use canter_runtime::cache::MemoryCache;
use canter_runtime::clock::{CpuTime, VirtualClock};
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{CoalesceOptions, HedgeOptions};
use canter_runtime::{Limits, SearchResponse, Searcher, SearcherBuilder};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::MANIFEST_OBJECT;
use canter_tests::{End, TestIndex, Truth, hdfs_lines};
use futures_util::future::join_all;
use serde_json::json;

const NUM_SEARCHES: usize = 64;

/// Returns different searches that read many of the same ranges.
fn truths(index: &TestIndex) -> Vec<Truth> {
    [
        json!({"query": "severity_text:ERROR", "max_hits": 10}),
        json!({"query": "body:exception", "max_hits": 20}),
        json!({"query": "body:\"received block\"", "max_hits": 5}),
        json!({"query": "body:excep*", "max_hits": 10}),
        json!({"query": "severity_text:WARN body:block", "max_hits": 10, "sort_by": "-tenant_id"}),
        json!({"query": "tenant_id:[10 TO 40]", "max_hits": 15, "sort_by": "tenant_id"}),
        json!({"query": "exception OR severity_text:WARN", "max_hits": 10, "sort_by": "_score"}),
        json!({"query": "severity_text:WARN", "max_hits": 0, "aggs": {
            "tenants": {"terms": {"field": "tenant_id", "size": 100}},
        }}),
    ]
    .into_iter()
    .map(|request| Truth::of(index, request).unwrap())
    .collect()
}

/// Index in a simulated S3 with a log of the requests to it.
struct Bed {
    truths: Vec<Truth>,
    store: Arc<SimulatedStore>,
    clock: Arc<VirtualClock>,
}

impl Bed {
    fn new() -> Self {
        let lines = hdfs_lines(12_000, 3).unwrap();
        let mut index = TestIndex::build(HDFS_LOGS_YAML, &lines, 2_500).unwrap();
        let mut manifest = index.manifest().unwrap();
        for split in manifest.manifest.splits.clone() {
            manifest.take_head(&split.id);
        }
        let manifest = manifest.to_bytes().unwrap();
        let clock = Arc::new(VirtualClock::new(CpuTime::Ignored));
        index
            .objects
            .insert(MANIFEST_OBJECT.into(), manifest.into());
        let model = LatencyModel::s3().with_seed(64);
        Self {
            truths: truths(&index),
            store: Arc::new(SimulatedStore::recording(
                Arc::new(index.fetcher()),
                model,
                clock.clone(),
            )),
            clock,
        }
    }

    /// Returns a host without hedges, which repeat requests on purpose. It does not fetch gaps
    /// between ranges either, because a later search could fetch a gap again that is already there.
    fn host(&self) -> SearcherBuilder {
        Searcher::builder()
            .engine(Arc::new(NativeEngine::new()))
            .fetcher(self.store.clone())
            .clock(self.clock.clone())
            .hedge(HedgeOptions::off())
            .coalesce(CoalesceOptions {
                max_gap_bytes: 0,
                ..CoalesceOptions::default()
            })
    }

    /// Runs all searches concurrently, checks their answers, and returns them.
    fn search_all(&self, searcher: &Searcher) -> Vec<SearchResponse> {
        let limits = limits();
        let searches = (0..NUM_SEARCHES).map(|ord| {
            let request = &self.truths[ord % self.truths.len()].request;
            searcher.search(request, &limits)
        });
        let answers = self.run(join_all(searches));
        let truths = self.truths.iter().cycle();
        for (answer, truth) in answers.iter().zip(truths) {
            assert_eq!(truth.judge(answer), Ok(End::Right), "{}", truth.request);
        }
        answers.into_iter().map(Result::unwrap).collect()
    }

    fn run<T>(&self, future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(self.clock.run(future))
    }
}

/// Returns the number of fetches of each byte of each split, as seen by the store.
fn count_fetched(attempts: &[Attempt]) -> BTreeMap<(&str, u64), u32> {
    let mut counts = BTreeMap::new();
    for attempt in attempts {
        // The manifest is read to its end by each search that does not share the read of another.
        let Some(len) = attempt.range.len else {
            assert_eq!(attempt.object, MANIFEST_OBJECT);
            continue;
        };
        for at in attempt.range.offset..attempt.range.offset + len {
            *counts.entry((&*attempt.object, at)).or_default() += 1;
        }
    }
    counts
}

/// Returns limits that let even a search of a small index be divided.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits
        .guest
        .insert("min_docs_per_leaf".to_owned(), 1.into());
    limits
}

fn check_fetched_once(max_leaves: u32) {
    let bed = Bed::new();
    let host = bed.host().max_parallel_leaves(max_leaves);
    let searcher = host
        .cache(Arc::new(MemoryCache::new(64 << 20)))
        .build()
        .unwrap();
    let answers = bed.search_all(&searcher);
    let attempts = bed.store.take_attempts();
    let counts = count_fetched(&attempts);
    let twice = counts.iter().find(|(_, count)| **count > 1);
    assert_eq!(twice, None, "{max_leaves} leaves: fetched more than once");
    assert!(counts.len() > 100_000, "there was something to fetch");
    // Each request is in the profile of one search, even if other searches wait for it.
    let profiles = answers.iter().map(|answer| &answer.profile);
    let requests: u64 = profiles.map(|profile| profile.num_requests).sum();
    assert_eq!(requests, attempts.len() as u64);
    // The fetched bytes serve all later searches.
    bed.search_all(&searcher);
    let attempts = bed.store.take_attempts();
    assert_eq!(
        count_fetched(&attempts).len(),
        0,
        "a warm search fetches no split"
    );
}

#[test]
fn sixty_four_searches_over_a_cold_index_fetch_each_byte_once() {
    check_fetched_once(1);
}

#[test]
fn divided_searches_over_a_cold_index_fetch_each_byte_once() {
    check_fetched_once(4);
}

/// Without a cache, data is only shared while it is being fetched: a search that needs a range
/// later fetches it again. No byte may be in flight twice at the same time.
#[test]
fn without_a_cache_no_byte_is_on_its_way_twice() {
    let bed = Bed::new();
    let searcher = bed.host().max_parallel_leaves(4).build().unwrap();
    let answers = bed.search_all(&searcher);
    let mut by_object: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
    for attempt in bed.store.take_attempts() {
        by_object
            .entry(attempt.object.clone())
            .or_default()
            .push(attempt);
    }
    let end = |attempt: &Attempt| {
        let offset = attempt.range.offset;
        attempt.range.len.map_or(u64::MAX, |len| offset + len)
    };
    for attempts in by_object.values() {
        for (ord, one) in attempts.iter().enumerate() {
            for other in &attempts[ord + 1..] {
                let same_bytes = one.range.offset < end(other) && other.range.offset < end(one);
                let same_time = one.asked_at < other.ended_at && other.asked_at < one.ended_at;
                assert!(!(same_bytes && same_time), "{one:?}\n{other:?}");
            }
        }
    }
    // Concurrent searches share requests: one by one, they would send several times as many.
    let sent: u64 = answers
        .iter()
        .map(|answer| answer.profile.num_requests)
        .sum();
    let needed = |truth: &Truth| {
        let searcher = bed.host().max_parallel_leaves(4).build().unwrap();
        let answer = bed.run(searcher.search(&truth.request, &limits()));
        answer.unwrap().profile.num_requests
    };
    let alone: u64 = bed.truths.iter().map(needed).sum::<u64>() * 8;
    assert!(sent * 2 < alone, "{sent} requests, and {alone} alone");
}

//! Waves with a store in memory: with any behaviour of store, cache and budget, each read gets its
//! bytes or an error. Also tests answers that need no wave.

use std::collections::BTreeMap;

use bytes::Bytes;
use canter_protocol::{
    Budget, ByteClass, CacheLookup, CacheStore, Demand, FetchErrorKind, HttpRequest, ReadRequest,
    Supply, SupplyResult,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use url::Url;

use crate::host::Index;
use crate::search::{Behind, Counts, Search};
use crate::{BlobCache, Cache, FolderCache, Host, Options};

#[path = "../../../../waves/cases/case.rs"]
mod cases;
mod memory_store;
mod wave_cases;
use memory_store::{Fault, MemoryBlobs, MemoryStore};

const CLASSES: [ByteClass; 5] = [
    ByteClass::Head,
    ByteClass::Dictionary,
    ByteClass::Postings,
    ByteClass::FastField,
    ByteClass::DocStore,
];

fn object(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at * 31 + at / 251 + seed) as u8)
        .collect()
}

fn store() -> MemoryStore {
    let objects = [("x/a", 300_000), ("x/b", 70_000), ("x/manifest", 900)];
    let objects = objects.into_iter().enumerate();
    MemoryStore {
        objects: objects
            .map(|(seed, (name, len))| (name.to_owned(), object(seed, len)))
            .collect(),
        ..MemoryStore::default()
    }
}

fn indexes() -> BTreeMap<String, Index> {
    let base = Url::parse("http://store.example/x").unwrap();
    BTreeMap::from([("logs".to_owned(), Index::new(base))])
}

/// Result of one demand.
struct Done {
    outcomes: Vec<SupplyResult>,
    counts: Counts,
    exhausted: Option<String>,
    is_timed_out: bool,
}

fn run<C: Cache>(
    store: &mut MemoryStore,
    behind: &mut Behind<C>,
    options: &Options,
    demands: Vec<Demand>,
) -> Done {
    let indexes = indexes();
    let started_us = store.now_us;
    let budget = options.budget;
    let mut search = Search::new(store, behind, options, &indexes, budget, started_us);
    let mut supplies: Vec<Supply> = Vec::new();
    for demand in demands {
        supplies = search.answer(demand);
        supplies.sort_by_key(|supply| supply.id);
    }
    let report = search.report();
    let done = Done {
        outcomes: supplies.into_iter().map(|supply| supply.outcome).collect(),
        counts: search.counts,
        exhausted: search.gate.exhausted().map(str::to_owned),
        is_timed_out: report.timed_out,
    };
    behind.settle();
    done
}

fn read(id: u64, object: &str, offset: u64, len: Option<u64>, class: ByteClass) -> ReadRequest {
    ReadRequest {
        id,
        object: format!("logs/{object}"),
        offset,
        len,
        class,
    }
}

fn reads(reads: Vec<ReadRequest>) -> Demand {
    Demand {
        reads,
        ..Demand::default()
    }
}

fn one(offset: u64, len: u64) -> Demand {
    let len = Some(len);
    reads(vec![read(0, "a", offset, len, ByteClass::Postings)])
}

fn blobs() -> Behind<Option<BlobCache<MemoryBlobs>>> {
    Behind::new(Some(BlobCache::new(MemoryBlobs::default())))
}

fn nothing() -> Behind<Option<FolderCache>> {
    Behind::new(None)
}

/// Returns whether a read has the right result: its bytes, or the error that the object ends
/// before.
fn is_right(store: &MemoryStore, read: &ReadRequest, outcome: &SupplyResult) -> bool {
    let name = read.object.replace("logs/", "x/");
    let object = &store.objects[&name];
    let len = object.len() as u64;
    let end = read.len.map_or(len, |len| read.offset + len);
    match outcome {
        SupplyResult::Bytes(bytes) => {
            end <= len && bytes == &object[read.offset as usize..end as usize]
        }
        SupplyResult::Failed { kind, message } => {
            end > len && *kind == FetchErrorKind::Truncated && message.contains("past_the_end")
        }
        SupplyResult::Miss => false,
    }
}

prop_compose! {
    /// Generates a read within its object, like all reads whose location comes from a manifest. A
    /// read beyond the end fails, and so do reads that share its request.
    fn any_read()(
        is_a in any::<bool>(),
        offset in 0u64..300_000,
        len in 1u64..90_000,
        class in 0usize..CLASSES.len(),
    ) -> (&'static str, u64, u64, ByteClass) {
        let (object, object_len) = if is_a { ("a", 300_000) } else { ("b", 70_000) };
        let offset = offset % object_len;
        (object, offset, len.min(object_len - offset), CLASSES[class])
    }
}

fn demand_of(asked: &[(&str, u64, u64, ByteClass)]) -> Demand {
    let asked = asked.iter().enumerate();
    reads(
        asked
            .map(|(id, (object, offset, len, class))| {
                read(id as u64, object, *offset, Some(*len), *class)
            })
            .collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_read_gets_its_bytes_whatever_is_cached(
        first in prop::collection::vec(any_read(), 1..12),
        second in prop::collection::vec(any_read(), 1..12),
        max_gap_bytes in 0u64..100_000,
        max_part_bytes in 1_000u64..200_000,
        max_concurrent_requests in 1usize..5,
        reads_blocks in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u16>()), 0..3),
    ) {
        let mut options = Options { max_part_bytes, max_concurrent_requests, reads_blocks, ..Options::default() };
        options.coalesce.max_gap_bytes = max_gap_bytes;
        let mut store = store();
        let mut behind = blobs();
        for asked in [&first, &second, &first] {
            let demand = demand_of(asked);
            let done = run(&mut store, &mut behind, &options, vec![demand.clone()]);
            for (read, outcome) in demand.reads.iter().zip(&done.outcomes) {
                prop_assert!(is_right(&store, read, outcome), "{read:?}");
            }
            prop_assert!(store.most_at_once <= max_concurrent_requests);
            // Damages some blocks before the next round.
            let cache = behind.cache.as_mut().unwrap();
            let blobs = cache.store_mut();
            for (which, at) in &damage {
                if blobs.0.is_empty() {
                    break;
                }
                let key = blobs.0.keys().nth(which.index(blobs.0.len())).unwrap().clone();
                let blob = blobs.0.get_mut(&key).unwrap();
                let at = usize::from(*at) % blob.len();
                blob[at] ^= 1;
            }
        }
    }

    #[test]
    fn a_budget_of_requests_is_never_exceeded(
        asked in prop::collection::vec(any_read(), 1..20),
        max_requests in 0u64..4,
        num_failures in 0usize..4,
    ) {
        let mut store = store();
        store.fault = Some(Fault::Unavailable(num_failures));
        let mut options = Options::default();
        options.budget.max_requests = Some(max_requests);
        options.coalesce.max_gap_bytes = 0;
        let demand = demand_of(&asked);
        let done = run(&mut store, &mut nothing(), &options, vec![demand.clone()]);
        prop_assert!(store.num_calls as u64 <= max_requests);
        prop_assert_eq!(done.counts.num_requests, store.num_calls as u64);
        for (read, outcome) in demand.reads.iter().zip(&done.outcomes) {
            let is_refused = matches!(
                outcome,
                SupplyResult::Failed { kind: FetchErrorKind::Budget, message } if message.contains("max_requests")
            );
            prop_assert!(is_refused || is_right(&store, read, outcome), "{outcome:?}");
            if is_refused {
                prop_assert_eq!(done.exhausted.as_deref(), Some("max_requests"));
            }
        }
    }
}

#[test]
fn what_was_read_once_is_not_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store();
    let options = Options::default();
    let demand = reads(vec![
        read(0, "a", 10, Some(5), ByteClass::Postings),
        read(1, "a", 200_000, Some(70_000), ByteClass::FastField),
        read(2, "b", 0, Some(4_000), ByteClass::Head),
    ]);
    for round in 0..3 {
        // Each round simulates a separate process.
        let cache = FolderCache::open(folder.path(), 64 << 20).unwrap();
        let mut behind = Behind::new(Some(cache));
        let before = store.num_calls;
        let done = run(&mut store, &mut behind, &options, vec![demand.clone()]);
        for (read, outcome) in demand.reads.iter().zip(&done.outcomes) {
            assert!(is_right(&store, read, outcome), "{read:?}");
        }
        assert_eq!(store.num_calls > before, round == 0);
        let hits = if round == 0 { 0 } else { 3 };
        assert_eq!(done.counts.num_cache_hits, hits);
    }
}

#[test]
fn neighbours_find_each_other_in_blocks() {
    let mut store = store();
    let mut behind = blobs();
    let options = Options::default();
    // The first answer reveals the length of the object.
    run(
        &mut store,
        &mut behind,
        &options,
        vec![one(0, 10), one(70_000, 10)],
    );
    let before = store.num_calls;
    let done = run(&mut store, &mut behind, &options, vec![one(66_000, 60_000)]);
    assert!(matches!(&done.outcomes[0], SupplyResult::Bytes(bytes) if bytes.len() == 60_000));
    assert_eq!(store.num_calls, before);
}

#[test]
fn faults_have_names_and_only_passing_ones_are_repeated() {
    let check = |fault: Fault, expect: Result<(), (FetchErrorKind, &str)>, num_calls: usize| {
        let mut store = store();
        store.fault = Some(fault);
        let demand = vec![one(5, 100)];
        let done = run(&mut store, &mut nothing(), &Options::default(), demand);
        let outcome = match &done.outcomes[0] {
            SupplyResult::Bytes(bytes) => {
                assert_eq!(bytes[..], store.objects["x/a"][5..105]);
                Ok(())
            }
            SupplyResult::Failed { kind, message } => Err((*kind, message.clone())),
            SupplyResult::Miss => panic!("a read is no lookup"),
        };
        match (&outcome, expect) {
            (Err((kind, message)), Err((expect, name))) => {
                assert_eq!(*kind, expect, "{fault:?}");
                assert!(message.starts_with("logs/a, bytes 5-104: "), "{message}");
                assert!(message.contains(name), "{message}");
            }
            _ => assert_eq!(outcome.is_ok(), expect.is_ok(), "{fault:?}"),
        }
        assert_eq!(store.num_calls, num_calls, "{fault:?}");
    };
    let unavailable = FetchErrorKind::Unavailable;
    let protocol = FetchErrorKind::Protocol;
    check(Fault::Unavailable(2), Ok(()), 3);
    check(
        Fault::Unavailable(9),
        Err((unavailable, "the server answered 503")),
        4,
    );
    check(Fault::ShortBody(1), Ok(()), 2);
    check(Fault::ShortBody(9), Err((unavailable, "short_body")), 4);
    check(Fault::LongBody, Err((protocol, "long_body")), 1);
    check(Fault::WholeObject, Err((protocol, "range_ignored")), 1);
    check(Fault::OtherRange, Err((protocol, "wrong_content_range")), 1);
    check(Fault::Moves(5), Ok(()), 6);
    check(Fault::Moves(99), Err((protocol, "too_many_redirects")), 6);
    check(
        Fault::MovesAway,
        Err((protocol, "redirected_to_other_host")),
        1,
    );
    check(
        Fault::Silence,
        Err((FetchErrorKind::Budget, "time was up")),
        1,
    );
}

#[test]
fn an_object_that_is_replaced_meanwhile_is_noticed() {
    let mut store = store();
    store.fault = Some(Fault::NewVersions);
    let demands = vec![one(0, 10), one(200_000, 10)];
    let done = run(&mut store, &mut nothing(), &Options::default(), demands);
    let SupplyResult::Failed { kind, message } = &done.outcomes[0] else {
        panic!("the object has changed");
    };
    assert_eq!(*kind, FetchErrorKind::Protocol);
    assert!(message.contains("etag_changed"), "{message}");
}

#[test]
fn a_name_that_leads_out_of_the_index_is_not_asked_for() {
    let mut store = store();
    store.objects.insert("other/a".to_owned(), object(0, 100));
    for name in ["../other/a", "splits/../../other/a", "/a", "b//a", "."] {
        let demand = reads(vec![read(0, name, 0, Some(10), ByteClass::Head)]);
        let done = run(
            &mut store,
            &mut nothing(),
            &Options::default(),
            vec![demand],
        );
        let SupplyResult::Failed { kind, message } = &done.outcomes[0] else {
            panic!("{name} was read");
        };
        assert_eq!(*kind, FetchErrorKind::Denied, "{message}");
        assert!(message.contains("leads out of the index"), "{message}");
    }
    assert_eq!(store.num_calls, 0);
}

#[test]
fn when_the_time_is_up_the_answer_says_so() {
    let mut store = store();
    store.fault = Some(Fault::Silence);
    let mut options = Options::default();
    options.budget.deadline_ms = Some(1000);
    let done = run(&mut store, &mut nothing(), &options, vec![one(0, 10)]);
    assert!(done.is_timed_out);
    assert_eq!(store.now_us, 850_000);
}

#[test]
fn waves_and_bytes_have_limits() {
    let check = |budget: Budget, expect: &'static str, num_calls: usize| {
        let mut store = store();
        let options = Options {
            budget,
            ..Options::default()
        };
        let demands = vec![one(0, 1000), one(200_000, 1000)];
        let done = run(&mut store, &mut nothing(), &options, demands);
        assert!(matches!(
            &done.outcomes[0],
            SupplyResult::Failed { kind: FetchErrorKind::Budget, message } if message.contains(expect)
        ));
        assert_eq!(done.exhausted.as_deref(), Some(expect));
        assert_eq!(store.num_calls, num_calls);
    };
    let waves = Budget {
        max_waves: Some(1),
        ..Budget::default()
    };
    check(waves, "max_waves", 1);
    let bytes = Budget {
        max_bytes: Some(1500),
        ..Budget::default()
    };
    check(bytes, "max_bytes", 1);
}

#[test]
fn a_manifest_is_asked_for_again_and_sent_only_if_it_has_changed() {
    let manifest = || reads(vec![read(0, "manifest", 0, None, ByteClass::Manifest)]);
    let mut store = store();
    let mut behind = blobs();
    let mut options = Options::default();
    let mut check = |options: &Options, store: &mut MemoryStore, calls: usize, unchanged: usize| {
        let done = run(store, &mut behind, options, vec![manifest()]);
        let held = &store.objects["x/manifest"];
        assert!(matches!(&done.outcomes[0], SupplyResult::Bytes(bytes) if bytes[..] == held[..]));
        assert_eq!((store.num_calls, store.num_unchanged), (calls, unchanged));
    };
    check(&options, &mut store, 1, 0);
    check(&options, &mut store, 2, 1);
    store
        .objects
        .insert("x/manifest".to_owned(), object(7, 901));
    check(&options, &mut store, 3, 1);
    // Within its time to live, the manifest is not requested at all.
    options.manifest_ttl_ms = 1000;
    check(&options, &mut store, 3, 1);
    store.now_us += 2_000_000;
    check(&options, &mut store, 4, 2);
    check(&options, &mut store, 4, 2);
}

#[test]
fn entries_of_the_guest_come_back_and_are_lost_when_damaged() {
    let mut store = store();
    let mut behind = blobs();
    let options = Options::default();
    let class = ByteClass::PartialResult;
    let key = || "logs/key".to_owned();
    let put = Demand {
        stores: vec![CacheStore {
            key: key(),
            bytes: Bytes::from_static(b"entry"),
            class,
        }],
        ..Demand::default()
    };
    let ask = || Demand {
        lookups: vec![CacheLookup {
            id: 3,
            key: key(),
            class,
        }],
        ..Demand::default()
    };
    let done = run(&mut store, &mut behind, &options, vec![ask()]);
    assert_eq!(done.outcomes, [SupplyResult::Miss]);
    run(&mut store, &mut behind, &options, vec![put]);
    let done = run(&mut store, &mut behind, &options, vec![ask()]);
    assert_eq!(
        done.outcomes,
        [SupplyResult::Bytes(Bytes::from_static(b"entry"))]
    );
    let cache = behind.cache.as_mut().unwrap();
    for blob in cache.store_mut().0.values_mut() {
        *blob.last_mut().unwrap() ^= 1;
    }
    let done = run(&mut store, &mut behind, &options, vec![ask()]);
    assert_eq!(done.outcomes, [SupplyResult::Miss]);
    assert_eq!(behind.cache.num_damaged(), 1);
}

/// The length of the rest of an object is unknown in advance, so it is one request that is not
/// merged with any range.
#[test]
fn the_rest_of_an_object_is_one_request() {
    let check = |mut behind: Behind<Option<BlobCache<MemoryBlobs>>>| {
        let mut store = store();
        let asked = vec![
            read(0, "a", 1_000, None, ByteClass::Postings),
            read(1, "a", 1_000, Some(50), ByteClass::Postings),
            read(2, "a", 5_000, None, ByteClass::FastField),
            read(3, "b", 0, None, ByteClass::Head),
        ];
        let demand = reads(asked);
        let done = run(
            &mut store,
            &mut behind,
            &Options::default(),
            vec![demand.clone()],
        );
        for (read, outcome) in demand.reads.iter().zip(&done.outcomes) {
            assert!(is_right(&store, read, outcome), "{read:?}: {outcome:?}");
        }
        assert_eq!(store.num_calls, 3);
    };
    check(blobs());
    check(Behind::new(None));
}

/// The guest refuses these settings, so there is no session that could answer.
#[test]
fn a_failure_without_a_session_has_the_form_of_the_api_that_was_asked() {
    let mut options = Options::default();
    let limits = &mut options.guest_limits;
    limits.insert("max_hits".to_owned(), "many".into());
    let logs = Url::parse("http://store.example/x").unwrap();
    let indexes = BTreeMap::from([("logs".to_owned(), logs)]);
    let mut host = Host::new(store(), None::<FolderCache>, options, indexes);
    let mut ask = |path: &str| -> (Value, String) {
        let answer = host.answer(&HttpRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: String::new(),
            body: Vec::new(),
        });
        assert_eq!(answer.response.status, 400, "{path}");
        let body = serde_json::from_slice(&answer.response.body).unwrap();
        (body, answer.error.unwrap().message)
    };
    let (body, message) = ask("/api/v1/logs/search");
    assert_eq!(body, json!({"message": message}));
    let (body, message) = ask("/logs/_search");
    assert_eq!(body["status"], 400);
    assert_eq!(body["error"]["type"], "illegal_argument_exception");
    assert_eq!(body["error"]["reason"], message);
}

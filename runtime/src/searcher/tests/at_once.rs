//! Concurrency in one wave: manifests, ranges and look-ups of a demand are under way simultaneously.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::ManifestOptions;
use crate::cache::CachedPiece;
use crate::clock::{Clock, CpuTime, VirtualClock};

const LATENCY: Duration = Duration::from_millis(100);
const NUM_MANIFESTS: usize = 10;

/// Store whose every object is `text`, and whose answers take [`LATENCY`].
struct Far {
    clock: VirtualClock,
    was_asked: Arc<AtomicBool>,
}

impl RangeFetcher for Far {
    fn fetch<'a>(
        &'a self,
        _: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.was_asked.store(true, Ordering::SeqCst);
        let landing = self.clock.sleep_until(self.clock.now() + LATENCY);
        let start = range.offset as usize;
        let end = range.len.map_or(4, |len| start + len as usize);
        async move {
            landing.await;
            let bytes = Bytes::from_static(&b"text"[start..end]);
            Ok(FetchedRange {
                etag: Some("\"1\"".to_owned()),
                ..FetchedRange::new(bytes)
            })
        }
        .boxed()
    }
}

/// Returns a demand for ten manifests and, if `has_range`, a range of a split.
fn demand(has_range: bool) -> Value {
    let manifests = (0..NUM_MANIFESTS).map(|ord| json!([format!("t{ord}/m"), 0, null, "manifest"]));
    let range = has_range.then(|| json!(["t0/split", 1, 2, "postings"]));
    json!([manifests.chain(range).collect::<Value>()])
}

fn far_searcher(clock: &VirtualClock, was_asked: &Arc<AtomicBool>) -> SearcherBuilder {
    let store = Far {
        clock: clock.clone(),
        was_asked: Arc::clone(was_asked),
    };
    searcher(store)
        .clock(Arc::new(clock.clone()))
        .hedge(crate::fetch::HedgeOptions::off())
}

#[tokio::test]
async fn manifests_and_ranges_of_a_demand_take_as_long_as_one_request() {
    let is_kept = [false, true];
    for (has_cache, has_range) in is_kept
        .into_iter()
        .flat_map(|one| is_kept.map(|two| (one, two)))
    {
        let clock = VirtualClock::new(CpuTime::Ignored);
        let mut builder = far_searcher(&clock, &Arc::default());
        if has_cache {
            builder = builder.cache(Arc::new(MemoryCache::new(1 << 20)));
        }
        let searcher = builder.build().unwrap();
        // The second search finds the manifests in the cache, if there is one, and revalidates them.
        for _ in 0..2 {
            let before = clock.now();
            let response = clock.run(search(&searcher, demand(has_range))).await;
            assert_eq!(clock.now() - before, LATENCY, "{has_cache} {has_range}");
            assert_eq!(response.profile.num_waves, 1);
            let arrived = response.json["arrived"].as_array().unwrap();
            assert_eq!(arrived.len(), NUM_MANIFESTS + usize::from(has_range));
            for supply in arrived {
                let expected = match supply[0].as_u64() {
                    Some(ord) if ord < NUM_MANIFESTS as u64 => "text",
                    _ => "ex",
                };
                assert_eq!(supply[1], expected);
            }
        }
    }
}

#[tokio::test]
async fn a_manifest_from_the_cache_and_one_from_the_store_answer_one_demand() {
    let clock = VirtualClock::new(CpuTime::Ignored);
    let searcher = far_searcher(&clock, &Arc::default())
        .cache(Arc::new(MemoryCache::new(1 << 20)))
        .manifest(ManifestOptions {
            ttl_ms: 1000,
            stale_while_revalidate_ms: 0,
        })
        .build()
        .unwrap();
    let known = json!([[["t0/m", 0, null, "manifest"]]]);
    clock.run(search(&searcher, known)).await;
    let response = clock.run(search(&searcher, demand(true))).await;
    let arrived = response.json["arrived"].as_array().unwrap();
    assert_eq!(arrived.len(), NUM_MANIFESTS + 1);
    assert_eq!(response.profile.num_requests, NUM_MANIFESTS as u64);
    assert_eq!(response.profile.num_waves, 1);
    assert_eq!(clock.now(), LATENCY * 2);
}

/// Cache in which entries are found as soon as the store has received a request. It gives up after a while, so
/// that the test fails instead of hanging.
struct Patient {
    was_asked: Arc<AtomicBool>,
}

impl RangeCache for Patient {
    fn block_len(&self, _: ByteClass) -> u64 {
        1
    }

    fn get<'a>(
        &'a self,
        _: &'a str,
        _: Range<u64>,
        _: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        std::future::ready(Vec::new()).boxed()
    }

    fn put<'a>(&'a self, _: &'a str, _: u64, _: Bytes, _: ByteClass) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }

    fn get_entry<'a>(&'a self, _: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        async move {
            if class == ByteClass::Manifest {
                return None;
            }
            for _ in 0..10_000 {
                if self.was_asked.load(Ordering::SeqCst) {
                    return Some(Bytes::from_static(b"entry"));
                }
                tokio::task::yield_now().await;
            }
            None
        }
        .boxed()
    }

    fn put_entry<'a>(&'a self, _: &'a str, _: Bytes, _: ByteClass) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }
}

#[tokio::test]
async fn a_slow_lookup_delays_no_read() {
    for item in [
        json!(["m", 0, null, "manifest"]),
        json!(["split", 0, 2, "postings"]),
    ] {
        let (clock, was_asked) = (VirtualClock::new(CpuTime::Ignored), Arc::default());
        let searcher = far_searcher(&clock, &was_asked)
            .cache(Arc::new(Patient {
                was_asked: Arc::clone(&was_asked),
            }))
            .build()
            .unwrap();
        let waves = json!([[["cache:key"], item]]);
        let response = clock.run(search(&searcher, waves)).await;
        assert_eq!(response.json["arrived"][0], json!([0, "entry"]));
    }
}

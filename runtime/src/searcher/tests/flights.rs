//! Concurrent searches over one cold index: what one fetches, the others wait for.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use futures_util::future::join_all;

use super::*;
use crate::clock::{Clock, CpuTime, VirtualClock};

/// A slow store that counts the requests for each byte.
struct Slow {
    inner: MemoryFetcher,
    clock: VirtualClock,
    asked: Mutex<HashMap<(String, u64), u64>>,
    num_requests: AtomicU64,
}

impl RangeFetcher for Slow {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.num_requests.fetch_add(1, Ordering::Relaxed);
        let mut asked = self.asked.lock().unwrap();
        for at in range.offset..range.offset + range.len.unwrap_or(1) {
            *asked.entry((object.to_owned(), at)).or_default() += 1;
        }
        drop(asked);
        async move {
            let until = self.clock.now() + Duration::from_millis(30 + range.offset);
            self.clock.sleep_until(until).await;
            self.inner.fetch(object, range).await
        }
        .boxed()
    }
}

fn slow(clock: &VirtualClock) -> Arc<Slow> {
    Arc::new(Slow {
        inner: objects(),
        clock: clock.clone(),
        asked: Mutex::default(),
        num_requests: AtomicU64::new(0),
    })
}

fn searcher_on(store: &Arc<Slow>, clock: &VirtualClock) -> SearcherBuilder {
    Searcher::builder()
        .engine(Arc::new(Scripted::new()))
        .fetcher(store.clone())
        .clock(Arc::new(clock.clone()))
        .hedge(crate::fetch::HedgeOptions::off())
        .max_parallel_leaves(1)
        .coalesce(tight())
}

#[tokio::test]
async fn sixty_four_searches_fetch_each_byte_once() {
    let clock = VirtualClock::new(CpuTime::Ignored);
    let store = slow(&clock);
    let searcher = searcher_on(&store, &clock)
        .cache(Arc::new(MemoryCache::new(1 << 20)))
        .build()
        .unwrap();
    let searches = (0..64u64).map(|n| {
        let searcher = &searcher;
        async move {
            let at = n % 7 * 5;
            let waves = json!([
                [["a", at, 20, "postings"], ["b", 80, 10, "head"]],
                [["a", 60, 10 + at % 3, "fast_field"]],
            ]);
            let response = search(searcher, waves).await;
            let digits = |start: u64, len: u64| -> String {
                (start..start + len)
                    .map(|at| char::from(b'0' + (at % 10) as u8))
                    .collect()
            };
            let arrived = &response.json["arrived"];
            assert_eq!(arrived[0][1], digits(at, 20));
            assert_eq!(arrived[1][1], digits(80, 10));
            assert_eq!(arrived[2][1], digits(60, 10 + at % 3));
            response.profile.num_requests
        }
    });
    let counted: u64 = clock.run(join_all(searches)).await.iter().sum();
    let asked = store.asked.lock().unwrap();
    let twice: Vec<_> = asked.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(counted, store.num_requests.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_search_that_gives_up_does_not_take_the_flight_from_others() {
    let clock = VirtualClock::new(CpuTime::Ignored);
    let store = slow(&clock);
    let searcher = searcher_on(&store, &clock).build().unwrap();
    let request = json!({"waves": [[["a", 70, 10, "head"]]]});
    let hasty = Limits::within_ms(50);
    let patient = Limits::default();
    let both = join_all([
        searcher.search(&request, &hasty),
        searcher.search(&request, &patient),
    ]);
    let responses = clock.run(both).await;
    let [hasty, patient] = &responses[..] else {
        panic!("two searches")
    };
    assert_eq!(hasty.as_ref().unwrap().json["timed_out"], true);
    let patient = patient.as_ref().unwrap();
    assert_eq!(patient.json["arrived"][0][1], "0123456789");
    assert_eq!(patient.json["timed_out"], false);
    assert_eq!(store.num_requests.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn anothers_budget_is_not_ones_own() {
    let clock = VirtualClock::new(CpuTime::Ignored);
    let store = slow(&clock);
    let searcher = searcher_on(&store, &clock).build().unwrap();
    let poor = json!({"waves": [[["a", 0, 10, "head"]]], "budget": {"max_requests": 0}});
    let rich = json!({"waves": [[["a", 0, 10, "head"]]]});
    let limits = Limits::default();
    let both = join_all([
        searcher.search(&poor, &limits),
        searcher.search(&rich, &limits),
    ]);
    let responses = clock.run(both).await;
    // The first one launches the flight. If that was the other search, this one got its bytes
    // without a request.
    let poor = responses[0].as_ref().unwrap();
    let expected = match poor.profile.num_shared_requests {
        0 => json!("max_requests"),
        _ => Value::Null,
    };
    assert_eq!(poor.json["budget_exhausted"], expected);
    let rich = responses[1].as_ref().unwrap();
    assert_eq!(rich.json["arrived"][0][1], "0123456789");
}

//! Tests of hedging on a virtual clock, with a store that has scripted delays.

use std::collections::VecDeque;
use std::sync::Mutex;

use bytes::Bytes;

use super::*;
use crate::clock::{CpuTime, VirtualClock};

const MS: Duration = Duration::from_millis(1);

/// Half of the time that a new search has for its first wave in a [`Run`]: the usual 10 ms, and
/// 1.05 times the 100 ms of a slow request.
const HALF: Duration = Duration::from_micros(57_500);

/// Store that answers the n-th request after the n-th delay, with the number of the request.
struct Delays {
    clock: VirtualClock,
    delays_ms: Mutex<VecDeque<Result<u32, FetchErrorKind>>>,
    num_calls: AtomicU64,
}

impl RangeFetcher for Delays {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let call = self.num_calls.fetch_add(1, Ordering::Relaxed);
        let delay = self.delays_ms.lock().unwrap().pop_front().unwrap_or(Ok(10));
        async move {
            match delay {
                Ok(delay) => {
                    let until = self.clock.now() + MS * delay;
                    self.clock.sleep_until(until).await;
                    Ok(FetchedRange::new(Bytes::from(vec![call as u8])))
                }
                Err(kind) => Err(FetchError::new(kind, object, range, "scripted")),
            }
        }
        .boxed()
    }
}

struct Run {
    clock: VirtualClock,
    hedge: Hedge,
    store: Arc<Delays>,
}

impl Run {
    /// Creates a store with observed latencies of 10 ms, of 100 ms for one in twelve requests, and
    /// of at most 1 s.
    fn new(options: HedgeOptions, delays_ms: &[Result<u32, FetchErrorKind>]) -> Self {
        let clock = VirtualClock::new(CpuTime::Ignored);
        let store = Arc::new(Delays {
            clock: clock.clone(),
            delays_ms: Mutex::new(delays_ms.iter().copied().collect()),
            num_calls: AtomicU64::new(0),
        });
        let state = HedgeState::new(options);
        for n in 0..240 {
            let took = match n {
                50 => MS * 1000,
                n if n % 12 == 0 => MS * 100,
                _ => MS * 10,
            };
            state.latencies.record(1, took);
        }
        let hedge = Hedge {
            inner: store.clone(),
            clock: Arc::new(clock.clone()),
            state: Arc::new(state),
            pace: Arc::default(),
        };
        Self {
            clock,
            hedge,
            store,
        }
    }

    fn fetch(&self) -> (Result<FetchedRange, FetchError>, Duration) {
        let before = self.clock.now();
        let answer = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(self.clock.run(self.hedge.fetch("a", ByteRange::new(0, 1))));
        (answer, self.clock.now() - before)
    }

    fn num_calls(&self) -> u64 {
        self.store.num_calls.load(Ordering::Relaxed)
    }
}

#[test]
fn a_late_request_is_sent_again_and_the_first_answer_wins() {
    let run = Run::new(HedgeOptions::default(), &[Ok(900), Ok(20)]);
    let (answer, took) = run.fetch();
    let answer = answer.unwrap();
    assert_eq!(answer.bytes[0], 1);
    assert_eq!(took, HALF + MS * 20);
    let at = HALF;
    assert_eq!(answer.hedge, Some(Hedged { at, has_won: true }));
}

#[test]
fn a_first_answer_that_still_comes_first_is_taken() {
    let run = Run::new(HedgeOptions::default(), &[Ok(70), Ok(500)]);
    let (answer, took) = run.fetch();
    let answer = answer.unwrap();
    assert_eq!((answer.bytes[0], took), (0, MS * 70));
    assert!(!answer.hedge.unwrap().has_won);
}

#[test]
fn a_prompt_answer_is_not_hedged() {
    let run = Run::new(HedgeOptions::default(), &[Ok(57)]);
    assert_eq!(run.fetch().0.unwrap().hedge, None);
    assert_eq!(run.num_calls(), 1);
}

#[test]
fn hedging_can_be_turned_off() {
    let run = Run::new(HedgeOptions::off(), &[Ok(900)]);
    let (answer, took) = run.fetch();
    assert_eq!((answer.unwrap().hedge, took), (None, MS * 900));
}

#[test]
fn a_search_that_is_late_is_hedged_sooner() {
    let run = Run::new(HedgeOptions::default(), &[Ok(900), Ok(20)]);
    run.hedge.pace.note_wave(MS * 80);
    let (answer, took) = run.fetch();
    // 70 of the 105 ms that the search may lose are used, so 45 are left for this wave.
    assert_eq!((answer.unwrap().bytes[0], took), (1, MS * 45 / 2 + MS * 20));
}

#[test]
fn a_search_that_has_time_for_the_slowest_request_is_not_hedged() {
    let run = Run::new(HedgeOptions::default(), &[Ok(900), Ok(900), Ok(20)]);
    // The request of 1 s is not remembered any more: the slowest take 100 ms, and 115 ms are left.
    let took = |n| if n % 12 == 0 { MS * 100 } else { MS * 10 };
    (0..600).for_each(|n| run.hedge.state.latencies.record(1, took(n)));
    assert_eq!(run.fetch().0.unwrap().hedge, None);
    run.hedge.pace.note_wave(MS * 80);
    assert!(run.fetch().0.unwrap().hedge.is_some());
}

#[test]
fn a_search_that_is_too_late_already_is_not_hedged() {
    let run = Run::new(HedgeOptions::default(), &[Ok(900)]);
    run.hedge.pace.note_wave(MS * 126);
    assert_eq!(run.fetch().0.unwrap().hedge, None);
    assert_eq!(run.num_calls(), 1);
}

#[test]
fn the_less_is_saved_up_the_later_a_hedge_is_sent() {
    let run = Run::new(HedgeOptions::default(), &[]);
    let state = &run.hedge.state;
    let mut delays = Vec::new();
    for num_requests in [61, 240, 2000] {
        (0..num_requests).for_each(|_| state.allowance.earn());
        delays.push(state.delay(1, &Pace::default()).unwrap());
    }
    assert!(delays.is_sorted_by(|a, b| a > b), "{delays:?}");
    // 0.9 slow requests of 100 ms, and the usual 10 ms.
    assert_eq!(delays[2], MS * 50);
}

#[test]
fn a_hedge_that_is_refused_or_fails_does_not_cost_the_first_answer() {
    for kind in [FetchErrorKind::Budget, FetchErrorKind::Unavailable] {
        let run = Run::new(HedgeOptions::default(), &[Ok(200), Err(kind)]);
        let (answer, took) = run.fetch();
        assert_eq!((answer.unwrap().bytes[0], took), (0, MS * 200));
    }
}

#[test]
fn a_store_that_slows_down_is_left_alone() {
    let run = Run::new(HedgeOptions::default(), &[Ok(900), Ok(20)]);
    (0..20).for_each(|_| run.hedge.state.latencies.record(1, MS * 80));
    assert_eq!(run.fetch().0.unwrap().bytes[0], 0);
    assert_eq!(run.num_calls(), 1);
}

#[test]
fn extra_requests_stay_within_their_share() {
    let run = Run::new(HedgeOptions::default(), &[Ok(900); 2000]);
    let num_fetches = 1000;
    for _ in 0..num_fetches {
        // Keeps the store from looking slow, since this only tests the share.
        (0..60).for_each(|_| run.hedge.state.latencies.record(1, MS * 10));
        run.hedge.state.latencies.record(1, MS * 2000);
        let _ = run.fetch();
    }
    let num_extra = run.num_calls() - num_fetches;
    assert!((40..=53).contains(&num_extra), "{num_extra}");
}

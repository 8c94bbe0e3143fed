//! Transfers on a virtual clock, compared with times computed by hand and with a simple simulation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use futures_util::future::{join, join_all};
use proptest::prelude::*;

use super::*;
use canter_runtime::clock::{CpuTime, VirtualClock, timeout_at};

const MS: Duration = Duration::from_millis(1);

fn run<F: Future>(
    bytes_per_second: u64,
    future: impl FnOnce(Link, Arc<VirtualClock>) -> F,
) -> F::Output {
    let clock = Arc::new(VirtualClock::new(CpuTime::Ignored));
    let link = Link::new(clock.clone(), bytes_per_second);
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(clock.run(future(link, clock.clone())))
}

/// Returns the ends of transfers with these starts and lengths, at 1,000 bytes per second.
fn ends(transfers: &[(u64, u64)]) -> Vec<Duration> {
    run(1000, |link, clock| async move {
        join_all(transfers.iter().map(|(start_ms, num_bytes)| {
            let (link, clock) = (link.clone(), clock.clone());
            async move {
                clock.sleep_until(MS * *start_ms as u32).await;
                link.transfer(*num_bytes).await;
                clock.now()
            }
        }))
        .await
    })
}

fn check(transfers: &[(u64, u64)], expect_ms: &[u32]) {
    let expect: Vec<Duration> = expect_ms.iter().map(|ms| MS * *ms).collect();
    assert_eq!(ends(transfers), expect, "{transfers:?}");
}

#[test]
fn a_transfer_alone_has_the_whole_link() {
    check(&[(0, 1000)], &[1000]);
    check(&[(500, 2000)], &[2500]);
    check(&[(7, 0)], &[7]);
}

#[test]
fn transfers_beside_each_other_share_the_link() {
    check(&[(0, 1000), (0, 1000)], &[2000, 2000]);
    // Half speed until the short one ends, at 1000 ms; then 500 bytes at full speed.
    check(&[(0, 1000), (0, 500)], &[1500, 1000]);
    // 500 bytes alone, then half speed.
    check(&[(0, 1000), (500, 1000)], &[1500, 2000]);
    check(&[(0, 300), (0, 300), (0, 300)], &[900, 900, 900]);
    // One after another, without affecting each other.
    check(&[(0, 100), (100, 100)], &[100, 200]);
}

#[test]
fn who_comes_first_at_the_same_moment_does_not_matter() {
    check(&[(0, 500), (0, 1000)], &[1000, 1500]);
    check(&[(0, 1000), (0, 500)], &[1500, 1000]);
}

/// A clock that is set manually, and whose timers never fire.
#[derive(Default)]
struct StoppedClock(Mutex<Duration>);

impl Clock for StoppedClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn sleep_until(&self, _moment: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// On a busy machine the first transfer may end before its task, which was woken for another reason, is
/// polled. Another task must still be told to set the next timer.
#[test]
fn the_next_is_woken_when_one_ends_that_was_woken_before() {
    let clock = Arc::new(StoppedClock::default());
    let link = Link::new(clock.clone(), 1000);
    let mut transfers = [100, 200, 300].map(|num_bytes| link.transfer(num_bytes));
    let bells: [Arc<Bell>; 3] = Default::default();
    let mut poll = |ord: usize| {
        let waker = Waker::from(bells[ord].clone());
        let polled = Pin::new(&mut transfers[ord]).poll(&mut Context::from_waker(&waker));
        polled.is_ready()
    };
    assert!(!poll(0) && !poll(1));
    // The third makes the first slower: it is woken, but not polled yet.
    assert!(!poll(2) && bells[0].0.load(Ordering::SeqCst));
    *clock.0.lock().unwrap() = Duration::from_millis(400);
    assert!(poll(0));
    assert!(bells[1].0.load(Ordering::SeqCst), "nobody has the timer");
}

#[test]
fn a_third_of_a_byte_is_rounded_up_to_the_nanosecond() {
    let end = run(3, |link, clock| async move {
        link.transfer(1).await;
        clock.now()
    });
    assert_eq!(end, Duration::from_nanos(333_333_334));
}

#[test]
fn a_dropped_transfer_leaves_the_link_to_the_others() {
    let (num_sent, end) = run(1000, |link, clock| async move {
        let given_up = async {
            let mut transfer = link.transfer(10_000);
            let deadline = Some(MS * 400);
            timeout_at(&*clock, deadline, &mut transfer)
                .await
                .unwrap_err();
            transfer.num_sent()
        };
        let whole = async {
            link.transfer(1000).await;
            clock.now()
        };
        join(given_up, whole).await
    });
    assert_eq!(num_sent, 200);
    // 200 bytes by 400 ms, the other 800 alone.
    assert_eq!(end, MS * 1200);
}

#[test]
fn a_transfer_that_is_never_polled_takes_no_part() {
    let end = run(1000, |link, clock| async move {
        let _idle = link.transfer(10_000);
        link.transfer(1000).await;
        clock.now()
    });
    assert_eq!(end, MS * 1000);
}

proptest! {
    #[test]
    fn the_link_is_never_idle_while_anything_waits(
        transfers in prop::collection::vec((0u64..2000, 1u64..3000), 1..12)
    ) {
        let ends = ends(&transfers);
        // The time of one queue with one server: all work-conserving disciplines end at the same time.
        let mut sorted = transfers.clone();
        sorted.sort_unstable();
        let end_ms = sorted.iter().fold(0, |end, (start, len)| end.max(*start) + len);
        let last = ends.iter().max().copied().unwrap_or_default();
        let expect = Duration::from_millis(end_ms);
        // Each end may be up to a nanosecond late.
        prop_assert!(last >= expect, "{last:?} before {expect:?}");
        prop_assert!(last - expect <= Duration::from_nanos(transfers.len() as u64));
    }

    #[test]
    fn nobody_gets_more_than_the_link_or_less_than_a_fair_share(
        transfers in prop::collection::vec((0u64..2000, 1u64..3000), 1..12)
    ) {
        let num = transfers.len() as u64;
        for ((start, len), end) in transfers.iter().zip(ends(&transfers)) {
            let took = end - Duration::from_millis(*start);
            prop_assert!(took >= Duration::from_millis(*len));
            prop_assert!(took <= Duration::from_millis(*len * num) + Duration::from_nanos(num));
        }
    }
}

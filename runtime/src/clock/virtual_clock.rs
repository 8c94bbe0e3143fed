//! A clock that stands still while the future can make progress, and then jumps to the next timer.
//!
//! ```text
//!   poll the future until nothing in it can go on
//!      ├─ real work is under way (a guest computes) → wait for it, in real time
//!      ├─ timers are set                            → jump to the earliest, wake it, poll again
//!      └─ neither                                   → wait for whoever wakes the future
//! ```
//!
//! Moments are exact to the nanosecond; equal moments fire in the order in which they were set.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{BusyGuard, Clock};

/// The default date at moment 0, since 1970.
const BEGINNING: Duration = Duration::from_secs(1_700_000_000);

/// Treatment of time that the guest spends computing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuTime {
    /// The clock advances by the measured time: latencies are those of a real search.
    #[default]
    Measured,
    /// Computing takes no time: the same search takes exactly the same time each time.
    Ignored,
}

/// A virtual clock for tests. Clones show the same time.
#[derive(Clone)]
pub struct VirtualClock {
    shared: Arc<Shared>,
    cpu: CpuTime,
    beginning: Duration,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new(CpuTime::default())
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

type TimerKey = (Duration, u64);

#[derive(Default)]
struct State {
    now: Duration,
    /// Timers by moment, then by the order in which they were set.
    timers: BTreeMap<TimerKey, Waker>,
    num_timers_set: u64,
    num_busy: usize,
    /// The task that polls [`VirtualClock::run`].
    runner: Option<Waker>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VirtualClock {
    /// Creates a clock at moment 0.
    pub fn new(cpu: CpuTime) -> Self {
        Self {
            shared: Arc::default(),
            cpu,
            beginning: BEGINNING,
        }
    }

    /// Sets the date at moment 0, as time since 1970. Data that is stored with a date between runs
    /// needs the real one.
    pub fn beginning_at(self, date: Duration) -> Self {
        Self {
            beginning: date,
            ..self
        }
    }

    /// Runs `future` in virtual time. The clock stands still while `future` itself makes progress;
    /// a separate task may sleep on it too, but its work in between is not waited for.
    pub async fn run<F: Future>(&self, future: F) -> F::Output {
        // Without tokio's budget: a ready resource that yields so that other tasks have their turn
        // would look like a waiting one, and the clock would jump.
        let mut future = pin!(tokio::task::coop::unconstrained(future));
        let notice = Arc::new(Notice {
            is_woken: AtomicBool::new(false),
            shared: Arc::clone(&self.shared),
        });
        let waker = Waker::from(Arc::clone(&notice));
        poll_fn(|context| {
            self.shared.lock().runner = Some(context.waker().clone());
            loop {
                notice.is_woken.store(false, Ordering::SeqCst);
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return Poll::Ready(output);
                }
                if notice.is_woken.load(Ordering::SeqCst) {
                    continue;
                }
                match self.jump() {
                    Some(due) => due.into_iter().for_each(Waker::wake),
                    None => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Jumps to the earliest timer and returns the wakers due at that moment. `None` if the clock must wait.
    fn jump(&self) -> Option<Vec<Waker>> {
        let mut state = self.shared.lock();
        if state.num_busy > 0 {
            return None;
        }
        let (&(moment, _), _) = state.timers.first_key_value()?;
        state.now = state.now.max(moment);
        let later = state.timers.split_off(&(moment, u64::MAX));
        let due = std::mem::replace(&mut state.timers, later);
        Some(due.into_values().collect())
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        self.shared.lock().now
    }

    fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()> {
        Box::pin(Sleep {
            shared: Arc::clone(&self.shared),
            moment,
            key: None,
        })
    }

    fn unix_time(&self) -> Duration {
        self.beginning + self.now()
    }

    fn enter_busy(&self) -> BusyGuard {
        self.shared.lock().num_busy += 1;
        let shared = Arc::clone(&self.shared);
        BusyGuard::new(move || {
            let runner = {
                let mut state = shared.lock();
                state.num_busy -= 1;
                state.runner.clone().filter(|_| state.num_busy == 0)
            };
            if let Some(runner) = runner {
                runner.wake();
            }
        })
    }

    fn spend(&self, cpu: Duration) -> BoxFuture<'static, ()> {
        match self.cpu {
            CpuTime::Measured => self.sleep_until(self.now() + cpu),
            CpuTime::Ignored => Box::pin(std::future::ready(())),
        }
    }
}

/// Waker of the runner that also records that its future can make progress.
struct Notice {
    is_woken: AtomicBool,
    shared: Arc<Shared>,
}

impl Wake for Notice {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        let runner = self.shared.lock().runner.clone();
        if let Some(runner) = runner {
            runner.wake();
        }
    }
}

struct Sleep {
    shared: Arc<Shared>,
    moment: Duration,
    key: Option<TimerKey>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        if state.now >= self.moment {
            return Poll::Ready(());
        }
        let moment = self.moment;
        let is_new = self.key.is_none();
        let key = *self.key.get_or_insert_with(|| {
            state.num_timers_set += 1;
            (moment, state.num_timers_set)
        });
        state.timers.insert(key, context.waker().clone());
        // A separate task may be the one that sleeps, and the clock may have had no timer to jump to.
        let runner = state.runner.clone().filter(|_| is_new);
        drop(state);
        if let Some(runner) = runner {
            runner.wake();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    /// No task waits for this moment any more: the clock must not stop there.
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.lock().timers.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{join, join_all};

    use super::*;
    use crate::clock::{Elapsed, timeout_at};

    fn run<F: Future>(future: impl FnOnce(VirtualClock) -> F) -> (F::Output, Duration) {
        let clock = VirtualClock::new(CpuTime::Ignored);
        let output = futures_executor(clock.run(future(clock.clone())));
        (output, clock.now())
    }

    fn futures_executor<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn sleeping_takes_virtual_time_only() {
        let ((), now) = run(|clock| async move {
            join_all((1..=1000).map(|n| clock.sleep_until(SECOND * n))).await;
        });
        assert_eq!(now, SECOND * 1000);
    }

    #[test]
    fn sleeps_beside_each_other_do_not_add_up() {
        let (order, now) = run(|clock| async move {
            let order = Mutex::new(Vec::new());
            let sleep = |n: u32| {
                let (clock, order) = (&clock, &order);
                async move {
                    clock.sleep_until(SECOND * n).await;
                    order.lock().unwrap().push(n);
                }
            };
            join(sleep(5), join(sleep(2), sleep(3))).await;
            order.into_inner().unwrap()
        });
        assert_eq!(order, [2, 3, 5]);
        assert_eq!(now, SECOND * 5);
    }

    #[test]
    fn a_deadline_cuts_off_a_longer_sleep() {
        let (result, now) = run(|clock| async move {
            let long = clock.sleep_until(SECOND * 100);
            timeout_at(&clock, Some(SECOND * 2), long).await
        });
        assert_eq!(result, Err(Elapsed));
        assert_eq!(now, SECOND * 2);
    }

    #[test]
    fn a_task_of_its_own_may_sleep_too() {
        let (at, _) = run(|clock| async move {
            let theirs = clock.clone();
            let task = tokio::spawn(async move {
                theirs.sleep_until(SECOND).await;
                theirs.sleep_until(SECOND * 2).await;
                theirs.now()
            });
            task.await.unwrap()
        });
        assert_eq!(at, SECOND * 2);
    }

    #[test]
    fn the_date_goes_on_from_the_one_that_was_given() {
        let date = SECOND * 1_000_000_000;
        let clock = VirtualClock::new(CpuTime::Ignored).beginning_at(date);
        futures_executor(clock.run(clock.sleep_until(SECOND)));
        assert_eq!(clock.unix_time(), date + SECOND);
    }

    #[test]
    fn the_clock_waits_for_work_in_the_real_world() {
        let (at, _) = run(|clock| async move {
            let (send, receive) = tokio::sync::oneshot::channel();
            let guard = clock.enter_busy();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                let _ = send.send(());
            });
            let work = async {
                let _ = receive.await;
                let at = clock.now();
                drop(guard);
                at
            };
            join(work, clock.sleep_until(SECOND)).await.0
        });
        assert_eq!(at, Duration::ZERO);
    }
}

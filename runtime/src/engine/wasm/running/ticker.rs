//! Ticker that checks each running instance every few milliseconds.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::SearchError;

/// Time between two checks of a running instance.
const TICK: Duration = Duration::from_millis(10);

/// Function that is called at each tick.
type Watch = Box<dyn Fn() + Send>;

#[derive(Default)]
struct State {
    /// Keyed by the number of the instance.
    running: BTreeMap<u64, Watch>,
    next_number: u64,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Thread that ticks while instances run, sleeps otherwise, and ends with the ticker.
pub(in super::super) struct Ticker {
    shared: Arc<Shared>,
}

impl Ticker {
    pub(in super::super) fn start() -> Result<Self, SearchError> {
        let shared: Arc<Shared> = Arc::default();
        let theirs = shared.clone();
        thread::Builder::new()
            .name("canter-ticker".to_owned())
            .stack_size(64 << 10)
            .spawn(move || tick(&theirs))
            .map_err(|error| {
                SearchError::internal(format!("cannot start the ticker thread: {error}"))
            })?;
        Ok(Self { shared })
    }

    /// Calls `watch`, which must be fast, at each tick until the returned value is dropped.
    pub(super) fn run(&self, watch: impl Fn() + Send + 'static) -> Running {
        let mut state = self.shared.lock();
        let number = state.next_number;
        state.next_number += 1;
        state.running.insert(number, Box::new(watch));
        self.shared.changed.notify_all();
        Running {
            shared: self.shared.clone(),
            number,
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

/// Running instance.
pub(in super::super) struct Running {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.lock().running.remove(&self.number);
    }
}

fn tick(shared: &Shared) {
    let mut state = shared.lock();
    // Instances can outlive the engine's handle, so the thread continues for them.
    while !(state.is_over && state.running.is_empty()) {
        if state.running.is_empty() {
            let woken = shared.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        drop(state);
        thread::sleep(TICK);
        state = shared.lock();
        state.running.values().for_each(|watch| watch());
    }
}

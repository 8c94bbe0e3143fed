//! The clock of running instances: moves wasmtime's epoch while there are any.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

use crate::SearchError;

/// How often a running instance looks at its deadline.
const TICK: Duration = Duration::from_millis(10);

#[derive(Default)]
struct State {
    num_running: usize,
    is_over: bool,
}

/// A thread that ticks while instances run, sleeps while none does, and ends with the ticker.
pub(in super::super) struct Ticker {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Ticker {
    pub(in super::super) fn start(engine: &Engine) -> Result<Self, SearchError> {
        let shared: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let (theirs, engine) = (shared.clone(), engine.clone());
        thread::Builder::new()
            .name("canter-ticker".to_owned())
            .stack_size(64 << 10)
            .spawn(move || tick(&theirs, &engine))
            .map_err(|error| {
                SearchError::internal(format!("cannot start the ticker thread: {error}"))
            })?;
        Ok(Self { shared })
    }

    /// Ticks for as long as the result lives.
    pub(in super::super) fn run(&self) -> Running {
        self.update(|state| state.num_running += 1);
        Running {
            shared: self.shared.clone(),
        }
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let (state, changed) = &*self.shared;
        change(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.update(|state| state.is_over = true);
    }
}

/// One running instance.
pub(in super::super) struct Running {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let (state, _) = &*self.shared;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.num_running = state.num_running.saturating_sub(1);
    }
}

fn tick((state, changed): &(Mutex<State>, Condvar), engine: &Engine) {
    let mut guard = state.lock().unwrap_or_else(PoisonError::into_inner);
    // Instances may outlive the engine's handle: keep ticking for them.
    while !(guard.is_over && guard.num_running == 0) {
        if guard.num_running == 0 {
            guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        drop(guard);
        thread::sleep(TICK);
        engine.increment_epoch();
        guard = state.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

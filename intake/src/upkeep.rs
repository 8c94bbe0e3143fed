//! Maintenance of indexes that are written to: merges splits, and removes unreferenced objects.
//!
//! Indexes are independent of each other. Work that fails for one of them, even by a panic, is
//! retried after a pause that doubles up to a limit; the others are maintained meanwhile. Merging
//! and garbage collection fail separately.

mod attempts;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use canter_index_builder::{
    BuildError, GcOptions, IndexStore, MergeIndexOptions, collect_garbage, merge_index,
    unix_time_ms,
};

use self::attempts::Attempts;
use crate::lanes::lane::Lane;

/// Settings for the maintenance of indexes.
#[derive(Clone, Copy, Debug)]
pub struct UpkeepSettings {
    /// Interval between checks for work.
    pub interval: Duration,
    /// Maximum size of a merge in bytes: larger ones are left to `canter index merge`.
    pub max_merge_bytes: u64,
    /// Maximum number of merges in one check.
    pub max_merges: u64,
    /// Interval between garbage collections.
    pub gc_interval: Duration,
    /// Time for which an unreferenced object is kept.
    pub gc_grace: Duration,
    /// Maximum pause after failures.
    pub max_pause: Duration,
}

impl Default for UpkeepSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            max_merge_bytes: 1 << 30,
            max_merges: 4,
            gc_interval: Duration::from_secs(600),
            gc_grace: Duration::from_secs(3600),
            max_pause: Duration::from_secs(900),
        }
    }
}

/// Index whose last maintenance failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingIndex {
    /// Location, as [`IndexStore::uri`] returns it.
    pub uri: String,
    /// Number of consecutive failures to merge its splits.
    pub num_failed_merges: u32,
    /// Number of consecutive failures to collect its garbage, and so to apply its retention.
    pub num_failed_collections: u32,
}

/// Thread that maintains all lanes, one at a time, because a merge takes memory.
pub struct Upkeep {
    shared: Arc<(Mutex<Watched>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Watched {
    lanes: Vec<Subject>,
    is_stopping: bool,
    /// Number of failures of all indexes since the start.
    num_failures: u64,
}

#[derive(Clone)]
struct Subject {
    lane: Arc<Lane>,
    /// Number of commits at the last check.
    num_commits: u64,
    collected_at: Instant,
    has_garbage: bool,
    merging: Attempts,
    collecting: Attempts,
}

impl Upkeep {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub fn start(settings: UpkeepSettings) -> std::io::Result<Self> {
        let shared = Arc::<(Mutex<Watched>, Condvar)>::default();
        let watched = Arc::clone(&shared);
        let thread = thread::Builder::new().name("canter-upkeep".into());
        let thread = thread.spawn(move || run(&watched, settings))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Adds an index to maintain.
    pub fn add(&self, lane: Arc<Lane>) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.lanes.push(Subject {
            lane,
            num_commits: 0,
            collected_at: Instant::now(),
            has_garbage: false,
            merging: Attempts::default(),
            collecting: Attempts::default(),
        });
    }

    /// Returns the indexes whose last maintenance failed.
    pub fn failing(&self) -> Vec<FailingIndex> {
        let watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lanes = watched.lanes.iter();
        let failing = lanes.map(|subject| FailingIndex {
            uri: subject.lane.store().uri().to_owned(),
            num_failed_merges: subject.merging.num_failures,
            num_failed_collections: subject.collecting.num_failures,
        });
        failing
            .filter(|index| index.num_failed_merges > 0 || index.num_failed_collections > 0)
            .collect()
    }

    /// Returns the number of failed attempts of all indexes since the start.
    pub fn num_failures(&self) -> u64 {
        let watched = self.shared.0.lock();
        watched.unwrap_or_else(PoisonError::into_inner).num_failures
    }

    /// Stops maintaining the index of this store.
    pub fn remove(&self, uri: &str) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched
            .lanes
            .retain(|subject| subject.lane.store().uri() != uri);
    }
}

impl Drop for Upkeep {
    /// Waits for a merge under way: its splits are already written, and would become garbage.
    fn drop(&mut self) {
        let (watched, changed) = &*self.shared;
        watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_stopping = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(shared: &(Mutex<Watched>, Condvar), settings: UpkeepSettings) {
    let (watched, changed) = shared;
    let mut guard = watched.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if guard.is_stopping {
            return;
        }
        let waited = changed.wait_timeout(guard, settings.interval);
        guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        let lanes = guard.lanes.clone();
        drop(guard);
        for subject in lanes {
            let (subject, num_failures) = look(subject, settings);
            guard = watched.lock().unwrap_or_else(PoisonError::into_inner);
            guard.num_failures += num_failures;
            let same = |other: &&mut Subject| Arc::ptr_eq(&other.lane, &subject.lane);
            if let Some(known) = guard.lanes.iter_mut().find(same) {
                *known = subject;
            }
            if guard.is_stopping {
                return;
            }
            drop(guard);
        }
        guard = watched.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

/// Does the work that is due for one index, and returns the number of failures.
fn look(mut subject: Subject, settings: UpkeepSettings) -> (Subject, u64) {
    let mut num_failures = 0;
    let num_commits = subject.lane.num_commits();
    let lane = Arc::clone(&subject.lane);
    let store = lane.store();
    if num_commits != subject.num_commits {
        // Documents may expire whether they can be merged or not.
        subject.has_garbage = true;
        if subject.merging.is_due() {
            let work = || merge(store, settings);
            match attempt(&mut subject.merging, store, settings, "merge", work) {
                // Work left over for the next check is remembered.
                Some(true) => subject.num_commits = num_commits,
                Some(false) => {}
                None => num_failures += 1,
            }
        }
    }
    let is_time = subject.collected_at.elapsed() >= settings.gc_interval;
    if subject.has_garbage && is_time && subject.collecting.is_due() {
        let options = GcOptions {
            now_ms: unix_time_ms(),
            grace_ms: u64::try_from(settings.gc_grace.as_millis()).unwrap_or(u64::MAX),
            dry_run: false,
            applies_retention: true,
        };
        let work = || collect_garbage(store, &options);
        match attempt(
            &mut subject.collecting,
            store,
            settings,
            "garbage collection",
            work,
        ) {
            // Objects condemned now are removed later.
            Some(report) => {
                let is_merging = num_commits != subject.num_commits;
                subject.has_garbage = is_merging || !report.condemned.is_empty();
            }
            None => num_failures += 1,
        }
        subject.collected_at = Instant::now();
    }
    (subject, num_failures)
}

/// Runs one kind of work on an index, and logs a failure.
fn attempt<T>(
    attempts: &mut Attempts,
    store: &IndexStore,
    settings: UpkeepSettings,
    what: &str,
    work: impl FnOnce() -> Result<T, BuildError>,
) -> Option<T> {
    let has_failed = attempts.num_failures > 0;
    match attempts.make(settings.interval, settings.max_pause, work) {
        Ok(done) => {
            if has_failed {
                tracing::info!(target: "canter::intake", index = store.uri(), what, "upkeep succeeds again");
            }
            Some(done)
        }
        Err(failure) => {
            tracing::warn!(
                target: "canter::intake",
                index = store.uri(),
                what,
                error = failure.problem,
                num_failures = attempts.num_failures,
                next_attempt_secs = failure.pause.as_secs(),
                "upkeep of the index failed",
            );
            None
        }
    }
}

/// Merges splits, and returns whether no work is left.
fn merge(store: &IndexStore, settings: UpkeepSettings) -> Result<bool, BuildError> {
    let options = MergeIndexOptions {
        max_merges: Some(settings.max_merges),
        max_bytes: Some(settings.max_merge_bytes),
        ..MergeIndexOptions::default()
    };
    let report = merge_index(store, &options, &|_| {})?;
    Ok((report.merges.len() as u64) < settings.max_merges)
}

//! Keeps the indexes that are written to in order: merges what is due, and removes what nothing refers to any more.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use canter_index_builder::{
    BuildError, GcOptions, IndexStore, MergeIndexOptions, collect_garbage, merge_index,
    unix_time_ms,
};

use crate::lane::Lane;

/// How an index is kept in order.
#[derive(Clone, Copy, Debug)]
pub struct UpkeepSettings {
    /// How often it is looked whether there is anything to do.
    pub interval: Duration,
    /// Most bytes of one merge: larger ones are left to `canter index merge`.
    pub max_merge_bytes: u64,
    /// Most merges in one look.
    pub max_merges: u64,
    /// How often garbage is collected.
    pub gc_interval: Duration,
    /// For so long an object stays after nothing refers to it.
    pub gc_grace: Duration,
}

impl Default for UpkeepSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            max_merge_bytes: 1 << 30,
            max_merges: 4,
            gc_interval: Duration::from_secs(600),
            gc_grace: Duration::from_secs(3600),
        }
    }
}

/// A thread that looks after all lanes, one at a time: a merge takes memory.
pub struct Upkeep {
    shared: Arc<(Mutex<Watched>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Watched {
    lanes: Vec<Subject>,
    is_stopping: bool,
}

#[derive(Clone)]
struct Subject {
    lane: Arc<Lane>,
    /// Commits that were seen when it was last looked at.
    num_commits: u64,
    collected_at: Instant,
    has_garbage: bool,
}

impl Upkeep {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no thread.
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

    /// Looks after this one, too.
    pub fn add(&self, lane: Arc<Lane>) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.lanes.push(Subject {
            lane,
            num_commits: 0,
            collected_at: Instant::now(),
            has_garbage: false,
        });
    }

    /// Leaves the index of this store alone from now on.
    pub fn remove(&self, uri: &str) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched
            .lanes
            .retain(|subject| subject.lane.store().uri() != uri);
    }
}

impl Drop for Upkeep {
    /// A merge that is under way is finished: its splits are written, and would be garbage.
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
        let looked: Vec<Subject> = lanes
            .into_iter()
            .map(|subject| look(subject, settings))
            .collect();
        guard = watched.lock().unwrap_or_else(PoisonError::into_inner);
        for subject in looked {
            let same = |other: &&mut Subject| Arc::ptr_eq(&other.lane, &subject.lane);
            if let Some(known) = guard.lanes.iter_mut().find(same) {
                *known = subject;
            }
        }
    }
}

/// Does for one index what is due.
fn look(mut subject: Subject, settings: UpkeepSettings) -> Subject {
    let num_commits = subject.lane.num_commits();
    let store = subject.lane.store();
    if num_commits != subject.num_commits {
        match merge(store, settings) {
            Ok(is_done) => {
                subject.has_garbage = true;
                // What was left over for the next look is not forgotten.
                subject.num_commits = if is_done {
                    num_commits
                } else {
                    subject.num_commits
                };
            }
            Err(error) => warn(store, &error, "the index could not be merged"),
        }
    }
    if subject.has_garbage && subject.collected_at.elapsed() >= settings.gc_interval {
        let options = GcOptions {
            now_ms: unix_time_ms(),
            grace_ms: u64::try_from(settings.gc_grace.as_millis()).unwrap_or(u64::MAX),
            dry_run: false,
            applies_retention: true,
        };
        match collect_garbage(store, &options) {
            // What is condemned now is removed another time.
            Ok(report) => subject.has_garbage = !report.condemned.is_empty(),
            Err(error) => warn(store, &error, "garbage could not be collected"),
        }
        subject.collected_at = Instant::now();
    }
    subject
}

/// Whether nothing is left to do.
fn merge(store: &IndexStore, settings: UpkeepSettings) -> Result<bool, BuildError> {
    let options = MergeIndexOptions {
        max_merges: Some(settings.max_merges),
        max_bytes: Some(settings.max_merge_bytes),
        ..MergeIndexOptions::default()
    };
    let report = merge_index(store, &options, &|_| {})?;
    Ok((report.merges.len() as u64) < settings.max_merges)
}

fn warn(store: &IndexStore, error: &BuildError, what: &str) {
    tracing::warn!(target: "canter::intake", index = store.uri(), error = error.with_causes(), "{what}");
}

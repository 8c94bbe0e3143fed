//! The waiting documents of a lane: shared by the clients that add them, and by the thread that publishes them.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use canter_index_builder::{BuildError, DocumentCheck, ErrorKind, IndexStore};

use super::batch::{Part, Waiting};
use crate::refusal::Refusal;

/// Settings for batching and publishing.
#[derive(Clone, Debug)]
pub struct LaneSettings {
    /// Time that documents wait for others.
    pub commit_interval: Duration,
    /// Number of waiting bytes at which they are published at once.
    pub max_batch_bytes: usize,
    /// Maximum length of a document in bytes.
    pub max_document_bytes: usize,
}

impl Default for LaneSettings {
    fn default() -> Self {
        Self {
            commit_interval: Duration::from_secs(1),
            max_batch_bytes: 32 << 20,
            max_document_bytes: 16 << 20,
        }
    }
}

/// State shared by clients and the thread.
pub(crate) struct Shared {
    pub(crate) store: IndexStore,
    pub(crate) settings: LaneSettings,
    state: Mutex<State>,
    pub(super) changed: Condvar,
    /// Field that identifies the index's documents, once known. An index never gets another one.
    id_field: OnceLock<Option<String>>,
}

/// State of a lane.
#[derive(Default)]
pub(super) struct State {
    waiting: Waiting,
    /// Ids of spool objects that this process is writing or has queued, and no other process left
    /// behind.
    pub(super) arriving: BTreeSet<String>,
    /// Time before which nothing is published, because the store failed recently.
    not_before: Option<Instant>,
    pub(super) is_stopping: bool,
    /// Number of publications, for the upkeep of the index.
    pub(super) num_commits: u64,
}

impl Shared {
    pub(crate) fn new(store: IndexStore, settings: LaneSettings) -> Self {
        Self {
            store,
            settings,
            state: Mutex::default(),
            changed: Condvar::new(),
            id_field: OnceLock::new(),
        }
    }

    /// Returns the field that identifies the index's documents, if there is one.
    ///
    /// # Errors
    /// The config cannot be read.
    pub(super) fn id_field(&self) -> Result<Option<&str>, BuildError> {
        if self.id_field.get().is_none() {
            let check = DocumentCheck::open(&self.store)?;
            let field = check.id_field().map(str::to_owned);
            let _ = self.id_field.set(field);
        }
        Ok(self.id_field.get().and_then(Option::as_deref))
    }

    /// Returns whether operations may only be performed in the order of their arrival.
    pub(super) fn keeps_order(&self) -> bool {
        self.id_field.get().is_some_and(Option::is_some)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts an error into a refusal for the client. The log gets the details.
    pub(super) fn refuse(&self, error: &BuildError) -> Refusal {
        let (index, causes) = (self.store.uri(), error.with_causes());
        tracing::warn!(target: "canter::intake", index, error = causes, "documents are not taken");
        self.refusal_of(error)
    }

    /// Converts an error into a refusal, and recognizes the one that follows from a deleted index.
    pub(crate) fn refusal_of(&self, error: &BuildError) -> Refusal {
        let may_be_gone = error.kind() == ErrorKind::Invalid;
        match may_be_gone && matches!(self.store.exists(), Ok(false)) {
            true => Refusal::Gone,
            false => Refusal::from(error),
        }
    }

    pub(crate) fn add(&self, part: Part, is_urgent: bool) -> Result<(), Refusal> {
        let mut state = self.lock();
        if state.is_stopping {
            // The next process publishes the contents of the spool.
            return match part.spooled {
                Some(_) => Ok(()),
                None => Err(Refusal::Stopping),
            };
        }
        state.waiting.add(part);
        state.waiting.is_urgent |= is_urgent;
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Returns the parts to publish next, after waiting for at most `patience`. Returns `Nothing`
    /// forever once the lane is stopping and empty.
    pub(crate) fn next(&self, patience: Duration) -> Next {
        let give_up = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let due = self.due(&state);
            if due.is_some_and(|due| due <= now) {
                return Next::Parts(state.waiting.take(self.settings.max_batch_bytes));
            }
            if state.is_stopping && state.waiting.parts.is_empty() {
                return Next::Nothing { is_over: true };
            }
            if give_up <= now {
                return Next::Nothing { is_over: false };
            }
            let until = due.map_or(give_up, |due| due.min(give_up));
            let waited = self.changed.wait_timeout(state, until - now);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns the time at which the waiting documents are due, if there are any.
    fn due(&self, state: &State) -> Option<Instant> {
        let waiting = &state.waiting;
        let since = waiting.since?;
        let is_enough = waiting.num_bytes >= self.settings.max_batch_bytes;
        let due = match is_enough || waiting.is_urgent || state.is_stopping {
            true => since,
            false => since + self.settings.commit_interval,
        };
        match state.is_stopping {
            true => Some(due),
            false => Some(state.not_before.map_or(due, |at| at.max(due))),
        }
    }

    /// Returns whether the object with this id is on its way through the spool to the committer.
    pub(crate) fn is_arriving(&self, id: &str) -> bool {
        self.lock().arriving.contains(id)
    }

    /// Records that the committer has taken the object.
    pub(crate) fn has_taken(&self, id: &str) {
        self.lock().arriving.remove(id);
    }

    /// Records a publication.
    pub(crate) fn has_published(&self) {
        let mut state = self.lock();
        state.num_commits += 1;
        state.not_before = None;
    }

    /// Queues durable parts that could not be published, to be retried after a pause. A stopping
    /// lane leaves them to the next process.
    pub(crate) fn try_again(&self, parts: Vec<Part>, pause: Duration) {
        let mut state = self.lock();
        if !state.is_stopping {
            state.waiting.put_back(parts, self.keeps_order());
            state.not_before = Some(Instant::now() + pause);
        }
    }
}

/// Next step of the thread.
pub(crate) enum Next {
    Parts(Vec<Part>),
    Nothing { is_over: bool },
}

//! Lane of one index: documents wait here until one thread publishes them.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use canter_index_builder::{
    BuildError, DocumentCheck, DocumentProblem, ErrorKind, IndexStore, LineIds, spool,
    withdraw_spooled,
};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use uuid::Uuid;

use crate::batch::{Part, Waiting};
use crate::commit::Committer;
use crate::otlp::LogsLimits;
use crate::refusal::Refusal;
use crate::room::Room;

/// Maximum age of the index config before it is read again.
const CHECK_AGE: Duration = Duration::from_secs(30);

/// Settings for batching and publishing.
#[derive(Clone, Debug)]
pub struct LaneSettings {
    /// How long documents wait for others.
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

/// Point at which a client is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// When its documents are stored durably. Searches find them about one interval later.
    Durable,
    /// When searches find its documents.
    Published,
    /// As `Published`, but without waiting for further documents.
    PublishedNow,
}

/// Entry for documents of one index.
pub struct Lane {
    shared: Arc<Shared>,
    check: RwLock<Option<(Arc<DocumentCheck>, Instant)>>,
    /// Permits for waiting bytes, shared by all lanes.
    room: Room,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Copy of documents that have room to wait.
pub struct Admitted {
    lines: Vec<u8>,
    /// Share of the memory for waiting documents.
    room: OwnedSemaphorePermit,
}

/// State shared by clients and the thread.
pub(crate) struct Shared {
    pub(crate) store: IndexStore,
    pub(crate) settings: LaneSettings,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Waiting,
    /// Ids of spool objects that this process is writing or has queued, and no other process left
    /// behind.
    arriving: BTreeSet<String>,
    /// Time before which nothing is published, because the store failed recently.
    not_before: Option<Instant>,
    is_stopping: bool,
    /// Number of publications, for the upkeep of the index.
    num_commits: u64,
}

/// Object that is being written to the spool.
struct Arriving<'a> {
    shared: &'a Shared,
    id: Option<String>,
}

impl<'a> Arriving<'a> {
    fn new(shared: &'a Shared, id: &str) -> Self {
        shared.lock().arriving.insert(id.to_owned());
        let id = Some(id.to_owned());
        Self { shared, id }
    }

    /// Marks the object as queued; the committer removes its id later.
    fn has_arrived(mut self) {
        self.id = None;
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.shared.lock().arriving.remove(id);
        }
    }
}

impl Lane {
    /// Starts the thread, which first publishes what an earlier process left in the spool. Waiting
    /// documents take `room`.
    pub fn start(store: IndexStore, settings: LaneSettings, room: Room) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::new(store, settings));
        let mut committer = Committer::new(Arc::clone(&shared));
        let thread = thread::Builder::new().name("canter-commit".into());
        let thread = thread.spawn(move || committer.run())?;
        Ok(Self {
            shared,
            check: RwLock::default(),
            room,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Returns the index's store.
    pub fn store(&self) -> &IndexStore {
        &self.shared.store
    }

    /// Returns the number of publications.
    pub fn num_commits(&self) -> u64 {
        self.shared.lock().num_commits
    }

    /// Returns the limits for an OpenTelemetry log request with a body of `body_len` bytes, within
    /// which its documents can be accepted.
    pub fn logs_limits(&self, body_len: usize, max_records: usize) -> LogsLimits {
        LogsLimits {
            max_records,
            max_document_bytes: self.shared.settings.max_document_bytes,
            max_bytes: self.room.max_bytes(),
            ..LogsLimits::of_body(body_len)
        }
    }

    /// Checks each document, and passes its problem, if any, to `told`, in order. Blocks: the index
    /// config may have to be read. Problems are not collected here, since half a million documents
    /// may each have their own.
    ///
    /// # Errors
    /// The config cannot be read; then `told` was not called.
    pub fn check_each<'d>(
        &self,
        documents: impl IntoIterator<Item = &'d [u8]>,
        told: &mut dyn FnMut(Option<DocumentProblem>),
    ) -> Result<(), Refusal> {
        let check = self.check().map_err(|error| self.shared.refuse(&error))?;
        let max = self.shared.settings.max_document_bytes;
        let mut scratch = Vec::new();
        for document in documents {
            told(match document.len() > max {
                true => Some(DocumentProblem {
                    reason: "line_too_long",
                    message: format!("the document has {} bytes, more than {max}", document.len()),
                }),
                false => check.problem(document, &mut scratch),
            });
        }
        Ok(())
    }

    fn check(&self) -> Result<Arc<DocumentCheck>, BuildError> {
        let known = self.check.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((check, read_at)) = &*known
            && read_at.elapsed() < CHECK_AGE
        {
            return Ok(Arc::clone(check));
        }
        drop(known);
        let check = Arc::new(DocumentCheck::open(&self.shared.store)?);
        let mut known = self.check.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Arc::clone(&check), Instant::now()));
        Ok(check)
    }

    /// Adds documents that have passed the check, and waits until they are as safe as `acknowledge`
    /// asks.
    ///
    /// Returns their ids, as searches will show them; `None` if there are no documents.
    ///
    /// # Errors
    /// The documents were not accepted. None of them is stored then, unless the store failed while
    /// they were being published.
    pub async fn add(
        &self,
        documents: &[&[u8]],
        acknowledge: Acknowledge,
    ) -> Result<Option<LineIds>, Refusal> {
        if documents.is_empty() {
            return match acknowledge {
                Acknowledge::Durable => Ok(None),
                _ => self.publish_now().await.map(|()| None),
            };
        }
        let admitted = self.admit(documents).await?;
        self.add_admitted(admitted, acknowledge).await
    }

    /// Waits for room, and copies documents that have passed the check. The caller need not keep
    /// them.
    ///
    /// # Errors
    /// There is no room.
    pub async fn admit(&self, documents: &[&[u8]]) -> Result<Admitted, Refusal> {
        let len: usize = documents.iter().map(|document| document.len() + 1).sum();
        let room = self.room.take(len).await?;
        let lines = beside_others(|| joined(documents, len));
        Ok(Admitted { lines, room })
    }

    /// Adds documents that have room, as [`Lane::add`] does.
    ///
    /// # Errors
    /// As [`Lane::add`].
    pub async fn add_admitted(
        &self,
        admitted: Admitted,
        acknowledge: Acknowledge,
    ) -> Result<Option<LineIds>, Refusal> {
        let Admitted { lines, room } = admitted;
        let room = Some(room);
        if acknowledge == Acknowledge::Durable {
            let id = Uuid::new_v4().simple().to_string();
            // If this function is cancelled, the id is dropped, and another process may take the
            // object.
            let arriving = Arriving::new(&self.shared, &id);
            let lines = self.spool(&id, lines).await?;
            let ids = Some(LineIds::of_spooled(&id, &lines));
            let part = Part {
                lines: Some(lines),
                spooled: Some(id),
                waiter: None,
                ids,
                room,
                left_out: BTreeSet::new(),
            };
            self.shared.add(part, false)?;
            arriving.has_arrived();
            return Ok(ids);
        }
        let (waiter, told) = oneshot::channel();
        let part = Part {
            lines: Some(lines),
            spooled: None,
            waiter: Some(waiter),
            ids: None,
            room,
            left_out: BTreeSet::new(),
        };
        self.shared
            .add(part, acknowledge == Acknowledge::PublishedNow)?;
        told.await.unwrap_or(Err(Refusal::Stopping))
    }

    /// Writes documents to the spool, and returns them.
    async fn spool(&self, id: &str, lines: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let (shared, id) = (Arc::clone(&self.shared), id.to_owned());
        let written = tokio::task::spawn_blocking(move || {
            let store = &shared.store;
            spool(store, &id, &lines).map_err(|error| shared.refuse(&error))?;
            // The check follows the write: an index deleted later takes the object with it, and in
            // one deleted before, the object would never be published.
            match store.exists() {
                Ok(true) => Ok(lines),
                Ok(false) => {
                    // Nothing would look for the object there.
                    if let Err(error) = withdraw_spooled(store, &id) {
                        let (index, error) = (store.uri(), error.with_causes());
                        tracing::warn!(target: "canter::intake", index, error, "documents that were not taken stay in the folder of a deleted index");
                    }
                    Err(Refusal::Gone)
                }
                Err(error) => Err(shared.refuse(&error)),
            }
        });
        match written.await {
            Ok(written) => written,
            Err(error) => Err(Refusal::Internal(error.to_string())),
        }
    }

    /// Waits until all documents added so far are searchable.
    ///
    /// # Errors
    /// They could not be published. Durable ones will be published later.
    pub async fn publish_now(&self) -> Result<(), Refusal> {
        let (waiter, told) = oneshot::channel();
        let nothing = Part {
            lines: None,
            spooled: None,
            waiter: Some(waiter),
            ids: None,
            room: None,
            left_out: BTreeSet::new(),
        };
        self.shared.add(nothing, true)?;
        let told = told.await.unwrap_or(Err(Refusal::Stopping));
        told.map(|_| ())
    }

    /// Stops accepting documents, and returns when all earlier ones are published or have failed.
    /// Blocks.
    pub fn stop(&self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // A panic has already been logged.
            let _ = thread.join();
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
    }
}

/// Runs CPU-bound work of milliseconds without blocking other tasks, if the runtime has several
/// threads.
fn beside_others<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Joins documents into lines of `len` bytes together. Line feeds between the tokens of a document
/// become spaces; its strings cannot contain any.
fn joined(documents: &[&[u8]], len: usize) -> Vec<u8> {
    let mut lines = Vec::with_capacity(len);
    for document in documents {
        let plain = document.iter().map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            byte => *byte,
        });
        lines.extend(plain);
        lines.push(b'\n');
    }
    lines
}

impl Shared {
    pub(crate) fn new(store: IndexStore, settings: LaneSettings) -> Self {
        Self {
            store,
            settings,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts an error into a refusal for the client. The log gets the details.
    fn refuse(&self, error: &BuildError) -> Refusal {
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
            state.waiting.put_back(parts);
            state.not_before = Some(Instant::now() + pause);
        }
    }
}

/// Next step of the thread.
pub(crate) enum Next {
    Parts(Vec<Part>),
    Nothing { is_over: bool },
}

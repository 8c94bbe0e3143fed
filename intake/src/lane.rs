//! One index's lane: what comes waits here, and one thread publishes it.

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

/// How long what an index's config says of documents holds, before it is read again.
const CHECK_AGE: Duration = Duration::from_secs(30);

/// How a lane gathers and publishes.
#[derive(Clone, Debug)]
pub struct LaneSettings {
    /// For so long documents wait for others.
    pub commit_interval: Duration,
    /// When so many bytes wait, they are published at once.
    pub max_batch_bytes: usize,
    /// Longest document.
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

/// When a client is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// When its documents are safe in the store. They can be found about an interval later.
    Durable,
    /// When they can be found.
    Published,
    /// The same, and nothing else is waited for.
    PublishedNow,
}

/// Takes documents for one index.
pub struct Lane {
    shared: Arc<Shared>,
    check: RwLock<Option<(Arc<DocumentCheck>, Instant)>>,
    /// A permit for each byte that may wait, of all lanes together.
    room: Room,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Documents that have found room, in a copy of their own.
pub struct Admitted {
    lines: Vec<u8>,
    /// Their share of what may wait.
    room: OwnedSemaphorePermit,
}

/// What clients and the thread share.
pub(crate) struct Shared {
    pub(crate) store: IndexStore,
    pub(crate) settings: LaneSettings,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Waiting,
    /// Ids of what is being written to the spool, or was and waits: it is not left there by another process.
    arriving: BTreeSet<String>,
    /// Nothing is published before: the store has not answered lately.
    not_before: Option<Instant>,
    is_stopping: bool,
    /// Counts publications, for whoever keeps the index in order.
    num_commits: u64,
}

/// Something that is being written to the spool.
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

    /// It waits to be published: who takes it says so.
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
    /// Starts the thread, which first publishes what an earlier process left in the spool. What waits
    /// takes `room`.
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

    /// The index's store.
    pub fn store(&self) -> &IndexStore {
        &self.shared.store
    }

    /// How often something was published.
    pub fn num_commits(&self) -> u64 {
        self.shared.lock().num_commits
    }

    /// How much may become of a request of OpenTelemetry's logs with a body of `body_len` bytes, so that its documents can be
    /// taken.
    pub fn logs_limits(&self, body_len: usize, max_records: usize) -> LogsLimits {
        LogsLimits {
            max_records,
            max_document_bytes: self.shared.settings.max_document_bytes,
            max_bytes: self.room.max_bytes(),
            ..LogsLimits::of_body(body_len)
        }
    }

    /// Says of each of these documents, in their order, what is wrong with it, if anything is. Blocks: the index config may
    /// have to be read. Nothing is kept here of what is said: half a million documents may be wrong, each in its own way.
    ///
    /// # Errors
    /// If the config cannot be read; then nothing was said.
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

    /// Takes documents, in which nothing is wrong, and answers when they are as safe as asked for.
    ///
    /// The answer says who they are, as searches will show it; nothing if there are none.
    ///
    /// # Errors
    /// If they are not taken: none of them then, unless the store broke off while they were published.
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

    /// Takes room for documents, in which nothing is wrong, and copies them once there is some. Whoever has them need not
    /// keep them any longer.
    ///
    /// # Errors
    /// If there is no room.
    pub async fn admit(&self, documents: &[&[u8]]) -> Result<Admitted, Refusal> {
        let len: usize = documents.iter().map(|document| document.len() + 1).sum();
        let room = self.room.take(len).await?;
        let lines = beside_others(|| joined(documents, len));
        Ok(Admitted { lines, room })
    }

    /// Takes documents that have found room, as [`Lane::add`] does.
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
            // Gone again if this breaks off: what was written then is anybody's.
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

    /// Writes documents to the spool, and gives them back.
    async fn spool(&self, id: &str, lines: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let (shared, id) = (Arc::clone(&self.shared), id.to_owned());
        let written = tokio::task::spawn_blocking(move || {
            let store = &shared.store;
            spool(store, &id, &lines).map_err(|error| shared.refuse(&error))?;
            // Afterwards: an index that is deleted later takes the object with it, and one that was deleted before never has it
            // published.
            match store.exists() {
                Ok(true) => Ok(lines),
                Ok(false) => {
                    // Nobody would look for it there.
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

    /// Answers when all that was taken until now can be found.
    ///
    /// # Errors
    /// If it could not be published. What was durable already will be.
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

    /// Takes nothing more, and returns when what was taken is published, or has failed to be. Blocks.
    pub fn stop(&self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // It has said why if it panicked.
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

/// Does what takes a core for milliseconds, on a thread that has nothing else to do where there are several.
fn beside_others<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Documents as lines, which have `len` bytes. What stands between the tokens of a document may have line feeds, its strings
/// may not.
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

    /// Why documents are not taken, of which the log has more than the client is told.
    fn refuse(&self, error: &BuildError) -> Refusal {
        let (index, causes) = (self.store.uri(), error.with_causes());
        tracing::warn!(target: "canter::intake", index, error = causes, "documents are not taken");
        self.refusal_of(error)
    }

    /// Why documents are not taken: an error that is one because the index was deleted says so.
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
            // What is in the spool is published by the next process.
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

    /// What is to be published next; waits for it, but not longer than `patience`. Nothing for ever once the lane is
    /// stopping and empty.
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

    /// When what waits is to be published, if anything does.
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

    /// Whether something with this id is on its way through the spool to the committer.
    pub(crate) fn is_arriving(&self, id: &str) -> bool {
        self.lock().arriving.contains(id)
    }

    /// Says that the committer has it.
    pub(crate) fn has_taken(&self, id: &str) {
        self.lock().arriving.remove(id);
    }

    /// Says that something was published.
    pub(crate) fn has_published(&self) {
        let mut state = self.lock();
        state.num_commits += 1;
        state.not_before = None;
    }

    /// Puts back what is durable and could not be published, to be tried again after a pause. A lane that is stopping leaves
    /// it to the next process.
    pub(crate) fn try_again(&self, parts: Vec<Part>, pause: Duration) {
        let mut state = self.lock();
        if !state.is_stopping {
            state.waiting.put_back(parts);
            state.not_before = Some(Instant::now() + pause);
        }
    }
}

/// What the thread is to do.
pub(crate) enum Next {
    Parts(Vec<Part>),
    Nothing { is_over: bool },
}

//! Lane of one index: documents wait here until one thread publishes them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use canter_index_builder::{
    BuildError, DocumentCheck, DocumentProblem, IndexStore, LineIds, spool, withdraw_spooled,
};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::arrival::next_id;
use super::batch::{Part, Taken};
use super::commit::Committer;
use super::ids::{Condition, Operation, written};
use super::queue::{LaneSettings, Shared};
use super::room::Room;
use crate::mappings::{Arisen, Arising};
use crate::otlp::LogsLimits;
use crate::refusal::Refusal;

/// Maximum age of the index config before it is read again.
const CHECK_AGE: Duration = Duration::from_secs(30);

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

/// What is looked at in documents before they are added, by the config of their index.
struct Checks {
    documents: DocumentCheck,
    arising: Option<Arising>,
}

/// Entry for documents of one index.
pub struct Lane {
    shared: Arc<Shared>,
    checks: RwLock<Option<(Arc<Checks>, Instant)>>,
    /// Permits for waiting bytes, shared by all lanes.
    room: Room,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Copy of documents that have room to wait.
pub struct Admitted {
    lines: Vec<u8>,
    conditions: BTreeMap<u64, Condition>,
    /// Share of the memory for waiting documents.
    room: OwnedSemaphorePermit,
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
            checks: RwLock::default(),
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
        let checks = self.checks().map_err(|error| self.shared.refuse(&error))?;
        let check = &checks.documents;
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

    fn checks(&self) -> Result<Arc<Checks>, BuildError> {
        let known = self.checks.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((checks, read_at)) = &*known
            && read_at.elapsed() < CHECK_AGE
        {
            return Ok(Arc::clone(checks));
        }
        drop(known);
        let config = self.shared.store.load_config()?;
        let checks = Arc::new(Checks {
            documents: DocumentCheck::of(&config)?,
            arising: Arising::of_config(&config),
        });
        let mut known = self.checks.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Arc::clone(&checks), Instant::now()));
        Ok(checks)
    }

    /// Returns whether documents can add fields to the mapping of the index. Blocks: the index config may have to be read.
    ///
    /// # Errors
    /// The config cannot be read.
    pub fn has_arising(&self) -> Result<bool, Refusal> {
        let checks = self.checks().map_err(|error| self.shared.refuse(&error))?;
        Ok(checks.arising.is_some())
    }

    /// Returns the fields that documents add to the mapping of the index, and the field of each that it may not have; `None`
    /// if all fields that are not mapped are indexed alike. Blocks: the index config may have to be read.
    ///
    /// # Errors
    /// The config cannot be read.
    pub fn arising<'d>(
        &self,
        documents: impl IntoIterator<Item = Option<&'d [u8]>>,
    ) -> Result<Option<Arisen>, Refusal> {
        let checks = self.checks().map_err(|error| self.shared.refuse(&error))?;
        let arising = checks.arising.as_ref();
        Ok(arising.map(|arising| arising.of_documents(documents)))
    }

    /// Returns the field that identifies documents, if the index has one. Blocks: the index config may have to be read.
    ///
    /// # Errors
    /// The config cannot be read.
    pub fn id_field(&self) -> Result<Option<String>, Refusal> {
        let checks = self.checks().map_err(|error| self.shared.refuse(&error))?;
        Ok(checks.documents.id_field().map(str::to_owned))
    }

    /// Returns whether documents of the index have a field for their routing. Blocks: the index config may have to be read.
    ///
    /// # Errors
    /// The config cannot be read.
    pub fn keeps_routing(&self) -> Result<bool, Refusal> {
        let checks = self.checks().map_err(|error| self.shared.refuse(&error))?;
        Ok(checks.documents.keeps_routing())
    }

    /// Returns whether searches show documents of the index with all of their values. Blocks: the index config may have to
    /// be read.
    ///
    /// # Errors
    /// The config cannot be read.
    pub fn shows_whole_documents(&self) -> Result<bool, Refusal> {
        let checks = self.checks().map_err(|error| self.shared.refuse(&error))?;
        Ok(checks.documents.shows_whole_documents())
    }

    /// Adds documents that have passed the check, and waits until they are as safe as `acknowledge`
    /// asks.
    ///
    /// # Errors
    /// The documents were not accepted. None of them is stored then, unless the store failed while
    /// they were being published.
    pub async fn add(
        &self,
        documents: &[&[u8]],
        acknowledge: Acknowledge,
    ) -> Result<Taken, Refusal> {
        if documents.is_empty() {
            return match acknowledge {
                Acknowledge::Durable => Ok(Taken::default()),
                _ => self.publish_now().await.map(|()| Taken::default()),
            };
        }
        let admitted = self.admit(documents).await?;
        self.add_admitted(admitted, acknowledge).await
    }

    /// Performs operations whose documents have passed the check, as [`Lane::add`] does. `id_field` is that of the index.
    ///
    /// # Errors
    /// As [`Lane::add`]; `Invalid` for a condition if `acknowledge` is `Durable`, since whether it holds is known later.
    pub async fn perform(
        &self,
        operations: &[Operation<'_>],
        id_field: Option<&str>,
        acknowledge: Acknowledge,
    ) -> Result<Taken, Refusal> {
        let conditions = (0..).zip(operations);
        let conditions =
            conditions.filter_map(|(line, operation)| Some((line, operation.condition?)));
        let conditions: BTreeMap<u64, Condition> = conditions.collect();
        if acknowledge == Acknowledge::Durable && !conditions.is_empty() {
            return Err(Refusal::Invalid(
                "whether a condition holds is known when documents are published: leave refresh=false out".to_owned(),
            ));
        }
        let ids = operations.iter().filter_map(|operation| operation.id);
        let routings = operations.iter().filter_map(|operation| operation.routing);
        let documents = operations.iter().filter_map(|operation| operation.document);
        // An id takes its field's name, and escapes.
        let field = id_field.map_or(0, str::len) + 32;
        let len = ids
            .chain(routings)
            .map(|text| 6 * text.len() + field)
            .sum::<usize>()
            + documents.map(|document| document.len() + 2).sum::<usize>();
        let room = self.room.take(len).await?;
        let lines = beside_others(|| written(operations, id_field));
        let admitted = Admitted {
            lines,
            conditions,
            room,
        };
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
        let documents = documents.iter().map(|document| Operation {
            id: None,
            document: Some(document),
            routing: None,
            condition: None,
        });
        let documents: Vec<Operation<'_>> = documents.collect();
        let lines = beside_others(|| written(&documents, None));
        Ok(Admitted {
            lines,
            conditions: BTreeMap::new(),
            room,
        })
    }

    /// Adds documents that have room, as [`Lane::add`] does.
    ///
    /// # Errors
    /// As [`Lane::add`].
    pub async fn add_admitted(
        &self,
        admitted: Admitted,
        acknowledge: Acknowledge,
    ) -> Result<Taken, Refusal> {
        let Admitted {
            lines,
            conditions,
            room,
        } = admitted;
        let room = Some(room);
        if acknowledge == Acknowledge::Durable {
            let id = next_id();
            // If this function is cancelled, the id is dropped, and another process may take the
            // object.
            let arriving = Arriving::new(&self.shared, &id);
            let lines = self.spool(&id, lines).await?;
            let ids = Some(LineIds::of_spooled(&id, &lines));
            let part = Part {
                lines: Some(lines),
                spooled: Some(id),
                ids,
                room,
                ..Part::empty()
            };
            self.shared.add(part, false)?;
            arriving.has_arrived();
            return Ok(Taken {
                ids,
                outcomes: Vec::new(),
            });
        }
        let (waiter, told) = oneshot::channel();
        let part = Part {
            lines: Some(lines),
            waiter: Some(waiter),
            room,
            conditions,
            ..Part::empty()
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
            waiter: Some(waiter),
            ..Part::empty()
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

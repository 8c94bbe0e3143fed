//! The writable indexes, and the limits of their requests.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use axum::http::StatusCode;
use canter_index_builder::IndexStore;
use canter_intake::{FailingIndex, Lane, LaneSettings, Room, Upkeep, UpkeepSettings};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::finder::FindDocuments;
use crate::error::ServerError;
use crate::http::Bodies;
use crate::requests::Problem;

/// Number of bodies of maximum size that may be held at once.
const BODIES_AT_ONCE: u64 = 4;

/// Maximum number of requests that are parsed at once. Parsed bodies may be many times as large, and are in memory
/// before they count towards the waiting documents.
const READ_AT_ONCE: usize = 2;

/// Settings of a writable server.
#[derive(Clone, Debug)]
pub struct WritingSettings {
    /// Time that documents wait for others to be published with them.
    pub commit_interval: Duration,
    /// Maximum size of a write's body, uncompressed.
    pub max_write_bytes: u64,
    /// Maximum number of documents or actions of one write.
    pub max_write_items: usize,
    /// Maximum size of the documents waiting to be published, of all indexes together.
    pub max_pending_bytes: usize,
    /// Index for OpenTelemetry logs without a header that names one.
    pub otel_index: Option<String>,
    /// True if the server merges splits, and removes merged ones.
    pub upkeep: bool,
    /// Time limit for the body of a request.
    pub body_timeout: Duration,
}

/// Maximum time that a write waits for room. Shippers wait longer for an answer.
const ROOM_PATIENCE: Duration = Duration::from_secs(10);

/// Everything that writes need.
pub struct Writers {
    /// Writers by index name; indexes may be added and removed.
    writers: RwLock<BTreeMap<String, Writer>>,
    /// Finds the documents to delete.
    pub(crate) finder: Arc<dyn FindDocuments>,
    pub(crate) otel_index: Option<String>,
    bodies: Bodies,
    /// Maximum number of documents or actions in one request.
    pub(crate) max_items: usize,
    /// Permits for requests that are parsed.
    reading: Semaphore,
    settings: LaneSettings,
    /// Permits for each waiting byte, of all indexes together.
    room: Room,
    upkeep: Option<Upkeep>,
}

/// Writer of one index.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) lane: Arc<Lane>,
    /// Location of the index.
    pub(crate) uri: String,
}

impl Writers {
    /// Opens the indexes and starts their threads.
    ///
    /// # Errors
    /// If an index cannot be opened for writing.
    pub fn open(
        settings: &WritingSettings,
        indexes: &[(String, String)],
        finder: Arc<dyn FindDocuments>,
    ) -> Result<Self, ServerError> {
        let upkeep = match settings.upkeep {
            true => Some(Upkeep::start(UpkeepSettings::default())?),
            false => None,
        };
        let writers = Self {
            writers: RwLock::default(),
            finder,
            otel_index: settings.otel_index.clone(),
            bodies: Bodies::new(
                settings.max_write_bytes,
                settings.body_timeout,
                settings.max_write_bytes.saturating_mul(BODIES_AT_ONCE),
            ),
            max_items: settings.max_write_items,
            reading: Semaphore::new(READ_AT_ONCE),
            settings: LaneSettings {
                commit_interval: settings.commit_interval,
                max_document_bytes: usize::try_from(settings.max_write_bytes).unwrap_or(usize::MAX),
                ..LaneSettings::default()
            },
            room: Room::new(settings.max_pending_bytes, ROOM_PATIENCE),
            upkeep,
        };
        for (name, uri) in indexes {
            let store = IndexStore::open(uri)?;
            // Now, instead of at the first document.
            store.load_config()?;
            // Messages to clients use the name that they know.
            let store = store.called(name.as_str());
            writers.add(name, uri, store)?;
        }
        Ok(writers)
    }

    /// Adds the writer of another index.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn add(&self, name: &str, uri: &str, store: IndexStore) -> Result<(), ServerError> {
        let lane = Lane::start(store, self.settings.clone(), self.room.clone())?;
        let lane = Arc::new(lane);
        if let Some(upkeep) = &self.upkeep {
            upkeep.add(Arc::clone(&lane));
        }
        let writer = Writer {
            lane,
            uri: uri.to_owned(),
        };
        let mut writers = self.writers.write().unwrap_or_else(PoisonError::into_inner);
        writers.insert(name.to_owned(), writer);
        Ok(())
    }

    /// Removes the writer of an index. Waiting documents are published first, if the index still exists. Blocks.
    pub(crate) fn remove(&self, name: &str) {
        let mut writers = self.writers.write().unwrap_or_else(PoisonError::into_inner);
        let removed = writers.remove(name);
        drop(writers);
        if let Some(Writer { lane, .. }) = removed {
            if let Some(upkeep) = &self.upkeep {
                upkeep.remove(lane.store().uri());
            }
            lane.stop();
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Writer>> {
        self.writers.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of all indexes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// Returns the writer of an index.
    pub(crate) fn writer(&self, name: &str) -> Option<Writer> {
        self.read().get(name).cloned()
    }

    /// Returns a turn to parse a request: to be held while a core works on it, and until data that is larger than the
    /// request has found room.
    ///
    /// # Errors
    /// If no turn is free for too long.
    pub(crate) async fn turn_to_read(&self) -> Result<SemaphorePermit<'_>, Problem> {
        match timeout(ROOM_PATIENCE, self.reading.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Problem {
                detail: None,
                status: StatusCode::TOO_MANY_REQUESTS,
                kind: "es_rejected_execution_exception",
                reason:
                    "the documents of other requests are read, or wait for room: send again later"
                        .to_owned(),
            }),
        }
    }

    /// Returns the number of upkeep failures since the start, and the indexes for which it currently fails, by name.
    pub(crate) fn upkeep(&self) -> (u64, Vec<(String, FailingIndex)>) {
        let Some(upkeep) = &self.upkeep else {
            return Default::default();
        };
        let failing = upkeep.failing();
        let writers = self.read();
        let named = writers.iter().filter_map(|(name, writer)| {
            let uri = writer.lane.store().uri();
            let failing = failing.iter().find(|failing| failing.uri == uri)?;
            Some((name.clone(), failing.clone()))
        });
        (upkeep.num_failures(), named.collect())
    }

    /// Returns the limits on bodies of writes.
    pub(crate) fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Publishes accepted documents. Blocks.
    pub(crate) fn stop(&self) {
        let writers: Vec<Writer> = self.read().values().cloned().collect();
        for writer in writers {
            writer.lane.stop();
        }
    }
}

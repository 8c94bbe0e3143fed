//! The indexes that are written to, and what each request may take of the server.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use anyhow::Result;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use canter_access::matches_any;
use canter_index_builder::IndexStore;
use canter_intake::{FailingIndex, Lane, LaneSettings, Room, Upkeep, UpkeepSettings};
use canter_runtime::{Caller, Engine};
use clap::Args;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::super::body::Bodies;
use super::super::managing::Root;
use super::super::refusal::Api;
use super::problem::Problem;
use super::{Write, bulk, delete, lines, logs};
use crate::amounts::{parse_bytes, parse_some_duration};

/// Bodies that are read at once, of the longest.
const BODIES_AT_ONCE: u64 = 4;

/// Requests that are read at once. What is made of their bodies may be many times as much, and is in memory before it has found
/// room among what waits.
const READ_AT_ONCE: usize = 2;

/// What the writable server is told on the command line.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WritingArgs {
    /// Accept documents, too, through Elasticsearch's `_bulk`, `_doc` and `_delete_by_query`, Quickwit's `ingest`,
    /// and OpenTelemetry's `/v1/logs`. With tokens, each token states whether it may write and delete.
    #[arg(long)]
    pub(in crate::commands::serve) writable: bool,

    /// How long documents wait for others to be published with them. Each publication writes a split and a manifest.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_some_duration, requires = "writable")]
    commit_interval: Duration,

    /// Maximum size of a write's body, uncompressed; a larger one is answered 413.
    #[arg(long, value_name = "BYTES", default_value = "16MiB", value_parser = parse_bytes, requires = "writable")]
    max_write_bytes: u64,

    /// Maximum number of documents or actions of one write; more are answered 413.
    #[arg(
        long,
        value_name = "N",
        default_value = "500000",
        requires = "writable"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    max_write_items: u32,

    /// Maximum size of the documents that wait to be published, of all indexes together. Further writes wait for ten
    /// seconds, and are then answered 429.
    #[arg(long, value_name = "BYTES", default_value = "128MiB", value_parser = parse_bytes, requires = "writable")]
    max_pending_bytes: u64,

    /// Index for OpenTelemetry logs without a `qw-otel-logs-index` header.
    #[arg(long, value_name = "NAME", requires = "writable")]
    otel_index: Option<String>,

    /// Origin whose web pages may also write from a browser, such as `https://example.org`. Pages of this server may
    /// always write; writes of all other pages are refused. May be given several times.
    #[arg(
        long = "cors-write-origin",
        value_name = "ORIGIN",
        requires = "writable"
    )]
    pub(in crate::commands::serve) cors_write_origins: Vec<String>,

    /// Leave merging and the removal of merged splits to `canter index merge` and `canter index gc`.
    #[arg(long, requires = "writable")]
    no_upkeep: bool,
}

/// For so long a write waits for others to be published, if there is no room. Shippers wait longer for an answer.
const ROOM_PATIENCE: Duration = Duration::from_secs(10);

/// Everything that writes need.
pub(in crate::commands::serve) struct Writers {
    /// By the names of their indexes, which may come and go.
    writers: RwLock<BTreeMap<String, Writer>>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) otel_index: Option<String>,
    bodies: Bodies,
    /// Most documents or actions of one request.
    pub(super) max_items: usize,
    /// Permits for requests that are read.
    reading: Semaphore,
    settings: LaneSettings,
    /// A permit for each byte that may wait, of all indexes together.
    room: Room,
    upkeep: Option<Upkeep>,
}

/// What writes to one index.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) lane: Arc<Lane>,
    /// Where it is.
    pub(super) uri: String,
}

/// A request as writers see it.
pub(in crate::commands::serve) struct Request<'r> {
    pub(in crate::commands::serve) api: Api,
    pub(in crate::commands::serve) query: &'r str,
    pub(in crate::commands::serve) headers: &'r HeaderMap,
    /// The longest body that such a request may have.
    pub(in crate::commands::serve) max_body_bytes: usize,
    /// Who writes.
    pub(in crate::commands::serve) caller: &'r Caller,
    /// Patterns of the names that the sender may use; all if absent.
    pub(in crate::commands::serve) allowed: Option<&'r [String]>,
    /// Where new indexes are made, if they may be.
    pub(in crate::commands::serve) root: Option<&'r Arc<Root>>,
}

impl Request<'_> {
    /// Whether the sender may know of an index of that name.
    pub(in crate::commands::serve) fn allows(&self, name: &str) -> bool {
        self.allowed
            .is_none_or(|patterns| matches_any(patterns, name))
    }
}

impl Writers {
    /// Opens the indexes and starts their threads.
    ///
    /// # Errors
    /// If an index cannot be opened for writing.
    pub(in crate::commands::serve) fn open(
        args: &WritingArgs,
        indexes: &[(String, String)],
        engine: Arc<dyn Engine>,
        body_timeout: Duration,
    ) -> Result<Self> {
        let max_pending = usize::try_from(args.max_pending_bytes).unwrap_or(usize::MAX);
        let upkeep = match args.no_upkeep {
            true => None,
            false => Some(Upkeep::start(UpkeepSettings::default())?),
        };
        let writers = Self {
            writers: RwLock::default(),
            engine,
            otel_index: args.otel_index.clone(),
            bodies: Bodies::new(
                args.max_write_bytes,
                body_timeout,
                args.max_write_bytes.saturating_mul(BODIES_AT_ONCE),
            ),
            max_items: args.max_write_items as usize,
            reading: Semaphore::new(READ_AT_ONCE),
            settings: LaneSettings {
                commit_interval: args.commit_interval,
                max_document_bytes: usize::try_from(args.max_write_bytes).unwrap_or(usize::MAX),
                ..LaneSettings::default()
            },
            room: Room::new(max_pending, ROOM_PATIENCE),
            upkeep,
        };
        for (name, uri) in indexes {
            let store = IndexStore::open(uri)?;
            // Better now than at the first document.
            store.load_config()?;
            // Clients are told of it by the name that they know.
            let store = store.called(name.as_str());
            writers.add(name, uri, store)?;
        }
        Ok(writers)
    }

    /// Writes to one more index from now on.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub(in crate::commands::serve) fn add(
        &self,
        name: &str,
        uri: &str,
        store: IndexStore,
    ) -> Result<()> {
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

    /// Writes to an index no more. What waits is published first, if the index is still there. Blocks.
    pub(in crate::commands::serve) fn remove(&self, name: &str) {
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

    /// The names of all indexes.
    pub(super) fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// What writes to an index, if the sender may know of it.
    pub(super) fn writer(&self, name: &str, request: &Request<'_>) -> Option<Writer> {
        let writer = self.read().get(name).cloned();
        writer.filter(|_| request.allows(name))
    }

    /// A turn to read what was sent: to be held while a core works on it, and by what makes more of it than was sent, until
    /// that has found room.
    ///
    /// # Errors
    /// If others have it for too long.
    pub(super) async fn turn_to_read(&self) -> Result<SemaphorePermit<'_>, Problem> {
        match timeout(ROOM_PATIENCE, self.reading.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Problem {
                status: StatusCode::TOO_MANY_REQUESTS,
                kind: "es_rejected_execution_exception",
                reason:
                    "the documents of other requests are read, or wait for room: send again later"
                        .to_owned(),
            }),
        }
    }

    /// How often upkeep has failed since the start, and the indexes for which it fails now, by name.
    pub(in crate::commands::serve) fn upkeep(&self) -> (u64, Vec<(String, FailingIndex)>) {
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

    /// What reads the bodies of requests that write.
    pub(in crate::commands::serve) fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Does what a request asks for.
    pub(in crate::commands::serve) async fn answer(
        &self,
        write: Write<'_>,
        request: Request<'_>,
        body: Body,
    ) -> Response {
        let headers = request.headers;
        let body = match self
            .bodies
            .read_up_to(headers, body, request.max_body_bytes)
            .await
        {
            Ok(body) => body,
            Err(unread) => return self.bodies.answer_to(&unread, request.api),
        };
        let bytes = body.bytes.as_slice();
        match write {
            Write::Bulk(index) => bulk::bulk(self, &request, index, body).await,
            Write::Document(index, id) => bulk::document(self, &request, index, id, bytes).await,
            Write::Refresh(indexes) => bulk::refresh(self, &request, indexes).await,
            Write::Lines(index) => lines::ingest(self, &request, index, bytes).await,
            Write::Logs => logs::logs(self, &request, bytes).await,
            Write::DeleteByQuery(indexes) => delete::delete(self, &request, indexes, bytes).await,
        }
    }

    /// Publishes what was taken. Blocks.
    pub(in crate::commands::serve) fn stop(&self) {
        let writers: Vec<Writer> = self.read().values().cloned().collect();
        for writer in writers {
            writer.lane.stop();
        }
    }
}

/// The status that says what became of documents that were not taken.
pub(super) fn status_of(refusal: &canter_intake::Refusal) -> StatusCode {
    use canter_intake::Refusal;
    match refusal {
        Refusal::Busy { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::Stopping | Refusal::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Gone => StatusCode::NOT_FOUND,
        Refusal::Invalid(_) => StatusCode::BAD_REQUEST,
        Refusal::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

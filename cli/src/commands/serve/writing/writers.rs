//! The indexes that are written to, and what each request may take of the server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use canter_index_builder::IndexStore;
use canter_intake::{Lane, LaneSettings, Upkeep, UpkeepSettings};
use canter_runtime::{Caller, Engine};
use clap::Args;
use tokio::sync::Semaphore;

use super::super::body::Bodies;
use super::super::refusal::Api;
use super::{Write, bulk, delete, lines, logs};
use crate::amounts::{parse_bytes, parse_some_duration};

/// Bodies that are read at once, of the longest.
const BODIES_AT_ONCE: u64 = 4;

/// What the writable server is told on the command line.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WritingArgs {
    /// Take documents, too: Elasticsearch's `_bulk`, `_doc` and `_delete_by_query`, Quickwit's `ingest`, and OpenTelemetry's
    /// `/v1/logs`. With tokens, each says whether it may write and delete.
    #[arg(long)]
    pub(in crate::commands::serve) writable: bool,

    /// For so long documents wait for others, to be published with them. Each publication writes a split and a manifest.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_some_duration, requires = "writable")]
    commit_interval: Duration,

    /// Longest body of a write, uncompressed; a longer one is answered 413.
    #[arg(long, value_name = "BYTES", default_value = "16MiB", value_parser = parse_bytes, requires = "writable")]
    max_write_bytes: u64,

    /// Most bytes of documents that wait to be published, of all indexes together; those beyond are answered 429.
    #[arg(long, value_name = "BYTES", default_value = "128MiB", value_parser = parse_bytes, requires = "writable")]
    max_pending_bytes: u64,

    /// The index that OpenTelemetry's logs go to, if they do not name one with a `qw-otel-logs-index` header.
    #[arg(long, value_name = "NAME", requires = "writable")]
    otel_index: Option<String>,

    /// Leave merging and removing what was merged to `canter index merge` and `canter index gc`.
    #[arg(long, requires = "writable")]
    no_upkeep: bool,
}

/// Everything that writes need.
pub(in crate::commands::serve) struct Writers {
    pub(super) lanes: BTreeMap<String, Arc<Lane>>,
    /// Where each index is.
    pub(super) uris: BTreeMap<String, String>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) otel_index: Option<String>,
    bodies: Bodies,
    _upkeep: Option<Upkeep>,
}

/// A request as writers see it.
pub(in crate::commands::serve) struct Request<'r> {
    pub(in crate::commands::serve) api: Api,
    pub(in crate::commands::serve) query: &'r str,
    pub(in crate::commands::serve) headers: &'r HeaderMap,
    /// Who writes.
    pub(in crate::commands::serve) caller: &'r Caller,
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
        let max_pending = max_pending.min(Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(max_pending));
        let settings = LaneSettings {
            commit_interval: args.commit_interval,
            max_document_bytes: usize::try_from(args.max_write_bytes).unwrap_or(usize::MAX),
            ..LaneSettings::default()
        };
        let upkeep = match args.no_upkeep {
            true => None,
            false => Some(Upkeep::start(UpkeepSettings::default())?),
        };
        let mut lanes = BTreeMap::new();
        for (name, uri) in indexes {
            let store = IndexStore::open(uri)?;
            // Better now than at the first document.
            store.load_config()?;
            let room = Arc::clone(&room);
            let lane = Arc::new(Lane::start(store, settings.clone(), room, max_pending)?);
            if let Some(upkeep) = &upkeep {
                upkeep.add(Arc::clone(&lane));
            }
            lanes.insert(name.clone(), lane);
        }
        Ok(Self {
            lanes,
            uris: indexes.iter().cloned().collect(),
            engine,
            otel_index: args.otel_index.clone(),
            bodies: Bodies::new(
                args.max_write_bytes,
                body_timeout,
                args.max_write_bytes.saturating_mul(BODIES_AT_ONCE),
            ),
            _upkeep: upkeep,
        })
    }

    /// Does what a request asks for.
    pub(in crate::commands::serve) async fn answer(
        &self,
        write: Write<'_>,
        request: Request<'_>,
        body: Body,
    ) -> Response {
        let body = match self.bodies.read(body).await {
            Ok(body) => body,
            Err(unread) => return self.bodies.answer_to(&unread, request.api),
        };
        let bytes = body.bytes.as_slice();
        match write {
            Write::Bulk(index) => bulk::bulk(self, &request, index, bytes).await,
            Write::Document(index, id) => bulk::document(self, &request, index, id, bytes).await,
            Write::Refresh(indexes) => bulk::refresh(self, &request, indexes).await,
            Write::Lines(index) => lines::ingest(self, &request, index, bytes).await,
            Write::Logs => logs::logs(self, &request, bytes).await,
            Write::DeleteByQuery(indexes) => delete::delete(self, &request, indexes, bytes).await,
        }
    }

    /// The lane of an index, if the caller may know of it.
    pub(super) fn lane(&self, name: &str, caller: &Caller) -> Option<&Arc<Lane>> {
        let may_write = caller
            .indexes
            .as_ref()
            .is_none_or(|names| names.iter().any(|own| own == name));
        self.lanes.get(name).filter(|_| may_write)
    }

    /// Publishes what was taken. Blocks.
    pub(in crate::commands::serve) fn stop(&self) {
        for lane in self.lanes.values() {
            lane.stop();
        }
    }
}

/// The status that says what became of documents that were not taken.
pub(super) fn status_of(refusal: &canter_intake::Refusal) -> StatusCode {
    use canter_intake::Refusal;
    match refusal {
        Refusal::Busy { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Stopping | Refusal::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Invalid(_) => StatusCode::BAD_REQUEST,
        Refusal::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

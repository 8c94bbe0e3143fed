//! Arguments of the writable server.

use std::time::Duration;

use canter_server::WritingSettings;
use clap::Args;

use crate::args::{parse_bytes, parse_some_duration};

/// Options of `canter serve --writable`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WritingArgs {
    /// Accept documents, too, through Elasticsearch's `_bulk`, `_doc` and `_delete_by_query`, Quickwit's `ingest`,
    /// and OpenTelemetry's `/v1/logs`. With tokens, each token states whether it may write and delete.
    #[arg(long)]
    pub(super) writable: bool,

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
    pub(super) cors_write_origins: Vec<String>,

    /// Leave merging and the removal of merged splits to `canter index merge` and `canter index gc`.
    #[arg(long, requires = "writable")]
    no_upkeep: bool,
}

impl WritingArgs {
    /// Returns the settings for writes, if the server is writable.
    pub(super) fn settings(&self, body_timeout: Duration) -> Option<WritingSettings> {
        let len = |num_bytes: u64| usize::try_from(num_bytes).unwrap_or(usize::MAX);
        self.writable.then(|| WritingSettings {
            commit_interval: self.commit_interval,
            max_write_bytes: self.max_write_bytes,
            max_write_items: self.max_write_items as usize,
            max_pending_bytes: len(self.max_pending_bytes),
            otel_index: self.otel_index.clone(),
            upkeep: !self.no_upkeep,
            body_timeout,
        })
    }
}

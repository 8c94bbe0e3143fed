//! Options of an ingest, and every limit with its default.

use crate::error::BuildError;
use crate::index::publisher::IdBatch;
use crate::transform::Transform;
use canter_formats::{Format, Zone};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

/// Options of an ingest. `IngestOptions::default()` suits most machines; peak memory is about `1 +
/// num_indexers` times that of one split (see `max_split_raw_num_bytes`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestOptions {
    /// Number of documents at which a split ends. Defaults to
    /// `indexing_settings.split_num_docs_target` of the index config.
    pub split_num_docs_target: Option<u64>,
    /// Maximum number of input bytes of a split's documents (128 MiB). This bounds memory: with one
    /// indexer the peak is about two bytes for each, and less for each with more indexers.
    pub max_split_raw_num_bytes: u64,
    /// Maximum memory of a split's terms, postings and columns before they are written (1 GiB): documents with many
    /// distinct words take many times their own size. It may be exceeded by one document.
    pub max_segment_num_bytes: u64,
    /// The format of every source; detected from their beginnings by default.
    pub format: Option<Format>,
    /// Column names of CSV, TSV and flow logs whose first line does not have them.
    pub columns: Option<Vec<String>>,
    /// The byte between values of tables. If set, a source is a table unless [`IngestOptions::format`] is set too.
    /// Detected from the first records by default.
    pub delimiter: Option<u8>,
    /// Maximum expansion of compressed sources (2,000), beyond 1 GiB. A longer source breaks off there.
    pub max_expansion: u64,
    /// The year of times without one (RFC 3164). Defaults to the latest year in which they are at most a day after
    /// the last change of their file, or after [`IngestOptions::ingested_at_ms`] if that is unknown.
    pub year: Option<u16>,
    /// The zone of times without one. Defaults to `ingest_settings.time_zone` of the index config, or else UTC.
    pub zone: Option<Zone>,
    /// A regular expression for the first line of a record, where records have several lines. Defaults
    /// to `ingest_settings.multiline_start` of the index config.
    pub multiline_start: Option<String>,
    /// True to take the last record of a file even if nothing ends it. Otherwise it waits, since it may still be
    /// written.
    pub is_final: bool,
    /// A program that transforms every document before the doc mapping.
    pub transform: Option<Transform>,
    /// Maximum length of a line or record (1 MiB, which stands for 16 MiB of JSON; 64 MiB for a batch of OTLP). A longer
    /// one is rejected, and never held completely.
    pub max_line_num_bytes: usize,
    /// Maximum size of decompressed pages of a Parquet file in memory: for each column its dictionary and a page, and
    /// what a batch of up to 1,024 rows reads beyond (512 MiB). A page may take a quarter of it. A file that needs more
    /// breaks off there.
    pub max_parquet_num_bytes: u64,
    /// File to which rejected lines are appended, one JSON object per line. It is created when the first
    /// line is rejected. Without it they are only counted.
    pub rejects_path: Option<PathBuf>,
    /// Maximum size of the rejects file in bytes, including earlier contents (256 MiB). The last line of a full file
    /// says so, and the report counts the rejects that it lacks.
    pub max_rejects_num_bytes: u64,
    /// Maximum number of rejected lines; with more, the ingest fails, and nothing is published (no limit).
    pub max_rejects: Option<u64>,
    /// The current time in milliseconds since 1970, for the ledger of sources: older entries can be forgotten.
    pub ingested_at_ms: u64,
    /// Number of input bytes between checkpoints, which record uploaded splits before the publication, so that the
    /// same ingest continues there after an interruption (256 MiB).
    pub checkpoint_raw_num_bytes: u64,
    /// Changes of documents by their ids, which the caller resolved before. Without it, new documents replace those with the
    /// same ids.
    pub ids: Option<Arc<IdBatch>>,
    /// Number of threads that parse documents (half of the cores).
    pub num_parsers: usize,
    /// Number of threads that build splits, each with one split in memory (one, or two from four
    /// cores on).
    pub num_indexers: usize,
}

impl Default for IngestOptions {
    fn default() -> IngestOptions {
        let num_cores = thread::available_parallelism().map_or(1, usize::from);
        IngestOptions {
            split_num_docs_target: None,
            max_split_raw_num_bytes: 128 << 20,
            max_segment_num_bytes: 1 << 30,
            format: None,
            columns: None,
            delimiter: None,
            max_expansion: 2_000,
            year: None,
            zone: None,
            multiline_start: None,
            is_final: false,
            transform: None,
            max_line_num_bytes: MAX_LINE_NUM_BYTES,
            max_parquet_num_bytes: 512 << 20,
            rejects_path: None,
            max_rejects_num_bytes: 256 << 20,
            max_rejects: None,
            ingested_at_ms: 0,
            checkpoint_raw_num_bytes: 256 << 20,
            ids: None,
            num_parsers: (num_cores / 2).clamp(1, 8),
            num_indexers: (num_cores / 2).clamp(1, 2),
        }
    }
}

/// tantivy counts the documents of a segment in 31 bits.
const MAX_SPLIT_NUM_DOCS: u64 = (1 << 31) - 2;
/// tantivy addresses 4 GiB, and the last document may take more than half of the rest.
const MAX_SEGMENT_NUM_BYTES: u64 = 2 << 30;
const LINE_LIMIT_NUM_BYTES: usize = 1 << 30;
/// Default of the maximum length of a line.
pub(crate) const MAX_LINE_NUM_BYTES: usize = 1 << 20;

impl IngestOptions {
    pub(super) fn check(&self) -> Result<(), BuildError> {
        let zero = |name: &str| BuildError::invalid(format!("{name} is 0: it must be at least 1"));
        if self.split_num_docs_target == Some(0) {
            return Err(zero("split_num_docs_target"));
        }
        if self.max_split_raw_num_bytes == 0 {
            return Err(zero("max_split_raw_num_bytes"));
        }
        if self.max_segment_num_bytes > MAX_SEGMENT_NUM_BYTES {
            return Err(BuildError::invalid(format!(
                "max_segment_num_bytes is {}: it must be at most {MAX_SEGMENT_NUM_BYTES}",
                self.max_segment_num_bytes
            )));
        }
        if self.checkpoint_raw_num_bytes == 0 {
            return Err(zero("checkpoint_raw_num_bytes"));
        }
        if self.num_parsers == 0 || self.num_indexers == 0 {
            return Err(zero("num_parsers or num_indexers"));
        }
        if self.max_line_num_bytes == 0 || self.max_line_num_bytes > LINE_LIMIT_NUM_BYTES {
            return Err(BuildError::invalid(format!(
                "max_line_num_bytes is {}: it must be between 1 and {LINE_LIMIT_NUM_BYTES}",
                self.max_line_num_bytes
            )));
        }
        Ok(())
    }

    pub(super) fn split_num_docs(&self, configured: u64) -> u64 {
        self.split_num_docs_target
            .unwrap_or(configured)
            .clamp(1, MAX_SPLIT_NUM_DOCS)
    }
}

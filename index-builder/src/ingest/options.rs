//! How to ingest, and every limit with its default.

use crate::error::BuildError;
use crate::transform::Transform;
use canter_formats::{Format, Zone};
use std::path::PathBuf;
use std::thread;

/// How to ingest. `IngestOptions::default()` is right for most machines; the peak of memory is
/// about `1 + num_indexers` times what one split takes (see `max_split_raw_num_bytes`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestOptions {
    /// A split ends at this many documents. Without it, `indexing_settings.split_num_docs_target`
    /// of the index config counts.
    pub split_num_docs_target: Option<u64>,
    /// A split ends at the latest when its documents took this many bytes of input (128 MiB). This
    /// bounds memory: with one indexer the peak is about two bytes for each, and less for each of more.
    pub max_split_raw_num_bytes: u64,
    /// A split ends earlier, too, when its terms, postings and columns take this much memory before they are written
    /// (1 GiB): documents of unlike words take many bytes for each of theirs. It may be one document over.
    pub max_segment_num_bytes: u64,
    /// The format of every source; without it, each is recognised by how it begins.
    pub format: Option<Format>,
    /// The names of the values of CSV, TSV and flow logs whose first line does not have them.
    pub columns: Option<Vec<String>>,
    /// The byte between values of tables, which says that a source is one unless [`IngestOptions::format`] says otherwise.
    /// Without it the byte that the first records have between them.
    pub delimiter: Option<u8>,
    /// What is compressed may become this many times as long (2,000), if that is more than 1 GiB. A source that becomes
    /// longer breaks off there.
    pub max_expansion: u64,
    /// The year of times that have none (RFC 3164). Without it the latest in which they are no more than a day after
    /// the last change of their file, or after [`IngestOptions::ingested_at_ms`] if that is not known.
    pub year: Option<u16>,
    /// The zone of times that name none. Without it `ingest_settings.time_zone` of the index config counts, or else UTC.
    pub zone: Option<Zone>,
    /// A regular expression for the first line of a record, where records have several lines. Without it
    /// `ingest_settings.multiline_start` of the index config counts.
    pub multiline_start: Option<String>,
    /// Takes the last record of a file although nothing ends it. Otherwise it waits, since it may be a part of a record that
    /// is being written.
    pub is_final: bool,
    /// A program that every document goes through before the doc mapping.
    pub transform: Option<Transform>,
    /// A longer line, or record, is rejected, and never held whole (1 MiB; a batch of OTLP may have 64).
    pub max_line_num_bytes: usize,
    /// Most bytes of pages of a Parquet file, inflated, that are in memory at once: for each column its dictionary and a page,
    /// and what a batch of up to 1,024 rows reads beyond (512 MiB). A page may have a quarter of it. A file that needs more
    /// breaks off there.
    pub max_parquet_num_bytes: u64,
    /// Where rejected lines go, one JSON object a line, after what the file holds already. It is
    /// made when the first line is rejected. Without it they are only counted.
    pub rejects_path: Option<PathBuf>,
    /// The rejects file has at most this many bytes, those included that it had before (256 MiB). The last line of a full
    /// one says that it is, and the report how many rejects it lacks.
    pub max_rejects_num_bytes: u64,
    /// More rejected lines than this stop the ingest, and nothing is published (no limit).
    pub max_rejects: Option<u64>,
    /// The time, in milliseconds since 1970, for the ledger of what was ingested: what is older can be forgotten.
    pub ingested_at_ms: u64,
    /// After so many bytes of input, before any is published, what is uploaded is noted in the index, so that the same
    /// ingest goes on from there if it is interrupted (256 MiB).
    pub checkpoint_raw_num_bytes: u64,
    /// Threads that turn lines into documents (a half of the cores).
    pub num_parsers: usize,
    /// Threads that turn documents into splits, each with a split in memory (one, or two from four
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
            max_line_num_bytes: 1 << 20,
            max_parquet_num_bytes: 512 << 20,
            rejects_path: None,
            max_rejects_num_bytes: 256 << 20,
            max_rejects: None,
            ingested_at_ms: 0,
            checkpoint_raw_num_bytes: 256 << 20,
            num_parsers: (num_cores / 2).clamp(1, 8),
            num_indexers: (num_cores / 2).clamp(1, 2),
        }
    }
}

/// tantivy counts the documents of a segment in 31 bits.
const MAX_SPLIT_NUM_DOCS: u64 = (1 << 31) - 2;
/// tantivy addresses 4 GiB, and the last document may take more than a half of the rest.
const MAX_SEGMENT_NUM_BYTES: u64 = 2 << 30;
const LINE_LIMIT_NUM_BYTES: usize = 1 << 30;

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

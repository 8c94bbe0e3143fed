//! The result of an ingest.

use super::warnings::IngestWarning;
use crate::pipeline::ReadInput;
use canter_split_format::{SplitEntry, TimeRange};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The result of an ingest. `num_ingested_docs + num_known_docs + num_rejected_docs + num_dropped_docs +
/// num_blank_lines == num_lines` always holds: each line of the input is one of them. Where a record is not a line, or contains
/// several documents, its documents are counted; lines with column names are not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IngestReport {
    /// Number of lines that were read.
    pub num_lines: u64,
    /// Number of lines that this ingest made searchable.
    pub num_ingested_docs: u64,
    /// Number of documents, among these, that an interrupted run of the same ingest had put into splits.
    pub num_resumed_docs: u64,
    /// Number of lines that were documents already, because the same source was ingested before.
    pub num_known_docs: u64,
    /// Number of rejected lines.
    pub num_rejected_docs: u64,
    /// Number of lines that the transform dropped on purpose.
    pub num_dropped_docs: u64,
    /// Number of blank lines, which are skipped.
    pub num_blank_lines: u64,
    /// Numbers of dropped lines by reason.
    pub dropped_by_reason: BTreeMap<String, u64>,
    /// Number of documents, among these, that were kept despite errors (`on_error: keep`).
    pub num_kept_docs: u64,
    /// Their numbers by reason.
    pub kept_by_reason: BTreeMap<String, u64>,
    /// Number of bytes of all lines, after decompression and with line endings.
    pub num_raw_bytes: u64,
    /// Number of bytes of the splits.
    pub num_split_bytes: u64,
    /// Numbers of rejected lines by reason.
    pub rejects_by_reason: BTreeMap<String, u64>,
    /// The rejects file, if anything was written to it.
    pub rejects_path: Option<PathBuf>,
    /// Number of rejects that are not in that file because it is full.
    pub num_unwritten_rejects: u64,
    /// The splits, in the order of the input.
    pub splits: Vec<SplitReport>,
    /// Number of splits that this ingest published.
    pub num_published_splits: u64,
    /// Number of splits that were live already, because the same list of sources had been ingested
    /// with the same config before. A split's name is derived from its bytes, which include the ids
    /// of its documents, so it is not published twice.
    pub num_known_splits: u64,
    /// Number of live splits now, including those of earlier ingests.
    pub num_live_splits: u64,
    /// Size of the manifest in bytes, which every search reads.
    pub num_manifest_bytes: u64,
    /// Conditions that are harmless now, but should be examined.
    pub warnings: Vec<IngestWarning>,
    /// Number of objects of buckets that were ingested before in their current version, and not read again.
    pub num_known_inputs: u64,
    /// Number of listed objects that did not exist any more when they were to be read.
    pub num_gone_inputs: u64,
    /// The sources that were read, in order.
    pub inputs: Vec<InputReport>,
}

/// One source of an ingest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// Its detected or given format.
    pub format: &'static str,
    /// Assumptions about incomplete times, and their origins: year, zone, day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<String>,
    /// Number of documents.
    pub num_docs: u64,
    /// Number of its rejected records.
    pub num_rejected_docs: u64,
    /// Number of its records that the transform dropped.
    pub num_dropped_docs: u64,
    /// Reason why it broke off, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_off: Option<String>,
    /// Reason why it is another source than the one ingested under its name before, or why nothing was taken from it:
    /// it is a copy, or has less than was ingested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Reason why its last record, or its missing rest, waits for a later ingest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<String>,
}

impl InputReport {
    pub(super) fn of(input: ReadInput) -> InputReport {
        InputReport {
            name: input.name,
            format: input.format.name(),
            times: input.times,
            num_docs: input.num_docs,
            num_rejected_docs: input.num_rejects,
            num_dropped_docs: input.num_dropped,
            broken_off: input.broken_off,
            note: input.note,
            waiting: input.waiting,
        }
    }
}

/// One split of an ingest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitReport {
    /// Its id: a hash of its bytes.
    pub id: String,
    /// Number of documents in it.
    pub num_docs: u64,
    /// Number of input bytes of its documents.
    pub num_raw_bytes: u64,
    /// Size of its object in bytes.
    pub num_bytes: u64,
    /// Size of its head in bytes, included in the former.
    pub num_head_bytes: u64,
    /// Earliest and latest timestamp, if the index has a timestamp field.
    pub time_range: Option<TimeRange>,
}

impl SplitReport {
    pub(super) fn of(entry: &SplitEntry) -> SplitReport {
        SplitReport {
            id: entry.id.clone(),
            num_docs: entry.num_docs,
            num_raw_bytes: entry.raw_num_bytes,
            num_bytes: entry.len,
            num_head_bytes: entry.head_len,
            time_range: entry.time_range,
        }
    }
}

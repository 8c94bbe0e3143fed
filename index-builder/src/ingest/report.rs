//! What came of an ingest.

use super::warnings::IngestWarning;
use crate::pipeline::ReadInput;
use canter_split_format::{SplitEntry, TimeRange};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What came of an ingest. `num_ingested_docs + num_known_docs + num_rejected_docs + num_dropped_docs == num_lines`,
/// always: each line of the input, blank or not, is one of them. Where a record is no line, or holds several
/// documents, its documents are counted; the lines that name columns are not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IngestReport {
    /// Lines read.
    pub num_lines: u64,
    /// Lines that this ingest made documents that can be found.
    pub num_ingested_docs: u64,
    /// Of the documents, those that an earlier run of the same ingest, which was interrupted, had put into splits.
    pub num_resumed_docs: u64,
    /// Lines that were such documents already, because the same source was ingested before.
    pub num_known_docs: u64,
    /// Lines that were rejected.
    pub num_rejected_docs: u64,
    /// Lines that the transform dropped on purpose.
    pub num_dropped_docs: u64,
    /// How many for which reason.
    pub dropped_by_reason: BTreeMap<String, u64>,
    /// Of the documents, those that are only kept: `on_error: keep`, and something was wrong with them.
    pub num_kept_docs: u64,
    /// How many were kept for which reason.
    pub kept_by_reason: BTreeMap<String, u64>,
    /// Bytes of all lines, after decompression and with line endings.
    pub num_raw_bytes: u64,
    /// Bytes of the splits.
    pub num_split_bytes: u64,
    /// How many lines were rejected for which reason.
    pub rejects_by_reason: BTreeMap<String, u64>,
    /// The rejects file, if there was anything to write to it.
    pub rejects_path: Option<PathBuf>,
    /// Rejects that are counted and not in that file, because it is full.
    pub num_unwritten_rejects: u64,
    /// The splits, in the order of the input.
    pub splits: Vec<SplitReport>,
    /// Splits that this ingest made live.
    pub num_published_splits: u64,
    /// Splits that were live already, because the same list of sources had been ingested with the
    /// same config before. A split's name comes from its bytes, and these say who its documents are,
    /// so it is not published twice.
    pub num_known_splits: u64,
    /// Splits that are live now, those of earlier ingests included.
    pub num_live_splits: u64,
    /// Bytes of the manifest, which every search reads.
    pub num_manifest_bytes: u64,
    /// What is well for now, and should be looked at.
    pub warnings: Vec<IngestWarning>,
    /// Objects of buckets that were ingested before, as they are now, and were not read.
    pub num_known_inputs: u64,
    /// Objects that were listed and not there any more when they were to be read.
    pub num_gone_inputs: u64,
    /// The sources that were read, in their order.
    pub inputs: Vec<InputReport>,
}

/// One source of an ingest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// What it was recognised as, or said to be.
    pub format: &'static str,
    /// What its times do not say themselves, and where that was taken from: their year, their zone, their day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<String>,
    /// Documents it became.
    pub num_docs: u64,
    /// Records of it that were rejected.
    pub num_rejected_docs: u64,
    /// Records of it that the transform dropped.
    pub num_dropped_docs: u64,
    /// What is wrong with it, if it broke off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_off: Option<String>,
    /// Why it is another source than was ingested under its name before, or why nothing of it was taken: it is a copy, or
    /// has less than was ingested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why its last record, or what is missing of it, waits for a later ingest.
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
    /// Documents in it.
    pub num_docs: u64,
    /// Bytes of input that its documents took.
    pub num_raw_bytes: u64,
    /// Bytes of its object.
    pub num_bytes: u64,
    /// Bytes of its head, a part of the former.
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

//! Progress reports of a running ingest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Receiver of progress reports, for a progress bar. Calls come from several threads, about one per
/// quarter of a megabyte of input. `()` ignores them.
pub trait Progress: Sync {
    /// Receives the current counters.
    fn update(&self, counters: &Counters);
}

impl Progress for () {
    fn update(&self, _: &Counters) {}
}

/// Phase of an ingest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading input, and building and uploading splits at the same time.
    Indexing,
    /// The input has been read; the last splits are built and uploaded.
    Finishing,
    /// Every split is uploaded; the manifest is being changed.
    Publishing,
    /// The documents can be searched.
    Done,
}

/// Counters of an ingest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Current phase.
    pub phase: Phase,
    /// Number of sources that were read completely.
    pub num_inputs: u64,
    /// Number of sources to read.
    pub total_inputs: u64,
    /// Number of stored bytes that were read, before decompression.
    pub num_stored_bytes: u64,
    /// Total number of stored bytes of all sources, if known.
    pub total_stored_bytes: Option<u64>,
    /// Number of bytes of lines that were read, after decompression.
    pub num_raw_bytes: u64,
    /// Number of lines that were read: documents, rejects, blank lines, and those that a transform dropped.
    pub num_lines: u64,
    /// Number of lines that became documents.
    pub num_docs: u64,
    /// Number of rejected lines.
    pub num_rejects: u64,
    /// Number of lines that the transform dropped.
    pub num_dropped: u64,
    /// Number of blank lines, which are skipped.
    pub num_blank: u64,
    /// Number of built splits.
    pub num_splits_packaged: u64,
    /// Number of splits in storage.
    pub num_splits_uploaded: u64,
    /// Number of bytes of the splits in storage.
    pub num_split_bytes: u64,
}

/// Counters shared by the threads of one ingest.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) num_inputs: AtomicU64,
    pub(crate) num_stored_bytes: Arc<AtomicU64>,
    pub(crate) num_raw_bytes: AtomicU64,
    pub(crate) num_docs: AtomicU64,
    /// Included in `num_docs`.
    pub(crate) num_known_docs: AtomicU64,
    pub(crate) num_rejects: AtomicU64,
    pub(crate) num_dropped: AtomicU64,
    pub(crate) num_blank: AtomicU64,
    pub(crate) num_splits_packaged: AtomicU64,
    pub(crate) num_splits_uploaded: AtomicU64,
    pub(crate) num_split_bytes: AtomicU64,
}

/// The counters together with their receiver.
pub(crate) struct Meter<'a> {
    pub(crate) tally: Tally,
    total_inputs: u64,
    total_stored_bytes: Option<u64>,
    progress: &'a dyn Progress,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        total_inputs: u64,
        total_stored_bytes: Option<u64>,
        progress: &'a dyn Progress,
    ) -> Meter<'a> {
        Meter {
            tally: Tally::default(),
            total_inputs,
            total_stored_bytes,
            progress,
        }
    }

    pub(crate) fn add(&self, counter: &AtomicU64, num: u64) {
        counter.fetch_add(num, Ordering::Relaxed);
    }

    pub(crate) fn counters(&self, phase: Phase) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (num_docs, num_rejects) = (get(&self.tally.num_docs), get(&self.tally.num_rejects));
        let (num_dropped, num_blank) = (get(&self.tally.num_dropped), get(&self.tally.num_blank));
        Counters {
            phase,
            num_inputs: get(&self.tally.num_inputs),
            total_inputs: self.total_inputs,
            num_stored_bytes: get(&self.tally.num_stored_bytes),
            total_stored_bytes: self.total_stored_bytes,
            num_raw_bytes: get(&self.tally.num_raw_bytes),
            num_lines: num_docs + num_rejects + num_dropped + num_blank,
            num_docs,
            num_rejects,
            num_dropped,
            num_blank,
            num_splits_packaged: get(&self.tally.num_splits_packaged),
            num_splits_uploaded: get(&self.tally.num_splits_uploaded),
            num_split_bytes: get(&self.tally.num_split_bytes),
        }
    }

    pub(crate) fn tell(&self, phase: Phase) {
        self.progress.update(&self.counters(phase));
    }
}

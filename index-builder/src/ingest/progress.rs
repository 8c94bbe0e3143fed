//! What an ingest tells while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Told about an ingest as it goes; for a progress bar. Calls come from several threads, about one
/// for each quarter of a megabyte of input. `()` listens to nothing.
pub trait Progress: Sync {
    /// Where the ingest stands now.
    fn update(&self, counters: &Counters);
}

impl Progress for () {
    fn update(&self, _: &Counters) {}
}

/// What an ingest is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading input, and building and uploading splits at the same time.
    Indexing,
    /// The input is read; the last splits are built and uploaded.
    Finishing,
    /// Every split is uploaded; the manifest is being changed.
    Publishing,
    /// The documents can be searched.
    Done,
}

/// Where an ingest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// What it is doing.
    pub phase: Phase,
    /// Sources that were read to their end.
    pub num_inputs: u64,
    /// Sources that are read.
    pub total_inputs: u64,
    /// Bytes read of the sources as they are stored, so before decompression.
    pub num_stored_bytes: u64,
    /// The length of all sources as they are stored, if it is known.
    pub total_stored_bytes: Option<u64>,
    /// Bytes of lines read, after decompression.
    pub num_raw_bytes: u64,
    /// Lines read: documents, rejects, and what a transform dropped.
    pub num_lines: u64,
    /// Lines that became documents.
    pub num_docs: u64,
    /// Lines that were rejected.
    pub num_rejects: u64,
    /// Lines that the transform dropped.
    pub num_dropped: u64,
    /// Splits that are built.
    pub num_splits_packaged: u64,
    /// Splits that are in storage.
    pub num_splits_uploaded: u64,
    /// Bytes of the splits that are in storage.
    pub num_split_bytes: u64,
}

/// The counters that the threads of one ingest share.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) num_inputs: AtomicU64,
    pub(crate) num_stored_bytes: Arc<AtomicU64>,
    pub(crate) num_raw_bytes: AtomicU64,
    pub(crate) num_docs: AtomicU64,
    /// A part of these.
    pub(crate) num_known_docs: AtomicU64,
    pub(crate) num_rejects: AtomicU64,
    pub(crate) num_dropped: AtomicU64,
    pub(crate) num_splits_packaged: AtomicU64,
    pub(crate) num_splits_uploaded: AtomicU64,
    pub(crate) num_split_bytes: AtomicU64,
}

/// The counters together with who is told.
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
        let num_dropped = get(&self.tally.num_dropped);
        Counters {
            phase,
            num_inputs: get(&self.tally.num_inputs),
            total_inputs: self.total_inputs,
            num_stored_bytes: get(&self.tally.num_stored_bytes),
            total_stored_bytes: self.total_stored_bytes,
            num_raw_bytes: get(&self.tally.num_raw_bytes),
            num_lines: num_docs + num_rejects + num_dropped,
            num_docs,
            num_rejects,
            num_dropped,
            num_splits_packaged: get(&self.tally.num_splits_packaged),
            num_splits_uploaded: get(&self.tally.num_splits_uploaded),
            num_split_bytes: get(&self.tally.num_split_bytes),
        }
    }

    pub(crate) fn tell(&self, phase: Phase) {
        self.progress.update(&self.counters(phase));
    }
}

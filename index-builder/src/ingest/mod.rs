//! The entry point: options, progress, rejects and the report of an ingest.

mod checkpoint;
mod options;
mod progress;
mod receipt;
mod receipt_objects;
mod rejects;
mod report;
mod run;
#[cfg(test)]
mod tests;
mod warnings;

pub(crate) use checkpoint::{
    CheckpointWriter, Checkpoints, FoundCheckpoints, Resumed, find_checkpoints, read_checkpoint,
};
pub use options::IngestOptions;
pub(crate) use options::MAX_LINE_NUM_BYTES;
pub(crate) use progress::Meter;
pub use progress::{Counters, Phase, Progress};
pub use receipt::{Receipt, build_part, publish_receipts};
pub use receipt_objects::{read_receipts, write_receipt};
pub(crate) use rejects::{Reject, RejectsFile};
pub use report::{IngestReport, InputReport, SplitReport};
pub use run::ingest;
pub use warnings::IngestWarning;

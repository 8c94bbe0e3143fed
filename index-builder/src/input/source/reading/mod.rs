//! Division of a source into records, and of those into batches.

pub(super) mod batch;
mod beginning;
pub(super) mod fit;
pub(super) mod next_record;
pub(super) mod records;

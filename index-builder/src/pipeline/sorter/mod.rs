//! The documents of one split in the order of their places in the index.
//!
//! ```text
//!   documents ──▶ open run ──┬──▶ sorted run, compressed ──┐
//!                            ├──▶ sorted run, compressed ──┼──▶ documents in order
//!                            └──▶ the last one, as it is ──┘
//! ```
//!
//! While a split is collected, the one before it is built: so what waits is what memory is needed for. Documents are
//! sorted some at a time, and what is sorted is compressed at once, to a sixth; then runs are merged, each of which is
//! read from its beginning to its end, in whatever order documents came.

mod places;
mod sorted;
mod waiting;

#[cfg(test)]
mod tests;

pub(super) use sorted::SortedDocs;
pub(super) use waiting::WaitingDocs;

use canter_split_format::DocIdentity;

/// Where a document stands in the index: by its timestamp; of the same time by its source, and by its place in that.
/// The guest relies on it: it never compares two documents of a split in another way.
pub(super) type DocPlace = (i64, DocIdentity);

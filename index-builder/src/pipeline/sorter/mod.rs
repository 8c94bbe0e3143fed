//! The documents of one split in the order of their places in the index.
//!
//! ```text
//!   documents ──▶ open run ──┬──▶ sorted run, compressed ──┐
//!                            ├──▶ sorted run, compressed ──┼──▶ documents in order
//!                            └──▶ the last one, as it is ──┘
//! ```
//!
//! While a split is collected, the previous one is built, so waiting documents compete for memory. Documents are
//! sorted in portions, and each portion is compressed at once, to a sixth; then the runs are merged, each of which is
//! read from beginning to end, in whatever order documents came.

mod places;
mod sorted;
mod waiting;

#[cfg(test)]
mod tests;

pub(super) use sorted::SortedDocs;
pub(super) use waiting::WaitingDocs;

use canter_split_format::DocIdentity;

/// Place of a document in the index: by its timestamp; with the same timestamp by its source, and by its position
/// there. The guest relies on it: it never compares two documents of a split in another way.
pub(super) type DocPlace = (i64, DocIdentity);

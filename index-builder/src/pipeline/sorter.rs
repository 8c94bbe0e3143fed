//! The documents of one split in the order of time.

use super::parser::PendingDoc;

/// Sorts by timestamp; documents of the same time keep the order of the input.
pub(super) fn sort_by_time(docs: &mut [PendingDoc]) {
    docs.sort_by_key(|doc| doc.timestamp_ns);
}

//! The documents of one split in the order of their places in the index.

use super::parser::PendingDoc;

/// Sorts by timestamp; documents of the same time stand by source, and by their places in it. The guest
/// relies on it: it never compares two documents of a split in another way.
pub(super) fn sort_by_place(docs: &mut [PendingDoc]) {
    docs.sort_by_key(|doc| (doc.timestamp_ns, doc.identity));
}

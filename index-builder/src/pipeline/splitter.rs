//! Where a split ends: at a number of documents or of bytes, whichever comes first.

use super::parser::PendingDoc;
use super::standing::Standing;

/// The documents of one split, in the order of the input.
#[derive(Default)]
pub(super) struct CollectedSplit {
    pub(super) docs: Vec<PendingDoc>,
    pub(super) raw_num_bytes: u64,
    /// Where the input stands behind it; nothing for the last one.
    pub(super) standing: Option<Standing>,
}

/// Collects documents into splits.
pub(super) struct Splitter {
    max_num_docs: u64,
    max_raw_num_bytes: u64,
    current: CollectedSplit,
}

impl Splitter {
    pub(super) fn new(max_num_docs: u64, max_raw_num_bytes: u64) -> Splitter {
        Splitter {
            max_num_docs,
            max_raw_num_bytes,
            current: CollectedSplit::default(),
        }
    }

    /// Adds a document; gives a split back when that filled it.
    pub(super) fn add(&mut self, doc: PendingDoc) -> Option<CollectedSplit> {
        self.current.raw_num_bytes += doc.raw_num_bytes;
        self.current.docs.push(doc);
        let is_full = self.current.docs.len() as u64 >= self.max_num_docs
            || self.current.raw_num_bytes >= self.max_raw_num_bytes;
        is_full.then(|| self.take())
    }

    /// What is left at the end.
    pub(super) fn take_rest(&mut self) -> Option<CollectedSplit> {
        (!self.current.docs.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> CollectedSplit {
        std::mem::take(&mut self.current)
    }
}

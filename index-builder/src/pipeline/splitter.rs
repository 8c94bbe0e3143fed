//! Division into splits: a split ends at a number of documents or of bytes, whichever comes first.

use canter_doc_mapper::DocShape;

use super::parser::PendingDoc;
use super::sorter::WaitingDocs;
use super::standing::Standing;
use crate::error::BuildError;

/// The documents of one split.
pub(super) struct CollectedSplit {
    pub(super) docs: WaitingDocs,
    pub(super) raw_num_bytes: u64,
    /// Position of the input after it; `None` for the last one.
    pub(super) standing: Option<Standing>,
}

impl CollectedSplit {
    fn new(shape: DocShape) -> CollectedSplit {
        CollectedSplit {
            docs: WaitingDocs::new(shape),
            raw_num_bytes: 0,
            standing: None,
        }
    }
}

/// Collects documents into splits.
pub(super) struct Splitter {
    max_num_docs: u64,
    max_raw_num_bytes: u64,
    shape: DocShape,
    current: CollectedSplit,
}

impl Splitter {
    pub(super) fn new(max_num_docs: u64, max_raw_num_bytes: u64, shape: DocShape) -> Splitter {
        Splitter {
            max_num_docs,
            max_raw_num_bytes,
            current: CollectedSplit::new(shape.clone()),
            shape,
        }
    }

    /// Adds an encoded document; returns a split if this filled it.
    pub(super) fn add(
        &mut self,
        doc: &PendingDoc,
        encoded: &[u8],
    ) -> Result<Option<CollectedSplit>, BuildError> {
        let place = (doc.timestamp_ns, doc.identity);
        self.current.docs.add(place, encoded)?;
        self.current.raw_num_bytes += doc.raw_num_bytes;
        let is_full = self.current.docs.len() as u64 >= self.max_num_docs
            || self.current.raw_num_bytes >= self.max_raw_num_bytes;
        Ok(is_full.then(|| self.take()))
    }

    /// Returns the rest at the end.
    pub(super) fn take_rest(&mut self) -> Option<CollectedSplit> {
        (self.current.docs.len() > 0).then(|| self.take())
    }

    fn take(&mut self) -> CollectedSplit {
        let next = CollectedSplit::new(self.shape.clone());
        std::mem::replace(&mut self.current, next)
    }
}

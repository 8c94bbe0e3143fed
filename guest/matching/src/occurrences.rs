//! Occurrences of a term, document by document.

use crate::NO_DOC;
use crate::list::{PositionStarts, PostingList};
use crate::positions::PositionList;

/// Cursor over the documents of a term. It only moves forward.
pub struct Occurrences {
    docs: PostingList,
    positions: PositionList,
    starts: PositionStarts,
    doc: u32,
    /// Number of documents before it in its block.
    ord: u8,
}

impl Occurrences {
    /// Creates a cursor at the first document; returns `None` if positions are not recorded.
    pub fn new(docs: PostingList, positions: PositionList) -> Option<Self> {
        let mut occurrences = docs.has_positions().then(|| Self {
            docs,
            positions,
            starts: PositionStarts::default(),
            doc: 0,
            ord: 0,
        })?;
        occurrences.look_up(0);
        Some(occurrences)
    }

    /// Returns the total number of documents.
    pub fn num_docs(&self) -> u32 {
        self.docs.num_docs()
    }

    /// Returns the current document, or [`NO_DOC`] past the end.
    pub fn doc(&self) -> u32 {
        self.doc
    }

    /// Moves to the first document from `doc` on, unless the cursor is there or past it, and
    /// returns the current document.
    pub fn seek(&mut self, doc: u32) -> u32 {
        if self.doc < doc {
            let next = self.ord.saturating_add(1);
            match self.docs.padded().get(usize::from(next)) {
                // The usual case for frequent words.
                Some(there) if *there >= doc && *there != NO_DOC => {
                    (self.doc, self.ord) = (*there, next);
                }
                _ => self.look_up(doc),
            }
        }
        self.doc
    }

    /// Moves to the next document.
    pub fn advance(&mut self) -> u32 {
        self.seek(self.doc.saturating_add(1))
    }

    /// Replaces `positions` by the term's positions in this document, each plus `added`.
    pub fn positions(&mut self, added: u32, positions: &mut Vec<u32>) {
        if !self.starts.is_of(self.docs.block()) {
            self.docs.position_starts(&mut self.starts);
        }
        let (start, num) = match self.doc {
            NO_DOC => (0, 0),
            _ => self.starts.of(self.ord),
        };
        self.positions.read(start, num, added, positions);
    }

    #[inline(never)]
    fn look_up(&mut self, doc: u32) {
        let ord;
        (self.doc, ord) = self.docs.find_next(doc);
        self.ord = u8::try_from(ord).unwrap_or(u8::MAX);
    }
}

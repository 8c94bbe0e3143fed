//! Where a term occurs, from one of its documents to the next.

use crate::NO_DOC;
use crate::list::{PositionStarts, PostingList};
use crate::positions::PositionList;

/// A place among the documents of a term. It goes forward only.
pub struct Occurrences {
    docs: PostingList,
    positions: PositionList,
    starts: PositionStarts,
    doc: u32,
    /// Documents of its block before it.
    ord: u8,
}

impl Occurrences {
    /// Stands on the first document. `None` if the positions are not recorded.
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

    /// Documents in all.
    pub fn num_docs(&self) -> u32 {
        self.docs.num_docs()
    }

    /// The document that it stands on, or [`NO_DOC`] behind the last.
    pub fn doc(&self) -> u32 {
        self.doc
    }

    /// Goes to the first document from `doc` on, unless it stands there or behind, and tells which that is.
    pub fn seek(&mut self, doc: u32) -> u32 {
        if self.doc < doc {
            let next = self.ord.saturating_add(1);
            match self.docs.padded().get(usize::from(next)) {
                // Of frequent words, nearly always.
                Some(there) if *there >= doc && *there != NO_DOC => {
                    (self.doc, self.ord) = (*there, next);
                }
                _ => self.look_up(doc),
            }
        }
        self.doc
    }

    /// Goes to the next document.
    pub fn advance(&mut self) -> u32 {
        self.seek(self.doc.saturating_add(1))
    }

    /// Where the term is in this document, each with `added`: replaces `positions`.
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

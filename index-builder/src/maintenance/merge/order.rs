//! Order of the documents of several splits in the merged one: by their places in the index, like
//! in any split.
//!
//! ```text
//!   split 0   1 1 3 7            new   0 1 2 3 4 5
//!   split 1   1 2 x          ─▶  split 0 1 0 1 0 0     (x is deleted)
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use canter_split_format::{DocIdentity, FormatError};
use tantivy::columnar::RowAddr;

use super::input::OpenInput;
use crate::BuildError;

/// Maximum number of documents of a segment: tantivy stores it in 31 bits.
const MAX_NUM_DOCS: usize = (1 << 31) - 2;

/// New number of a document that is left out.
const LEFT_OUT: u32 = u32::MAX;

/// New positions of all documents.
pub(super) struct DocOrder {
    /// Indexed by new document: its origin.
    pub(super) old: Vec<RowAddr>,
    /// Indexed by new document: its identity.
    identities: Vec<DocIdentity>,
    /// Indexed by split, then by old document: its new number.
    new: Vec<Vec<u32>>,
}

/// Remaining documents of one split, in order.
struct Cursor<'i> {
    input: &'i OpenInput,
    identities: Box<dyn Iterator<Item = Result<DocIdentity, FormatError>> + 'i>,
    next_doc: u32,
    last: Option<SortKey>,
}

type SortKey = (i64, DocIdentity);

impl Cursor<'_> {
    /// Returns the next document and its place.
    fn next(&mut self) -> Result<Option<(SortKey, u32)>, BuildError> {
        while let Some(identity) = self.identities.next() {
            let identity = identity.map_err(|error| self.input.damaged(error))?;
            let doc = self.next_doc;
            self.next_doc += 1;
            let time = self.input.timestamp(doc);
            let time = time.ok_or_else(|| self.input.damaged("a document has no timestamp"))?;
            let place = (time, identity);
            if self.last.is_some_and(|last| last > place) {
                return Err(self.input.damaged("its documents are not in order"));
            }
            self.last = Some(place);
            if !self.input.is_deleted(doc) {
                return Ok(Some((place, doc)));
            }
        }
        Ok(None)
    }
}

impl DocOrder {
    /// # Errors
    /// `Data` if a split is not in order, `Limit` for too many documents.
    pub(super) fn of(inputs: &[OpenInput]) -> Result<Self, BuildError> {
        let num_docs: usize = inputs.iter().map(num_left).sum();
        if num_docs > MAX_NUM_DOCS {
            return Err(BuildError::limit(format!(
                "the merged split would have {num_docs} documents, more than {MAX_NUM_DOCS}: merge fewer \
                 splits"
            )));
        }
        let mut order = Self {
            old: Vec::with_capacity(num_docs),
            identities: Vec::with_capacity(num_docs),
            new: Vec::with_capacity(inputs.len()),
        };
        let mut cursors: Vec<Cursor<'_>> = Vec::with_capacity(inputs.len());
        let mut heads = BinaryHeap::with_capacity(inputs.len());
        for (segment_ord, input) in (0_u32..).zip(inputs) {
            let len = usize::try_from(input.num_docs()).unwrap_or(usize::MAX);
            order.new.push(vec![LEFT_OUT; len]);
            let mut cursor = Cursor {
                input,
                identities: Box::new(input.identities()),
                next_doc: 0,
                last: None,
            };
            if let Some((place, doc)) = cursor.next()? {
                heads.push(Reverse((place, segment_ord, doc)));
            }
            cursors.push(cursor);
        }
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((place, segment_ord, doc)) = *head;
            order.push(place.1, segment_ord, doc);
            let next = match cursors.get_mut(as_index(segment_ord)) {
                Some(cursor) => cursor.next()?,
                None => None,
            };
            match next {
                Some((place, doc)) => *head = Reverse((place, segment_ord, doc)),
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(order)
    }

    fn push(&mut self, identity: DocIdentity, segment_ord: u32, doc: u32) {
        let new_doc = u32::try_from(self.old.len()).unwrap_or(LEFT_OUT);
        let of_segment = self.new.get_mut(as_index(segment_ord));
        if let Some(new) = of_segment.and_then(|new| new.get_mut(as_index(doc))) {
            *new = new_doc;
        }
        self.old.push(RowAddr {
            segment_ord,
            row_id: doc,
        });
        self.identities.push(identity);
    }

    /// Returns the new number of a document, or `None` if it is left out.
    pub(super) fn new_doc(&self, segment_ord: usize, doc: u32) -> Option<u32> {
        let new = *self.new.get(segment_ord)?.get(as_index(doc))?;
        (new != LEFT_OUT).then_some(new)
    }

    /// Returns the identities of the documents in their new order.
    pub(super) fn into_identities(self) -> Vec<DocIdentity> {
        self.identities
    }

    pub(super) fn num_docs(&self) -> u32 {
        u32::try_from(self.old.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the number of documents of a split that are kept.
pub(super) fn num_left(input: &OpenInput) -> usize {
    let num_deleted = input.deleted.as_ref().map_or(0, |deleted| deleted.len());
    as_index(input.num_docs()).saturating_sub(num_deleted)
}

/// Converts a 32-bit number to an index.
pub(super) fn as_index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

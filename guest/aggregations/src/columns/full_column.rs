//! A column in which every document has one value, for queries and for sorting: which documents have a code within
//! a range, and what codes they have.

use std::io;
use std::ops::{Range, RangeInclusive};

use tantivy::columnar::{ColumnIndex, DynamicColumnHandle};

use super::Values;

/// A column in which every document has one value.
///
/// Its codes are tantivy's, in the order of the values.
#[derive(Clone, Debug)]
pub struct FullColumn(Values);

impl FullColumn {
    /// Opens a column, whose bytes must be there; `None` if documents have none or several values.
    ///
    /// # Errors
    /// Damage; a read of bytes that are not there.
    pub fn open(handle: &DynamicColumnHandle) -> io::Result<Option<Self>> {
        let (index, values) = Values::open(handle)?;
        let is_full = matches!(index, ColumnIndex::Full) && values.num_rows() > 0;
        Ok(is_full.then_some(Self(values)))
    }

    /// Documents of the segment.
    pub fn num_docs(&self) -> u32 {
        self.0.num_rows()
    }

    /// The least and the greatest code.
    pub fn bounds(&self) -> RangeInclusive<u64> {
        self.0.min()..=self.0.max()
    }

    /// The code of a document.
    ///
    /// # Errors
    /// If there is no such document.
    #[inline]
    pub fn code(&self, doc: u32) -> io::Result<u64> {
        self.0.get(doc)
    }

    /// Replaces `codes` by those of listed documents.
    ///
    /// # Errors
    /// If there is no such document.
    pub fn codes(&self, docs: &[u32], codes: &mut Vec<u64>) -> io::Result<()> {
        self.0.gather(docs, codes)
    }

    /// Replaces `words` by a bit for each document of a range, that of the first being the lowest of the first word:
    /// whether its code is within `wanted`.
    ///
    /// # Errors
    /// If there are no such documents.
    pub fn select(
        &self,
        docs: Range<u32>,
        wanted: &RangeInclusive<u64>,
        words: &mut Vec<u64>,
    ) -> io::Result<()> {
        self.0.select(docs, wanted, words)
    }
}

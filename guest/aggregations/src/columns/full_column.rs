//! Column with exactly one value for each document, for queries and sorting: reads codes, and
//! selects documents by a range of codes.

use std::io;
use std::ops::{Range, RangeInclusive};

use tantivy::columnar::{ColumnIndex, DynamicColumnHandle};

use super::Values;

/// Column with exactly one value for each document.
///
/// Its codes are tantivy's, ordered like the values.
#[derive(Clone, Debug)]
pub struct FullColumn(Values);

impl FullColumn {
    /// Opens a column, whose bytes must be available; returns `None` if a document has no value or
    /// several.
    ///
    /// # Errors
    /// The column is damaged; a read of missing bytes.
    pub fn open(handle: &DynamicColumnHandle) -> io::Result<Option<Self>> {
        let (index, values) = Values::open(handle)?;
        let is_full = matches!(index, ColumnIndex::Full) && values.num_rows() > 0;
        Ok(is_full.then_some(Self(values)))
    }

    /// Returns the number of documents in the segment.
    pub fn num_docs(&self) -> u32 {
        self.0.num_rows()
    }

    /// Returns the smallest and the largest code.
    pub fn bounds(&self) -> RangeInclusive<u64> {
        self.0.min()..=self.0.max()
    }

    /// Returns the code of a document.
    ///
    /// # Errors
    /// The document does not exist.
    #[inline]
    pub fn code(&self, doc: u32) -> io::Result<u64> {
        self.0.get(doc)
    }

    /// Replaces `codes` by those of listed documents.
    ///
    /// # Errors
    /// A document does not exist.
    pub fn codes(&self, docs: &[u32], codes: &mut Vec<u64>) -> io::Result<()> {
        self.0.gather(docs, codes)
    }

    /// Replaces `words` by one bit for each document of a range: whether its code is within
    /// `wanted`. The lowest bit of the first word is that of the first document.
    ///
    /// # Errors
    /// A document does not exist.
    pub fn select(
        &self,
        docs: Range<u32>,
        wanted: &RangeInclusive<u64>,
        words: &mut Vec<u64>,
    ) -> io::Result<()> {
        self.0.select(docs, wanted, words)
    }
}

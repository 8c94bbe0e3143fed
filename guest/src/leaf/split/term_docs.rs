//! The documents of one term as a set that is counted through its posting list's skip list: only blocks that
//! contain the border of a bucket are decoded.

use std::sync::Arc;

use canter_aggregations::Ranked;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, TERMINATED, Term};

use crate::split::OpenSplit;

/// The documents of one term.
pub(in crate::leaf) struct TermDocs {
    inverted_index: Arc<InvertedIndexReader>,
    /// `None` if no document has the term.
    info: Option<TermInfo>,
    postings: BlockSegmentPostings,
}

impl TermDocs {
    /// Opens the posting list, which must be warmed up.
    ///
    /// # Errors
    /// A read that missed.
    pub(in crate::leaf) fn open(split: &OpenSplit, term: &Term) -> tantivy::Result<Self> {
        let segment = split.segment();
        let mut docs = Self {
            inverted_index: segment.inverted_index(term.field())?,
            info: split.terms.get(segment, term)?,
            postings: BlockSegmentPostings::empty(),
        };
        docs.restart()?;
        Ok(docs)
    }
}

impl Ranked for TermDocs {
    fn restart(&mut self) -> tantivy::Result<()> {
        if let Some(info) = &self.info {
            let option = IndexRecordOption::Basic;
            let index = &self.inverted_index;
            self.postings = index.read_block_postings_from_terminfo(info, option)?;
        }
        Ok(())
    }

    fn seek(&mut self, doc: u32) -> (u32, u32) {
        if self.postings.doc_freq() == 0 {
            return (0, u32::MAX);
        }
        // The second call finds the block that the first one moved to.
        let (rank, place) = (self.postings.rank(doc), self.postings.seek(doc));
        let next = self.postings.docs().get(place).copied();
        let next = next.filter(|next| *next != TERMINATED);
        (rank, next.unwrap_or(u32::MAX))
    }
}

//! The documents of one term as a set that is counted by its posting list's skip list: blocks that no border of a
//! bucket lies in are not decoded.

use std::sync::Arc;

use canter_aggregations::Ranked;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, SegmentReader, TERMINATED, Term};

/// The documents of one term.
pub(super) struct TermDocs {
    inverted_index: Arc<InvertedIndexReader>,
    term: Term,
    postings: BlockSegmentPostings,
}

impl TermDocs {
    /// Opens the posting list, which has been warmed up.
    ///
    /// # Errors
    /// A read that missed.
    pub(super) fn open(segment: &SegmentReader, term: &Term) -> tantivy::Result<Self> {
        let mut docs = Self {
            inverted_index: segment.inverted_index(term.field())?,
            term: term.clone(),
            postings: BlockSegmentPostings::empty(),
        };
        docs.restart()?;
        Ok(docs)
    }
}

impl Ranked for TermDocs {
    fn restart(&mut self) -> tantivy::Result<()> {
        let option = IndexRecordOption::Basic;
        let postings = self
            .inverted_index
            .read_block_postings(&self.term, option)?;
        self.postings = postings.unwrap_or_else(BlockSegmentPostings::empty);
        Ok(())
    }

    fn seek(&mut self, doc: u32) -> (u32, u32) {
        if self.postings.doc_freq() == 0 {
            return (0, u32::MAX);
        }
        // The second call finds the block that the first went to.
        let (rank, place) = (self.postings.rank(doc), self.postings.seek(doc));
        let next = self.postings.docs().get(place).copied();
        let next = next.filter(|next| *next != TERMINATED);
        (rank, next.unwrap_or(u32::MAX))
    }
}

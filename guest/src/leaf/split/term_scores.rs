//! The scores of one term's documents, a block of its posting list at a time.
//!
//! tantivy's scorer returns one document at a time, through a pointer. The scores are the same: tantivy's own weight
//! computes them from the same frequencies and lengths.

use std::ops::Range;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, Term};

use crate::split::OpenSplit;

/// The posting list of one term, and the weight that scores it.
pub(in crate::leaf) struct TermScores {
    postings: BlockSegmentPostings,
    lengths: FieldNormReader,
    weight: Bm25Weight,
    /// Range of the documents to score.
    docs: Range<DocId>,
}

impl TermScores {
    /// Opens the posting list, which must be warmed up; `None` without documents.
    ///
    /// # Errors
    /// A read that missed.
    pub(in crate::leaf) fn open(
        split: &OpenSplit,
        term: &Term,
        statistics: &dyn Bm25StatisticsProvider,
        docs: &Range<DocId>,
    ) -> tantivy::Result<Option<Self>> {
        let segment = split.segment();
        let Some(info) = split.terms.get(segment, term)? else {
            return Ok(None);
        };
        let index = segment.inverted_index(term.field())?;
        let option = IndexRecordOption::WithFreqs;
        let mut postings = index.read_block_postings_from_terminfo(&info, option)?;
        postings.seek(docs.start);
        let lengths = segment.fieldnorms_readers().get_field(term.field())?;
        let num_docs = segment.max_doc();
        Ok(Some(Self {
            postings,
            lengths: lengths.unwrap_or_else(|| FieldNormReader::constant(num_docs, 1)),
            weight: Bm25Weight::for_terms(statistics, std::slice::from_ref(term))?,
            docs: docs.start..docs.end.min(num_docs),
        }))
    }

    /// Replaces `scored` with the next documents and their scores; leaves it empty after the last ones.
    #[inline(never)]
    pub(in crate::leaf) fn next_block(&mut self, scored: &mut Vec<(DocId, Score)>) {
        scored.clear();
        while scored.is_empty() {
            let docs = self.postings.docs();
            if docs.first().is_none_or(|first| *first >= self.docs.end) {
                return;
            }
            for (place, doc) in docs.iter().enumerate() {
                if self.docs.contains(doc) {
                    let frequency = self.postings.freq(place);
                    let length = self.lengths.fieldnorm_id(*doc);
                    scored.push((*doc, self.weight.score(length, frequency)));
                }
            }
            self.postings.advance();
        }
    }
}

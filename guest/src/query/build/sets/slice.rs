//! Parts of a split: every nth document, so that several readers can share a search.

use canter_doc_mapper::DocMapper;
use tantivy::query::{ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

use crate::SearchError;

/// Maximum number of slices of an index whose settings say nothing of it, as in Elasticsearch.
const MAX_SLICES: u32 = 1_024;

/// Refuses more slices than the index allows.
pub(in crate::query::build) fn check_slices(
    of: u32,
    mapper: &DocMapper,
) -> Result<(), SearchError> {
    let own = mapper.search_settings().max_slices_per_scroll;
    let max = own.unwrap_or(MAX_SLICES);
    match of <= max {
        true => Ok(()),
        false => Err(SearchError::invalid(format!(
            "The number of slices [{of}] is too large. It must be less than [{max}]. This limit can be set by changing the \
             [index.max_slices_per_scroll] index level setting."
        ))),
    }
}

/// Matches the documents whose number has this remainder.
#[derive(Clone, Debug)]
pub(in crate::query::build) struct SliceOf {
    id: u32,
    of: u32,
}

impl SliceOf {
    pub(in crate::query::build) fn new(id: u32, of: u32) -> Self {
        Self { id, of: of.max(1) }
    }
}

impl Query for SliceOf {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for SliceOf {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let docs = SliceDocs {
            doc: self.id,
            step: self.of,
            end: reader.max_doc(),
        };
        Ok(Box::new(ConstScorer::new(docs.checked(), boost)))
    }

    fn explain(&self, _: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        match doc % self.of == self.id {
            true => Ok(Explanation::new("in the slice", 1.0)),
            false => Err(TantivyError::InvalidArgument(format!(
                "document {doc} does not match"
            ))),
        }
    }
}

struct SliceDocs {
    doc: DocId,
    step: u32,
    end: DocId,
}

impl SliceDocs {
    /// Ends if there are no more documents.
    fn checked(mut self) -> Self {
        if self.doc >= self.end {
            self.doc = TERMINATED;
        }
        self
    }
}

impl DocSet for SliceDocs {
    fn advance(&mut self) -> DocId {
        self.doc = match self.doc.checked_add(self.step) {
            Some(next) if next < self.end => next,
            _ => TERMINATED,
        };
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.end / self.step
    }
}

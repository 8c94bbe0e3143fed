//! The documents of a column or of terms with a value that passes a test, and explanations of queries that match or do not.

use tantivy::columnar::Column;
use tantivy::query::{Explanation, Scorer};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError};
use tantivy_common::BitSet;

/// The documents of a column with a value that passes a test, by looking at one after another.
pub(super) struct Passing<F> {
    column: Column<u64>,
    passes: F,
    doc: DocId,
}

impl<F: Fn(u64) -> bool> Passing<F> {
    pub(super) fn new(column: Column<u64>, passes: F) -> Self {
        let mut passing = Self {
            column,
            passes,
            doc: 0,
        };
        passing.go_to(0);
        passing
    }

    /// Goes to the first document from `doc` on that matches.
    fn go_to(&mut self, doc: DocId) -> DocId {
        let mut docs = doc..self.column.num_docs();
        let found = docs.find(|doc| self.column.values_for_doc(*doc).any(&self.passes));
        self.doc = found.unwrap_or(TERMINATED);
        self.doc
    }
}

impl<F: Fn(u64) -> bool + Send + 'static> DocSet for Passing<F> {
    fn advance(&mut self) -> DocId {
        match self.doc {
            TERMINATED => TERMINATED,
            doc => self.go_to(doc.saturating_add(1)),
        }
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        match target > self.doc {
            true => self.go_to(target),
            false => self.doc,
        }
    }

    fn size_hint(&self) -> u32 {
        // The number of matches is unknown before the documents are tested.
        self.column.num_docs() / 10
    }

    fn cost(&self) -> u64 {
        u64::from(self.column.num_docs())
    }
}

/// Adds the documents with one of a field's terms between these that pass a test. No last one means all behind the first.
pub(in crate::query) fn with_terms(
    reader: &SegmentReader,
    field: Field,
    (first, last): (&[u8], Option<&[u8]>),
    takes: &mut dyn FnMut(&[u8]) -> bool,
    found: &mut BitSet,
) -> tantivy::Result<()> {
    let max_doc = reader.max_doc();
    let inverted_index = reader.inverted_index(field)?;
    let terms = inverted_index.terms().range().ge(first);
    let terms = match last {
        Some(last) => terms.le(last),
        None => terms,
    };
    let mut terms = terms.into_stream()?;
    while terms.advance() {
        if !takes(terms.key()) {
            continue;
        }
        let mut docs = inverted_index
            .read_block_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
        while !docs.docs().is_empty() {
            let docs_of_block = docs.docs().iter();
            for doc in docs_of_block.filter(|doc| **doc < max_doc) {
                found.insert(*doc);
            }
            docs.advance();
        }
    }
    Ok(())
}

/// Returns the score of a document with the reason for it.
///
/// # Errors
/// The document does not match.
pub(in crate::query) fn explained(
    mut scorer: Box<dyn Scorer>,
    doc: DocId,
    reason: &'static str,
) -> tantivy::Result<Explanation> {
    if scorer.doc() > doc || scorer.seek(doc) != doc {
        return Err(TantivyError::InvalidArgument(format!(
            "document {doc} does not match"
        )));
    }
    Ok(Explanation::new(reason, scorer.score()))
}

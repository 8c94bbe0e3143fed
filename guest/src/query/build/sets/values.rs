//! Documents with a whole value of which a clause on words is true.
//!
//! ```text
//!   word ─▶ dictionary of whole values ─▶ the values that have the word ─▶ their lists, joined
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use tantivy::query::{BitSetDocSet, ConstScorer, Explanation, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, Score, SegmentReader};
use tantivy_common::BitSet;

use crate::query::columns::{explained, with_terms};

/// Test of a whole value, as it is in the dictionary.
pub(crate) type TestOfValues<'t> = Box<dyn FnMut(&[u8]) -> bool + Send + 't>;

/// Clause on the words of a field whose terms are whole values. `P` is a pattern of words.
pub(crate) trait ValueClause<P>: fmt::Debug + Send + Sync {
    /// Returns a test that uses its memory again for the next value.
    fn test(&self) -> TestOfValues<'_>;

    /// Adds the words that it looks for, and the patterns of such.
    fn add_words(&self, words: &mut BTreeSet<String>, patterns: &mut Vec<P>);
}

/// Weight of a query for values, all of which have the same score.
pub(super) struct ValuesWeight<P> {
    pub(super) field: Field,
    pub(super) clause: Arc<dyn ValueClause<P>>,
}

impl<P: 'static> Weight for ValuesWeight<P> {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut found = BitSet::with_max_value(reader.max_doc());
        with_terms(
            reader,
            self.field,
            (&[], None),
            &mut self.clause.test(),
            &mut found,
        )?;
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(found), boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "a value with the words")
    }
}

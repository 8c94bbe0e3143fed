//! A clause as a tantivy query: before the scan it matches all documents or none, to find the documents that the
//! clauses decide about; afterwards it matches the documents that were found.

use std::sync::{Arc, Mutex, PoisonError};

use tantivy::query::{
    AllScorer, BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer,
    Weight,
};
use tantivy::{DocId, Score, SegmentReader, TantivyError};
use tantivy_common::BitSet;

use super::clause::Clause;
use crate::query::columns::explained;

/// The clauses of a query that no index answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    pub(crate) clauses: Vec<Clause>,
    answers: Arc<Mutex<Answers>>,
}

/// Results of a query's clauses.
#[derive(Clone, Debug, Default)]
pub(crate) enum Answers {
    /// Before the scan: as many documents match as possible.
    #[default]
    Most,
    /// Before the scan: only documents match that do in any case.
    Least,
    /// After the scan: the found documents, by clause.
    Found(Vec<BitSet>),
}

impl Scan {
    /// Adds a clause that no index of a split answers, and returns its query. `is_excluded` if the clause is inside a
    /// negation.
    pub(in crate::query) fn add(&mut self, clause: Clause, is_excluded: bool) -> Box<dyn Query> {
        let query = ScanQuery {
            ord: self.clauses.len(),
            is_excluded,
            answers: Arc::clone(&self.answers),
        };
        self.clauses.push(clause);
        Box::new(query)
    }

    /// Returns whether there is no clause.
    pub(crate) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Returns whether a clause needs stored documents.
    pub(crate) fn looks_at_documents(&self) -> bool {
        let is_looked_up = |clause: &Clause| matches!(clause, Clause::Ids(_));
        !self.clauses.iter().all(is_looked_up)
    }

    /// Returns whether a clause needs the objects of documents.
    pub(crate) fn looks_at_objects(&self) -> bool {
        let of_objects = |clause: &Clause| matches!(clause, Clause::Nested(_));
        self.clauses.iter().any(of_objects)
    }

    /// Sets the results of the clauses from now on.
    pub(crate) fn answer(&self, answers: Answers) {
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner) = answers;
    }
}

/// Returns the place of a clause among those of its query; `None` for another query.
pub(super) fn ord_of(query: &dyn Query) -> Option<usize> {
    query.downcast_ref::<ScanQuery>().map(|query| query.ord)
}

#[derive(Clone, Debug)]
struct ScanQuery {
    /// Its place among the clauses.
    ord: usize,
    /// True if the clause is inside a negation.
    is_excluded: bool,
    answers: Arc<Mutex<Answers>>,
}

impl Query for ScanQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for ScanQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_all = match &*answers {
            Answers::Most => !self.is_excluded,
            Answers::Least => self.is_excluded,
            Answers::Found(found) => {
                let Some(found) = found.get(self.ord) else {
                    let message = "a clause has no answer".to_owned();
                    return Err(TantivyError::InternalError(message));
                };
                let docs = BitSetDocSet::from(found.clone());
                return Ok(Box::new(ConstScorer::new(docs, boost)));
            }
        };
        Ok(match is_all {
            true => Box::new(ConstScorer::new(AllScorer::new(reader.max_doc()), boost)),
            false => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "found by looking at it")
    }
}

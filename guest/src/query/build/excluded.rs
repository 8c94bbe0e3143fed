//! What must not match, kept from a shortcut that phrases do not bear.
//!
//! tantivy asks an excluded scorer whether it holds a document by `seek_danger`, also for documents that it has
//! passed already. A phrase takes that for a defect of its caller (an assertion that builds with debug assertions
//! check), and `NOT "a b"` would end as one. Behind this query only the plain steps are visible, which look where the
//! scorer stands first.

use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

use crate::query::matching::PhraseOf;

/// The query as it may stand where it must not match.
pub(super) fn excluded(query: Box<dyn Query>) -> Box<dyn Query> {
    let may_hold_a_phrase =
        query.is::<PhraseOf>() || query.is::<BooleanQuery>() || query.is::<BoostQuery>();
    match may_hold_a_phrase {
        true => Box::new(Excluded { query }),
        false => query,
    }
}

/// A query of which only the plain steps are visible.
#[derive(Debug)]
pub(in crate::query) struct Excluded {
    query: Box<dyn Query>,
}

impl Excluded {
    /// What it keeps from sight.
    pub(in crate::query) fn inner(&self) -> &dyn Query {
        self.query.as_ref()
    }
}

impl Clone for Excluded {
    fn clone(&self) -> Self {
        Self {
            query: self.query.box_clone(),
        }
    }
}

impl Query for Excluded {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let weight = self.query.weight(scoring)?;
        Ok(Box::new(ExcludedWeight { weight }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct ExcludedWeight {
    weight: Box<dyn Weight>,
}

impl Weight for ExcludedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let scorer = self.weight.scorer(reader, boost)?;
        Ok(Box::new(PlainSteps { scorer }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.weight.explain(reader, doc)
    }
}

/// Goes on by plain steps only: everything else is what tantivy makes of those.
struct PlainSteps {
    scorer: Box<dyn Scorer>,
}

impl DocSet for PlainSteps {
    fn advance(&mut self) -> DocId {
        self.scorer.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.scorer.seek(target)
    }

    fn doc(&self) -> DocId {
        self.scorer.doc()
    }

    fn size_hint(&self) -> u32 {
        self.scorer.size_hint()
    }

    fn cost(&self) -> u64 {
        self.scorer.cost()
    }
}

impl Scorer for PlainSteps {
    fn score(&mut self) -> Score {
        self.scorer.score()
    }
}

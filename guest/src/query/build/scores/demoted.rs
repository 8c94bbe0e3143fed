//! Boosting queries: hits that match a negative query keep matching, with a lower score.

use tantivy::query::{ConstScoreQuery, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

/// Matches `positive`; where `negative` matches too, multiplies the score by `factor`.
#[derive(Debug)]
pub(crate) struct Demoted {
    positive: Box<dyn Query>,
    negative: Box<dyn Query>,
    factor: Score,
}

impl Demoted {
    pub(crate) fn new(positive: Box<dyn Query>, negative: Box<dyn Query>, factor: Score) -> Self {
        Self {
            positive,
            // Its score is never needed.
            negative: Box::new(ConstScoreQuery::new(negative, 0.0)),
            factor,
        }
    }
}

impl Clone for Demoted {
    fn clone(&self) -> Self {
        Self {
            positive: self.positive.box_clone(),
            negative: self.negative.box_clone(),
            factor: self.factor,
        }
    }
}

impl Query for Demoted {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(DemotedWeight {
            positive: self.positive.weight(scoring)?,
            negative: self.negative.weight(scoring)?,
            factor: self.factor,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.positive.query_terms(visitor);
    }
}

struct DemotedWeight {
    positive: Box<dyn Weight>,
    negative: Box<dyn Weight>,
    factor: Score,
}

impl Weight for DemotedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(DemotedScorer {
            positive: self.positive.scorer(reader, boost)?,
            negative: self.negative.scorer(reader, 1.0)?,
            factor: self.factor,
        }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.positive.explain(reader, doc)
    }
}

struct DemotedScorer {
    positive: Box<dyn Scorer>,
    negative: Box<dyn Scorer>,
    factor: Score,
}

impl DocSet for DemotedScorer {
    fn advance(&mut self) -> DocId {
        self.positive.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.positive.seek(target)
    }

    fn doc(&self) -> DocId {
        self.positive.doc()
    }

    fn size_hint(&self) -> u32 {
        self.positive.size_hint()
    }

    fn cost(&self) -> u64 {
        self.positive.cost()
    }
}

impl Scorer for DemotedScorer {
    fn score(&mut self) -> Score {
        let doc = self.positive.doc();
        if self.negative.doc() < doc {
            self.negative.seek(doc);
        }
        let score = self.positive.score();
        match self.negative.doc() == doc {
            true => score * self.factor,
            false => score,
        }
    }
}

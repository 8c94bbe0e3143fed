//! Union of queries whose score is that of the best one.
//!
//! tantivy's own query compiles a second copy of its union code, 15 KB of the component after gzip. Here the documents
//! come from a plain union, and each query is asked for its score where it is positioned on one of them.

use tantivy::query::{
    BooleanQuery, ConstScoreQuery, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

use crate::query::columns::explained;

/// Union with the score of the best query, plus a share of the others' scores.
#[derive(Debug)]
pub(crate) struct Best {
    queries: Vec<Box<dyn Query>>,
    others: Score,
}

impl Best {
    pub(crate) fn new(queries: Vec<Box<dyn Query>>, others: Score) -> Self {
        Self { queries, others }
    }

    fn copies(&self) -> Vec<Box<dyn Query>> {
        self.queries.iter().map(|query| query.box_clone()).collect()
    }
}

impl Clone for Best {
    fn clone(&self) -> Self {
        Self::new(self.copies(), self.others)
    }
}

impl Query for Best {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let union = ConstScoreQuery::new(Box::new(BooleanQuery::union(self.copies())), 0.0);
        let parts = self.queries.iter().map(|query| query.weight(scoring));
        Ok(Box::new(BestWeight {
            union: union.weight(scoring)?,
            parts: parts.collect::<tantivy::Result<_>>()?,
            others: self.others,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        for query in &self.queries {
            query.query_terms(visitor);
        }
    }
}

struct BestWeight {
    union: Box<dyn Weight>,
    parts: Vec<Box<dyn Weight>>,
    others: Score,
}

impl Weight for BestWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let parts = self.parts.iter();
        let parts = parts.map(|part| part.scorer(reader, boost));
        Ok(Box::new(BestScorer {
            union: self.union.scorer(reader, 1.0)?,
            parts: parts.collect::<tantivy::Result<_>>()?,
            others: self.others,
        }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "the best of several")
    }
}

struct BestScorer {
    union: Box<dyn Scorer>,
    parts: Vec<Box<dyn Scorer>>,
    others: Score,
}

impl DocSet for BestScorer {
    fn advance(&mut self) -> DocId {
        self.union.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.union.seek(target)
    }

    fn doc(&self) -> DocId {
        self.union.doc()
    }

    fn size_hint(&self) -> u32 {
        self.union.size_hint()
    }

    fn cost(&self) -> u64 {
        self.union.cost()
    }
}

impl Scorer for BestScorer {
    fn score(&mut self) -> Score {
        let doc = self.union.doc();
        let (mut best, mut sum): (Score, Score) = (0.0, 0.0);
        for part in &mut self.parts {
            if part.doc() < doc {
                part.seek(doc);
            }
            if part.doc() == doc {
                let score = part.score();
                best = best.max(score);
                sum += score;
            }
        }
        best + (sum - best) * self.others
    }
}

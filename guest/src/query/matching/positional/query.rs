//! The documents that meet a condition on positions, as a query of tantivy.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED, Term};

use super::combine::Interval;
use super::cursors::{Cursor, Leaves};
use super::source::{LeafTerms, Source};
use crate::query::columns::explained;
use crate::query::matching::near::searcher_of;
use crate::query::matching::term_infos::TermInfos;
use crate::query::tree::PositionalKind;

/// A condition on the positions of terms.
#[derive(Debug)]
pub(in crate::query) struct Condition {
    pub(in crate::query) source: Source,
    pub(in crate::query) leaves: Vec<LeafTerms>,
    pub(in crate::query) kind: PositionalKind,
    /// The field whose lengths count for scores.
    pub(in crate::query) field: Field,
}

impl Condition {
    /// Returns whether a document has an interval, given the positions of each leaf.
    pub(in crate::query) fn is_met(&self, leaves: &[Vec<u32>]) -> bool {
        !self.intervals(leaves).is_empty()
    }

    fn intervals(&self, leaves: &[Vec<u32>]) -> Vec<Interval> {
        let is_minimal = self.kind == PositionalKind::Intervals;
        self.source.intervals(leaves, is_minimal)
    }

    fn terms(&self) -> impl Iterator<Item = &Term> {
        self.leaves.iter().filter_map(|leaf| match leaf {
            LeafTerms::Term(term) => Some(term),
            LeafTerms::Accepted(..) => None,
        })
    }
}

/// Matches the documents with an interval.
#[derive(Clone, Debug)]
pub(in crate::query) struct PositionalQuery(Arc<Condition>);

impl PositionalQuery {
    pub(in crate::query) fn new(condition: Condition) -> Self {
        Self(Arc::new(condition))
    }

    /// Returns the condition.
    pub(in crate::query) fn condition(&self) -> &Condition {
        &self.0
    }
}

impl Query for PositionalQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let scores = match scoring {
            EnableScoring::Disabled { .. } => Scores::One,
            EnableScoring::Enabled {
                statistics_provider,
                ..
            } => Scores::of(&self.0, statistics_provider)?,
        };
        Ok(Box::new(PositionalWeight {
            condition: Arc::clone(&self.0),
            searcher: searcher_of(scoring)?,
            scores,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        for term in self.0.terms() {
            visitor(term, true);
        }
    }
}

/// Scores from the intervals of a document.
#[derive(Clone, Copy, Debug)]
enum Scores {
    /// Scores are not wanted.
    One,
    /// Lucene's for intervals: a sum of `1 / (1 + surplus length)`, from 0 to 1 by `sum / (1 + sum)`.
    Saturated { min_len: u32 },
    /// Lucene's for spans: BM25, where a span counts `1 / (1 + gaps)`.
    Bm25 { weight: f32, mean_len: f32 },
}

/// BM25's constants, as everywhere.
const K1: f32 = 1.2;
const B: f32 = 0.75;

#[expect(
    clippy::cast_precision_loss,
    reason = "scores are 32 bits wide, and numbers of positions small"
)]
impl Scores {
    fn of(condition: &Condition, statistics: &dyn Bm25StatisticsProvider) -> tantivy::Result<Self> {
        if condition.kind == PositionalKind::Intervals {
            let min_len = condition.source.min_len();
            return Ok(Self::Saturated { min_len });
        }
        let num_docs = statistics.total_num_docs()?;
        let num_tokens = statistics.total_num_tokens(condition.field)?;
        let mut weight = 0.0;
        let mut has_terms = false;
        for term in condition.terms() {
            has_terms = true;
            let doc_freq = statistics.doc_freq(term)?;
            let others = num_docs.saturating_sub(doc_freq) as f32;
            weight += (1.0 + (others + 0.5) / (doc_freq as f32 + 0.5)).ln();
        }
        Ok(Self::Bm25 {
            // The frequencies of words that a pattern stands for are not known beforehand.
            weight: if has_terms { weight } else { 1.0 } * (1.0 + K1),
            mean_len: num_tokens as f32 / num_docs.max(1) as f32,
        })
    }

    fn score(self, intervals: &[Interval], num_tokens: u32) -> Score {
        match self {
            Self::One => 1.0,
            Self::Saturated { min_len } => {
                let of_one = |interval: &Interval| {
                    let surplus = i64::from(interval.end) - i64::from(interval.start) + 1
                        - i64::from(min_len);
                    1.0 / (surplus + 1).max(1) as f32
                };
                let sum: f32 = intervals.iter().map(of_one).sum();
                1.0 - 1.0 / (1.0 + sum)
            }
            Self::Bm25 { weight, mean_len } => {
                let of_one = |interval: &Interval| 1.0 / (1 + interval.gaps.max(0)) as f32;
                let frequency: f32 = intervals.iter().map(of_one).sum();
                let len = num_tokens as f32 / mean_len.max(f32::MIN_POSITIVE);
                weight * frequency / (frequency + K1 * (1.0 - B + B * len))
            }
        }
    }
}

struct PositionalWeight {
    condition: Arc<Condition>,
    searcher: Searcher,
    scores: Scores,
}

impl Weight for PositionalWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let terms = TermInfos::default();
        let mut leaves = Leaves::open(&self.condition.leaves, &self.searcher, &terms)?;
        let docs = leaves.docs(&self.condition.source, None)?;
        let cursors = leaves.cursors(&docs)?;
        let lengths = match self.scores {
            Scores::Bm25 { .. } => reader
                .fieldnorms_readers()
                .get_field(self.condition.field)?,
            _ => None,
        };
        let mut scorer = PositionalScorer {
            positions: vec![Vec::new(); cursors.len()],
            condition: Arc::clone(&self.condition),
            docs,
            next: 0,
            doc: TERMINATED,
            cursors,
            intervals: Vec::new(),
            scores: self.scores,
            boost,
            lengths: lengths.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 1)),
        };
        scorer.go_on();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "words at positions")
    }
}

/// Iterator over the matching documents.
struct PositionalScorer {
    condition: Arc<Condition>,
    /// Documents that have the terms.
    docs: Vec<DocId>,
    /// Place of the next document to look at.
    next: usize,
    doc: DocId,
    cursors: Vec<Cursor>,
    /// Positions of each leaf in the document.
    positions: Vec<Vec<u32>>,
    /// Intervals of the document.
    intervals: Vec<Interval>,
    scores: Scores,
    boost: Score,
    lengths: FieldNormReader,
}

impl PositionalScorer {
    /// Moves to the first matching document from `next` on.
    fn go_on(&mut self) {
        while let Some(doc) = self.docs.get(self.next).copied() {
            self.next += 1;
            for (cursor, positions) in self.cursors.iter_mut().zip(&mut self.positions) {
                cursor.positions(doc, positions);
            }
            self.intervals = self.condition.intervals(&self.positions);
            if !self.intervals.is_empty() {
                self.doc = doc;
                return;
            }
        }
        self.doc = TERMINATED;
    }
}

impl DocSet for PositionalScorer {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.go_on();
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            let rest = self.docs.get(self.next..).unwrap_or_default();
            self.next += rest.partition_point(|doc| *doc < target);
            self.go_on();
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.docs.len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for PositionalScorer {
    fn score(&mut self) -> Score {
        let num_tokens = match self.scores {
            Scores::Bm25 { .. } => self.lengths.fieldnorm(self.doc),
            _ => 0,
        };
        self.boost * self.scores.score(&self.intervals, num_tokens)
    }
}

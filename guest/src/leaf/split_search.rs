//! Searching one open split whose bytes have been warmed up. Pure computation.

use std::ops::{Bound, Range};

use tantivy::aggregation::AggregationSegmentCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::intermediate_agg_result::IntermediateAggregationResults;
use tantivy::collector::SegmentCollector;
use tantivy::query::{EnableScoring, Scorer};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, TERMINATED};

use super::aggregate_columns::SplitAggregations;
use super::partial::PartialHit;
use super::statistics::Statistics;
use super::top_hits::{HitOrder, TopHits};
use crate::query::{BuiltQuery, QueryShape};
use crate::request::Limits;
use crate::session::Interrupt;
use crate::split::OpenSplit;

/// What to do with one split.
pub(super) struct SplitTask<'a> {
    pub(super) split: &'a OpenSplit,
    pub(super) split_ord: u32,
    pub(super) built: &'a BuiltQuery,
    /// Documents within the time filter.
    pub(super) docs: Range<DocId>,
    pub(super) order: &'a HitOrder,
    pub(super) window: usize,
    pub(super) aggregations: Option<&'a Aggregations>,
    pub(super) statistics: Option<&'a Statistics>,
    pub(super) limits: &'a Limits,
    /// When to stop.
    pub(super) interrupt: &'a Interrupt,
}

/// What one split answers.
#[derive(Debug, Default)]
pub(super) struct SplitResult {
    pub(super) num_hits: u64,
    pub(super) hits: Vec<PartialHit>,
    pub(super) aggregations: Option<IntermediateAggregationResults>,
}

/// Where matching documents go.
struct Collectors {
    num_hits: u64,
    top_hits: TopHits,
    aggregations: Option<AggregationSegmentCollector>,
}

impl Collectors {
    fn collect(&mut self, docs: &[DocId]) {
        self.num_hits += docs.len() as u64;
        self.top_hits.collect(docs);
        if let Some(aggregations) = &mut self.aggregations {
            aggregations.collect_block(docs);
        }
    }
}

impl SplitTask<'_> {
    /// Runs the query.
    ///
    /// # Errors
    /// What tantivy says; a read that missed is an error whose range is noted in the split's body.
    pub(super) fn run(&self) -> tantivy::Result<SplitResult> {
        let segment = self.split.segment();
        let aggregations = match self.aggregations {
            None => None,
            Some(request) => {
                let opened = SplitAggregations::open(request, self.split, self.limits)?;
                Some(AggregationSegmentCollector::from_agg_req_and_reader(
                    &opened.request,
                    segment,
                    0,
                    &opened.context,
                )?)
            }
        };
        let mut collectors = Collectors {
            num_hits: 0,
            top_hits: TopHits::open(self.split, self.order, self.window)?,
            aggregations,
        };
        if self.order.needs_scores() {
            self.run_scored(&mut collectors)?;
        } else if self.built.shape == QueryShape::All {
            self.run_all(&mut collectors)?;
        } else {
            self.run_unscored(&mut collectors)?;
        }
        self.interrupt.check_tantivy()?;
        Ok(SplitResult {
            num_hits: collectors.num_hits,
            hits: collectors.top_hits.into_hits(self.split_ord)?,
            aggregations: match collectors.aggregations {
                None => None,
                Some(collector) => Some(collector.harvest()?),
            },
        })
    }

    /// Whether a phrase prefix stands for more terms than it may.
    ///
    /// # Errors
    /// As [`SplitTask::run`].
    pub(super) fn too_many_terms(&self) -> tantivy::Result<bool> {
        for range in &self.built.needs.term_ranges {
            let Some(limit) = range.limit else {
                continue;
            };
            let inverted_index = self.split.segment().inverted_index(range.field)?;
            let builder = inverted_index.terms().range().limit(limit);
            let builder = match &range.lower {
                Bound::Included(term) => builder.ge(term.serialized_value_bytes()),
                Bound::Excluded(term) => builder.gt(term.serialized_value_bytes()),
                Bound::Unbounded => builder,
            };
            let mut terms = match &range.upper {
                Bound::Included(term) => builder.le(term.serialized_value_bytes()),
                Bound::Excluded(term) => builder.lt(term.serialized_value_bytes()),
                Bound::Unbounded => builder,
            }
            .into_stream()?;
            let mut num_terms = 0;
            while terms.advance() {
                self.interrupt.check_tantivy()?;
                num_terms += 1;
                if num_terms >= limit {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Every document in the range matches.
    fn run_all(&self, collectors: &mut Collectors) -> tantivy::Result<()> {
        const BLOCK: u32 = 4096;
        let mut block: Vec<DocId> = Vec::new();
        let mut from = self.docs.start;
        while from < self.docs.end {
            self.interrupt.check_tantivy()?;
            let to = from.saturating_add(BLOCK).min(self.docs.end);
            block.clear();
            block.extend(from..to);
            collectors.collect(&block);
            from = to;
        }
        Ok(())
    }

    fn run_unscored(&self, collectors: &mut Collectors) -> tantivy::Result<()> {
        let scoring = EnableScoring::disabled_from_searcher(&self.split.searcher);
        let mut scorer = self.scorer(scoring)?;
        let mut buffer = [0; COLLECT_BLOCK_BUFFER_LEN];
        loop {
            self.interrupt.check_tantivy()?;
            let num_docs = scorer.fill_buffer(&mut buffer);
            let docs = buffer.get(..num_docs).unwrap_or(&buffer);
            let in_range = docs.partition_point(|doc| *doc < self.docs.end);
            collectors.collect(docs.get(..in_range).unwrap_or(docs));
            if num_docs < COLLECT_BLOCK_BUFFER_LEN || in_range < num_docs {
                return Ok(());
            }
        }
    }

    fn run_scored(&self, collectors: &mut Collectors) -> tantivy::Result<()> {
        let scoring = match self.statistics {
            Some(statistics) => {
                EnableScoring::enabled_from_statistics_provider(statistics, &self.split.searcher)
            }
            None => EnableScoring::enabled_from_searcher(&self.split.searcher),
        };
        let mut scorer = self.scorer(scoring)?;
        while scorer.doc() < self.docs.end {
            self.interrupt.check_tantivy()?;
            let doc = scorer.doc();
            let score = scorer.score();
            collectors.num_hits += 1;
            collectors.top_hits.collect_scored(doc, score);
            if let Some(aggregations) = &mut collectors.aggregations {
                aggregations.collect(doc, score);
            }
            scorer.advance();
        }
        Ok(())
    }

    /// A scorer that stands on the first matching document of the range.
    fn scorer(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Scorer>> {
        let weight = self.built.query.weight(scoring)?;
        let mut scorer = weight.scorer(self.split.segment(), 1.0)?;
        if scorer.doc() != TERMINATED && scorer.doc() < self.docs.start {
            scorer.seek(self.docs.start);
        }
        Ok(scorer)
    }
}

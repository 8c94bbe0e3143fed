//! Collector of all aggregations of a request over one split.

use std::ops::Range;

use super::build;
use super::part::Part;
use super::split::Split;
use crate::Result;
use crate::collect::block::Docs;
use crate::collect::budget::Budget;
use crate::collect::metrics::Scores;
use crate::collect::{Collect, Ranked};
use crate::partial::Partial;
use crate::request::Aggregations;
use crate::rollup::FromHead;

/// Running aggregations of a request over one split.
pub struct Collector {
    parts: Vec<Part>,
    budget: Budget,
    scores: Scores,
}

impl Collector {
    /// Opens the columns, whose bytes must be available. Results from the head are not computed
    /// again.
    ///
    /// # Errors
    /// A column cannot answer the request; a read of missing bytes.
    pub fn open(
        aggregations: &Aggregations,
        split: &Split<'_>,
        from_head: &FromHead,
    ) -> Result<Self> {
        let is_filtered = aggregations.bounds.is_filtered;
        let scores = Scores::default();
        let list = aggregations.list.iter().enumerate();
        let parts = list.map(|(place, aggregation)| {
            let collect = match from_head.reads_columns(place) {
                true => Some(build(aggregation, split, &scores, is_filtered)?),
                false => None,
            };
            Ok(Part::new(collect, from_head.of(place).cloned()))
        });
        Ok(Self {
            parts: parts.collect::<Result<_>>()?,
            budget: Budget::new(aggregations.bounds.max_bytes),
            scores,
        })
    }

    /// Collects the documents from `first` to before `end`.
    ///
    /// # Errors
    /// The buckets exceed the memory limit; the split is damaged.
    pub fn collect_range(&mut self, first: u32, end: u32) -> Result<()> {
        self.collect(Docs::Range(first, end))
    }

    /// Collects documents, in ascending order.
    ///
    /// # Errors
    /// As [`Self::collect_range`].
    pub fn collect_list(&mut self, docs: &[u32]) -> Result<()> {
        self.collect(Docs::List(docs))
    }

    /// Collects documents with their scores, in ascending order.
    ///
    /// # Errors
    /// As [`Self::collect_range`].
    pub fn collect_scored(&mut self, docs: &[u32], scores: &[f64]) -> Result<()> {
        self.scores.set(docs, scores);
        self.collect(Docs::List(docs))
    }

    /// Counts the documents of a set within a range without visiting each. Returns `false` without
    /// any effect if an aggregation must visit them.
    ///
    /// # Errors
    /// As [`Self::collect_range`]; a read of missing bytes.
    pub fn collect_ranked(&mut self, docs: &Range<u32>, set: &mut dyn Ranked) -> Result<bool> {
        let mut all: Vec<&mut Box<dyn Collect>> = Vec::with_capacity(self.parts.len());
        for part in &mut self.parts {
            match part.counting_ranks() {
                Some(collect) => all.push(collect),
                None => return Ok(false),
            }
        }
        for collect in all {
            set.restart()?;
            collect.collect_ranked(docs.clone(), set, &self.budget)?;
        }
        Ok(true)
    }

    fn collect(&mut self, docs: Docs<'_>) -> Result<()> {
        if docs.len() == 0 {
            return Ok(());
        }
        for part in &mut self.parts {
            part.collect(docs, &self.budget)?;
        }
        Ok(())
    }

    /// Returns the results of all aggregations.
    ///
    /// # Errors
    /// As [`Self::collect_range`].
    pub fn finish(self) -> Result<Partial> {
        let nodes = self.parts.into_iter();
        let nodes = nodes.map(|part| part.finish(&self.budget));
        Ok(Partial {
            nodes: nodes.collect::<Result<_>>()?,
        })
    }
}

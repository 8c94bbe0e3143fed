//! Collectors: from one split's documents to its partial result.
//!
//! Documents come in blocks, each document with its parent bucket. Every collector passes them on
//! to its sub-aggregations with the buckets that it found:
//!
//! ```text
//!   filter ──▶ documents ──▶ date_histogram ──▶ the same, by bucket ──▶ terms ──▶ … ──▶ avg
//!              range or list   ranges of documents                      codes           values
//! ```
//!
//! Blocks with all documents in one bucket, and ranges of documents, keep their form as long as
//! possible: they are counted without visiting single documents.

mod block;
mod budget;
mod build;
mod dates;
mod field;
mod grouping;
mod keyed;
mod mapping;
mod metrics;
mod table;
mod tuples;

pub use build::{BitSet, Split};
pub(crate) use dates::is_known;
pub use field::column_handles;
pub(crate) use tuples::TupleOrder;

use std::ops::Range;

use self::block::{Block, Docs};
use self::budget::Budget;
use self::build::Part;
use self::grouping::NONE;
use crate::Result;
use crate::partial::{Node, Partial};
use crate::request::Aggregations;
use crate::rollup::FromHead;

/// State of one aggregation over the documents so far.
trait Collect {
    /// Collects documents.
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()>;

    /// Returns whether [`Self::collect_ranked`] can replace [`Self::collect`].
    fn counts_ranks(&self) -> bool {
        false
    }

    /// Counts the documents of a set within a range without visiting each. All are in bucket 0.
    fn collect_ranked(&mut self, _: Range<u32>, _: &mut dyn Ranked, _: &Budget) -> Result<()> {
        Ok(())
    }

    /// Returns the result, with the parent buckets in their order.
    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node>;
}

/// Set of documents that can be counted without visiting each, such as a posting list.
pub trait Ranked {
    /// Rewinds to before the first document.
    ///
    /// # Errors
    /// A read of missing bytes.
    fn restart(&mut self) -> tantivy::Result<()>;

    /// Returns the number of its documents before `doc`, and its first document that is not before
    /// `doc` (`u32::MAX` if there is none). Successive calls must ascend.
    fn seek(&mut self, doc: u32) -> (u32, u32);
}

/// Positions of the parent buckets in the partial result.
#[derive(Clone, Copy, Debug)]
struct Places<'a> {
    /// Position of each ordinal; [`NONE`] if a bucket is dropped. Ordinals with the same position
    /// are merged into one bucket.
    of: &'a [u32],
    /// Number of positions.
    len: usize,
}

impl Places<'_> {
    fn at(&self, ord: u32) -> Option<u32> {
        self.of
            .get(ord as usize)
            .copied()
            .filter(|place| *place != NONE)
    }
}

/// Running aggregations of a request over one split.
pub struct Collector {
    parts: Vec<Part>,
    budget: Budget,
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
        let list = aggregations.list.iter().enumerate();
        let parts = list.map(|(place, aggregation)| {
            let collect = match from_head.reads_columns(place) {
                true => Some(build::build(aggregation, split, is_filtered)?),
                false => None,
            };
            Ok(Part::new(collect, from_head.of(place).cloned()))
        });
        Ok(Self {
            parts: parts.collect::<Result<_>>()?,
            budget: Budget::new(aggregations.bounds.max_bytes),
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

//! One split's documents → its partial result.
//!
//! Documents come in blocks, each with the bucket around that it is in, and every collector passes them on to
//! those inside of it with the buckets that it found:
//!
//! ```text
//!   filter ──▶ documents ──▶ date_histogram ──▶ the same, by bucket ──▶ terms ──▶ … ──▶ avg
//!              range or list   ranges of documents                      codes           values
//! ```
//!
//! A block whose documents are all in one bucket stays one, and a range of documents stays a range, as long as
//! it can: those are counted without looking at single documents.

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

/// What one aggregation knows of the documents so far.
trait Collect {
    /// Takes in some documents.
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()>;

    /// Whether [`Self::collect_ranked`] can take the place of [`Self::collect`].
    fn counts_ranks(&self) -> bool {
        false
    }

    /// Takes in the documents of a set that are in a range, without seeing each. All are in bucket 0.
    fn collect_ranked(&mut self, _: Range<u32>, _: &mut dyn Ranked, _: &Budget) -> Result<()> {
        Ok(())
    }

    /// What it came to, for the buckets around in their order.
    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node>;
}

/// Documents that can be counted without looking at each, as those of a posting list.
pub trait Ranked {
    /// Goes back before the first document.
    ///
    /// # Errors
    /// A read of bytes that are not there.
    fn restart(&mut self) -> tantivy::Result<()>;

    /// How many of them are before a document, and the first that is not; `u32::MAX` if there is none. From one
    /// call to the next, documents ascend.
    fn seek(&mut self, doc: u32) -> (u32, u32);
}

/// Where the buckets around will stand in the partial result.
#[derive(Clone, Copy, Debug)]
struct Places<'a> {
    /// By ordinal; [`NONE`] if a bucket is left out. Several ordinals may have one place: they become one
    /// bucket.
    of: &'a [u32],
    /// How many there are.
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

/// The aggregations of a request over one split, under way.
pub struct Collector {
    parts: Vec<Part>,
    budget: Budget,
}

impl Collector {
    /// Opens the columns, whose bytes must be there. What the head says is not counted again.
    ///
    /// # Errors
    /// A column that cannot answer the request; a read of bytes that are not there.
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

    /// Takes in the documents from `first` to before `end`.
    ///
    /// # Errors
    /// If the buckets take more memory than they may; damage.
    pub fn collect_range(&mut self, first: u32, end: u32) -> Result<()> {
        self.collect(Docs::Range(first, end))
    }

    /// Takes in some documents, in ascending order.
    ///
    /// # Errors
    /// As [`Self::collect_range`].
    pub fn collect_list(&mut self, docs: &[u32]) -> Result<()> {
        self.collect(Docs::List(docs))
    }

    /// Takes in the documents of a set that are in a range, without seeing each. `false`, and nothing done, if an
    /// aggregation has to see them.
    ///
    /// # Errors
    /// As [`Self::collect_range`]; a read of bytes that are not there.
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

    /// What all of them came to.
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

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

pub use build::{BitSet, Collector, Columns, Objects, ObjectsWriter, Origin, Split};
pub(crate) use dates::is_known;
pub use field::column_handles;
pub(crate) use tuples::TupleOrder;

use std::ops::Range;

use self::block::Block;
use self::budget::Budget;
use self::grouping::NONE;
use crate::Result;
use crate::partial::Node;

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

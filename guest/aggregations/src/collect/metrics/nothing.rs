//! Aggregations without a column: their buckets give the whole answer.

use crate::Result;
use crate::collect::block::Block;
use crate::collect::budget::Budget;
use crate::collect::{Collect, Places};
use crate::partial::{Metric, Metrics, Node};

/// Collector that ignores all documents.
pub(in crate::collect) struct Nothing;

impl Collect for Nothing {
    fn collect(&mut self, _: Block<'_>, _: &Budget) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        Ok(Node::Metric(Metric {
            is_date: false,
            states: Metrics::Counts(vec![0; places.len]),
        }))
    }
}

//! One aggregation of a request: the part answered from the head of the split, and the documents
//! that need columns.

use std::ops::Range;

use crate::collect::block::{Block, Docs};
use crate::collect::budget::Budget;
use crate::collect::{Collect, Places};
use crate::partial::{Node, Partial};
use crate::rollup::Said;
use crate::{Error, Result};

/// One aggregation of a request.
pub(super) struct Part {
    /// `None` if the head answers everything.
    collect: Option<Box<dyn Collect>>,
    said: Option<Said>,
}

impl Part {
    pub(super) fn new(collect: Option<Box<dyn Collect>>, said: Option<Said>) -> Self {
        Self { collect, said }
    }

    /// Returns the collector if it covers all documents and can count them without visiting each.
    pub(super) fn counting_ranks(&mut self) -> Option<&mut Box<dyn Collect>> {
        let collect = self.collect.as_mut()?;
        (self.said.is_none() && collect.counts_ranks()).then_some(collect)
    }

    /// Collects documents, except those already counted from the head.
    pub(super) fn collect(&mut self, docs: Docs<'_>, budget: &Budget) -> Result<()> {
        let Some(collect) = &mut self.collect else {
            return Ok(());
        };
        let Some(said) = &self.said else {
            return collect.collect(Block::of_one(docs, 0), budget);
        };
        for range in &said.rest {
            let docs = within(docs, range);
            if docs.len() > 0 {
                collect.collect(Block::of_one(docs, 0), budget)?;
            }
        }
        Ok(())
    }

    /// Returns the result.
    pub(super) fn finish(self, budget: &Budget) -> Result<Node> {
        let places = Places { of: &[0], len: 1 };
        let collected = self.collect.map(|collect| collect.finish(places, budget));
        let mut nodes = Vec::with_capacity(2);
        nodes.extend(self.said.map(|said| said.node));
        nodes.extend(collected.transpose()?);
        let mut partials = nodes.into_iter().map(|node| Partial { nodes: vec![node] });
        let mut sum = partials.next();
        for other in partials {
            if !sum.as_mut().is_some_and(|sum| sum.merge(other)) {
                return Err(not_alike());
            }
        }
        sum.and_then(|mut sum| sum.nodes.pop())
            .ok_or_else(not_alike)
    }
}

/// Returns the documents within a range.
fn within<'a>(docs: Docs<'a>, range: &Range<u32>) -> Docs<'a> {
    match docs {
        Docs::Range(first, end) => {
            let first = first.max(range.start);
            Docs::Range(first, end.min(range.end).max(first))
        }
        Docs::List(docs) => {
            let first = docs.partition_point(|doc| *doc < range.start);
            let end = docs.partition_point(|doc| *doc < range.end);
            Docs::List(docs.get(first..end).unwrap_or_default())
        }
    }
}

fn not_alike() -> Error {
    let what = "the head and the columns answered different aggregations";
    Error::Columns(tantivy::TantivyError::InternalError(what.to_owned()))
}

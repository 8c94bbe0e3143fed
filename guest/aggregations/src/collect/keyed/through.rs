//! What takes the place of documents, without a bucket of its own.

use std::sync::Arc;

use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::Budget;
use crate::collect::build::ObjectPlaces;
use crate::collect::{Collect, Places};
use crate::partial::Node;

/// Direction between documents and what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collect) enum Way {
    /// From documents to their objects.
    In,
    /// From objects to their documents, of which each has one.
    Out,
}

/// Passes on the objects of documents, or the documents of objects.
pub(in crate::collect) struct Through {
    places: Arc<ObjectPlaces>,
    way: Way,
    inside: Box<dyn Collect>,
}

impl Through {
    pub(in crate::collect) fn new(
        places: Arc<ObjectPlaces>,
        way: Way,
        inside: Box<dyn Collect>,
    ) -> Self {
        Self {
            places,
            way,
            inside,
        }
    }
}

impl Collect for Through {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let (mut objects, mut groups) = (Vec::new(), Vec::new());
        for (doc, group) in block.pairs() {
            let next = match self.way {
                Way::In => self.places.within(doc),
                Way::Out => {
                    let doc = self.places.parent(doc);
                    doc..doc.saturating_add(1)
                }
            };
            for object in next {
                objects.push(object);
                groups.push(group);
            }
        }
        match objects.is_empty() {
            true => Ok(()),
            false => {
                let block = Block::of_each(Docs::List(&objects), &groups);
                self.inside.collect(block, budget)
            }
        }
    }

    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        self.inside.finish(places, budget)
    }
}

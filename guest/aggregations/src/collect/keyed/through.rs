//! What takes the place of documents, without a bucket of its own.

use std::sync::Arc;

use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::Budget;
use crate::collect::build::ObjectPlaces;
use crate::collect::{Collect, Places};
use crate::partial::Node;

/// Passes on the objects of documents.
pub(in crate::collect) struct Through {
    places: Arc<ObjectPlaces>,
    inside: Box<dyn Collect>,
}

impl Through {
    pub(in crate::collect) fn new(places: Arc<ObjectPlaces>, inside: Box<dyn Collect>) -> Self {
        Self { places, inside }
    }
}

impl Collect for Through {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let (mut objects, mut groups) = (Vec::new(), Vec::new());
        for (doc, group) in block.pairs() {
            for object in self.places.within(doc) {
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

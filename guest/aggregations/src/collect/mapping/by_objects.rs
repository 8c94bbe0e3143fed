//! From documents to the objects in them, and back.

use std::sync::Arc;

use super::super::block::Block;
use super::super::build::ObjectPlaces;
use super::{Each, Mapping, pass_on, place_keys};
use crate::Result;
use crate::key::Key;

/// Bucket of the objects in documents, or in outer objects.
pub(in crate::collect) struct ByObjects(pub(in crate::collect) Arc<ObjectPlaces>);

impl Mapping for ByObjects {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (doc, group) in block.pairs() {
            pairs.extend(self.0.within(doc).map(|object| (object, group)));
        }
        pass_on_pairs(&pairs, each)
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}

/// Bucket of the documents, or outer objects, around objects.
pub(in crate::collect) struct ToParents(pub(in crate::collect) Vec<Arc<ObjectPlaces>>);

impl Mapping for ToParents {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        // All objects of a document come in one block.
        let parent = |object: u32| self.0.iter().fold(object, |at, list| list.parent(at));
        let pairs = block.pairs().map(|(object, group)| (parent(object), group));
        let mut pairs: Vec<(u32, u32)> = pairs.collect();
        canter_sorting::sort(&mut pairs);
        pairs.dedup();
        pass_on_pairs(&pairs, each)
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}

fn pass_on_pairs(pairs: &[(u32, u32)], each: Each<'_>) -> Result<()> {
    let docs: Vec<u32> = pairs.iter().map(|(doc, _)| *doc).collect();
    let groups: Vec<u32> = pairs.iter().map(|(_, group)| *group).collect();
    pass_on(0, &docs, &groups, &mut Vec::new(), each)
}

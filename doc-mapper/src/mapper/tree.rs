//! The mapping as a tree of objects and leaves, made for finding a key fast.

use tantivy::schema::Field;

use crate::config::{FieldKind, Normalizer};

/// A mapped field.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) field: Field,
    /// Mapped, but the segment was built before: what its documents had there is in `_dynamic`, if anywhere, and
    /// `field` stands for nothing.
    pub(crate) is_absent: bool,
    /// The path, escaped: tantivy's name of the field.
    pub(crate) path: String,
    pub(crate) kind: FieldKind,
    pub(crate) multi_valued: bool,
    pub(crate) stored: bool,
    pub(crate) indexed: bool,
    pub(crate) fast: Option<Normalizer>,
    pub(crate) is_timestamp: bool,
    pub(crate) is_needle: bool,
    /// Present when `exists` on this field needs it: see `presence.rs`.
    pub(crate) presence: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum Child {
    Leaf(Box<Leaf>),
    Object(ObjectNode),
}

/// A mapped object; the root is one too.
#[derive(Debug, Default)]
pub(crate) struct ObjectNode {
    /// The path, escaped; empty for the root.
    pub(crate) path: String,
    /// In the order of the config.
    pub(crate) children: Vec<(String, Child)>,
    /// The positions of the children, sorted by name.
    sorted: Vec<usize>,
}

impl ObjectNode {
    pub(crate) fn new(path: String, children: Vec<(String, Child)>) -> ObjectNode {
        let mut sorted: Vec<usize> = (0..children.len()).collect();
        sorted.sort_by_key(|&i| children.get(i).map(|(name, _)| name.as_str()));
        ObjectNode {
            path,
            children,
            sorted,
        }
    }

    pub(crate) fn child(&self, position: usize) -> Option<&Child> {
        self.children.get(position).map(|(_, child)| child)
    }

    fn name(&self, position: usize) -> &str {
        self.children.get(position).map_or("", |(name, _)| name)
    }

    /// The position of a child by its key. `guess` is tried first: documents tend to have their keys
    /// in the order of the mapping.
    #[inline]
    pub(crate) fn find(&self, key: &str, guess: usize) -> Option<usize> {
        if guess < self.children.len() && self.name(guess) == key {
            return Some(guess);
        }
        self.sorted
            .binary_search_by(|&i| self.name(i).cmp(key))
            .ok()
            .and_then(|found| self.sorted.get(found).copied())
    }

    /// Every leaf below this object, in the order of the config.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn collect_leaves<'t>(&'t self, leaves: &mut Vec<&'t Leaf>) {
        for (_, child) in &self.children {
            match child {
                Child::Leaf(leaf) => leaves.push(leaf),
                Child::Object(object) => object.collect_leaves(leaves),
            }
        }
    }
}

//! Layout of a record: the positions of its values and keys in the text, in order.
//!
//! ```text
//!   {"a": 1, "b": [2]}     Object to 6 │ key a │ leaf 1 │ key b │ Array to 6 │ leaf 2
//! ```

use std::ops::Range;

/// One value or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// An object: pairs of a key and a value follow, up to this node.
    Object(usize),
    /// An array: values follow, up to this node.
    Array(usize),
    /// A key, with its quotes.
    Key(Range<usize>),
    /// A value without nested ones.
    Leaf(Range<usize>),
}

/// The nodes of a record in the order of its text; the first is the whole.
#[derive(Debug, Default)]
pub(in crate::transform) struct Layout {
    pub(super) nodes: Vec<Node>,
    /// Numbers that are text to the program, because it could not represent them: wherever their text occurs in the
    /// output, it is a number.
    pub(super) exact: Vec<String>,
}

impl Layout {
    /// Returns the node behind a value.
    pub(super) fn behind(&self, at: usize) -> usize {
        match self.nodes.get(at) {
            Some(Node::Object(end) | Node::Array(end)) => *end,
            _ => at + 1,
        }
    }

    /// Returns the text of a node, if it is a key or a leaf.
    pub(super) fn text<'t>(&self, at: usize, json: &'t str) -> Option<&'t str> {
        match self.nodes.get(at)? {
            Node::Key(range) | Node::Leaf(range) => json.get(range.clone()),
            Node::Object(_) | Node::Array(_) => None,
        }
    }
}

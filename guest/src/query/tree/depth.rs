//! The deepest tree that is read from bytes: bytes that say otherwise end with an error, and not with the stack.

use std::cell::Cell;

use serde::de::Error;

/// More than any query within the usual limit has, each of whose levels is a few nodes.
const MAX_DEPTH: usize = 500;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Reads a part of a tree that stands inside of what is being read.
///
/// # Errors
/// If the tree is too deep, or the part cannot be read.
pub(super) fn one_deeper<T, E: Error>(read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return Err(E::custom(format!(
            "the query nests deeper than {MAX_DEPTH}"
        )));
    }
    DEPTH.set(depth + 1);
    let part = read();
    DEPTH.set(depth);
    part
}

#[cfg(test)]
mod tests {
    use crate::query::tree::QueryNode;

    fn nested(depth: usize) -> Vec<u8> {
        let nodes = (1..depth).fold(QueryNode::All, |node, _| {
            QueryNode::Nested(Box::new(node), String::new(), false)
        });
        postcard::to_allocvec(&nodes).unwrap()
    }

    #[test]
    fn a_tree_from_bytes_has_a_bound() {
        let read = |depth| postcard::from_bytes::<QueryNode>(&nested(depth));
        read(super::MAX_DEPTH).unwrap();
        read(super::MAX_DEPTH + 1).unwrap_err();
        // One after the other is not one inside of the other.
        read(super::MAX_DEPTH).unwrap();
    }
}

//! Limit on the depth of a deserialized tree: deeper input ends with an error instead of exhausting the stack.

use std::cell::Cell;

use serde::de::Error;

/// Larger than the depth of any query within the default limit, each of whose levels is a few nodes.
const MAX_DEPTH: usize = 500;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Deserializes a part of a tree inside the current one.
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
        let check = || {
            let read = |depth| postcard::from_bytes::<QueryNode>(&nested(depth));
            read(super::MAX_DEPTH).unwrap();
            read(super::MAX_DEPTH + 1).unwrap_err();
            // Siblings are not nested.
            read(super::MAX_DEPTH).unwrap();
        };
        // The threads of engines have 2 MiB. Unoptimised, which unit tests are but in the full ones, frames are several times
        // as large as the engines'.
        let num_mib = if std::env::var_os("CI_FULL").is_some() {
            2
        } else {
            16
        };
        let thread = std::thread::Builder::new().stack_size(num_mib << 20);
        thread.spawn(check).unwrap().join().unwrap();
    }
}

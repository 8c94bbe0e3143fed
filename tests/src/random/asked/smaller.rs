//! Reduction of requests and documents: removes one part at a time, to find a smaller one with
//! the same difference.

use serde_json::Value;

use super::query::Node;
use super::request::Request;
use crate::random::aggregations;

/// Returns the variants of a request with one part removed.
pub(crate) fn smaller_requests(request: &Request) -> Vec<Request> {
    let mut smaller = Vec::new();
    let mut with = |change: &dyn Fn(&mut Request)| {
        let mut changed = request.clone();
        change(&mut changed);
        smaller.push(changed);
    };
    if !request.aggs.is_empty() {
        with(&|request| request.aggs.clear());
    }
    for aggs in aggregations::smaller(&request.aggs) {
        with(&|request| request.aggs = aggs.clone());
    }
    if !request.sort_by.is_empty() {
        with(&|request| request.sort_by.clear());
    }
    if request.sort_by.len() > 1 {
        with(&|request| request.sort_by = request.sort_by.split_off(1));
        with(&|request| request.sort_by.truncate(1));
    }
    if request.start.is_some() || request.end.is_some() {
        with(&|request| (request.start, request.end) = (None, None));
    }
    if request.count_up_to.is_some() {
        with(&|request| request.count_up_to = None);
    }
    if request.start_offset > 0 {
        with(&|request| request.start_offset = 0);
    }
    if request.max_hits > 0 {
        with(&|request| request.max_hits = 0);
    }
    let parts: Vec<Node> = match &request.node {
        Node::Leaf(super::query::Leaf::All) => Vec::new(),
        node => std::iter::once(Node::Leaf(super::query::Leaf::All))
            .chain(smaller_nodes(node))
            .collect(),
    };
    if request.search_field.is_none() {
        for part in parts {
            with(&|request| request.node = part.clone());
        }
    }
    smaller
}

/// Returns the child nodes, and variants of the node with one child removed or reduced.
fn smaller_nodes(node: &Node) -> Vec<Node> {
    match node {
        Node::Leaf(_) | Node::Group { .. } => Vec::new(),
        Node::Boost(inner) => vec![inner.as_ref().clone()],
        Node::Not(inner) => {
            let smaller = smaller_nodes(inner).into_iter();
            let smaller = smaller.map(|node| Node::Not(Box::new(node)));
            std::iter::once(inner.as_ref().clone())
                .chain(smaller)
                .collect()
        }
        Node::And(nodes) | Node::Or(nodes) => {
            let is_and = matches!(node, Node::And(_));
            let whole = |nodes: Vec<Node>| {
                if is_and {
                    Node::And(nodes)
                } else {
                    Node::Or(nodes)
                }
            };
            let mut smaller = nodes.clone();
            for nth in 0..nodes.len() {
                if nodes.len() > 2 {
                    let mut fewer = nodes.clone();
                    fewer.remove(nth);
                    smaller.push(whole(fewer));
                }
                for part in smaller_nodes(&nodes[nth]) {
                    let mut other = nodes.clone();
                    other[nth] = part;
                    smaller.push(whole(other));
                }
            }
            smaller
        }
        Node::Side(nodes) => {
            let mut smaller: Vec<Node> = nodes.iter().map(|(_, node)| node.clone()).collect();
            for nth in 0..nodes.len() {
                if nodes.len() > 1 {
                    let mut fewer = nodes.clone();
                    fewer.remove(nth);
                    smaller.push(Node::Side(fewer));
                }
                for part in smaller_nodes(&nodes[nth].1) {
                    let mut other = nodes.clone();
                    other[nth].1 = part;
                    smaller.push(Node::Side(other));
                }
            }
            smaller
        }
    }
}

/// Removes documents, and keys of the first ones, as long as the answer stays wrong.
pub(crate) fn smaller_documents(
    docs: &mut Vec<Value>,
    problem: &mut String,
    fails: &dyn Fn(&[Value]) -> Option<String>,
) {
    let mut step = docs.len().div_ceil(2);
    while step > 0 {
        let mut at = 0;
        while at < docs.len() && docs.len() > 1 {
            let mut fewer = docs.clone();
            fewer.drain(at..(at + step).min(docs.len()));
            match (!fewer.is_empty()).then(|| fails(&fewer)).flatten() {
                Some(its_problem) => (*docs, *problem) = (fewer, its_problem),
                None => at += step,
            }
        }
        step /= 2;
    }
    for nth in 0..docs.len().min(4) {
        let doc = docs[nth].as_object();
        let keys: Vec<String> = doc.map_or_else(Vec::new, |doc| doc.keys().cloned().collect());
        for key in keys {
            let mut fewer = docs.clone();
            if let Some(doc) = fewer[nth].as_object_mut() {
                doc.remove(&key);
            }
            if let Some(its_problem) = fails(&fewer) {
                (*docs, *problem) = (fewer, its_problem);
            }
        }
    }
}

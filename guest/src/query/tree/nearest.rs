//! Documents whose vectors are nearest to a query's: looked for before a search is planned, then named one by one.

use serde::{Deserialize, Serialize};

use super::leaf::Leaf;
use super::node::{BoolNode, Factor, QueryNode, Role};

/// A condition: the vector of a field is among the nearest of all documents that pass a filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Nearest {
    pub(crate) field: String,
    /// The query's vector, as the request has it: JSON.
    pub(crate) vector: String,
    /// Number of documents.
    pub(crate) k: Option<u32>,
    /// Number of documents that are considered.
    pub(crate) num_candidates: Option<u32>,
    pub(crate) filter: Option<Box<QueryNode>>,
    /// How similar vectors must be, in the field's own measure.
    pub(crate) similarity: Option<Factor>,
}

/// The rankings of several queries as one (`rrf`): the score of a document is the sum of `1 / (constant + rank)` over the
/// queries of whose best it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fused {
    pub(crate) queries: Vec<QueryNode>,
    /// Number of best documents of each query that have a rank.
    pub(crate) window: u32,
    pub(crate) constant: u32,
}

impl Fused {
    /// Returns the query for the documents of all queries, with the scores of those that were found.
    pub(crate) fn with_found(queries: Vec<QueryNode>, found: Vec<FoundIn>) -> QueryNode {
        let others = queries
            .into_iter()
            .map(|query| QueryNode::Constant(Box::new(query), Factor(0.0)));
        let clauses = std::iter::once(QueryNode::found(found)).chain(others);
        QueryNode::Bool(BoolNode {
            clauses: clauses.map(|node| (Role::Should, node)).collect(),
            min_should: None,
        })
    }
}

/// Documents of one split, with their scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoundIn {
    /// Name of the index.
    pub(crate) index: String,
    /// Id of the split.
    pub(crate) split: String,
    /// Documents, ascending.
    pub(crate) docs: Vec<(u32, Factor)>,
}

fn is_found_before(leaf: &Leaf) -> bool {
    matches!(leaf, Leaf::Nearest(_) | Leaf::Fused(_))
}

impl QueryNode {
    /// Returns whether a part is a leaf of some kind. Filters of [`Nearest`] are not looked into.
    pub(crate) fn has_leaf(&self, is_wanted: fn(&Leaf) -> bool) -> bool {
        let has = |node: &Self| node.has_leaf(is_wanted);
        match self {
            Self::Leaf(leaf) => is_wanted(leaf),
            Self::All | Self::Nothing | Self::Fields(_) => false,
            Self::Bool(node) => node.clauses.iter().any(|(_, node)| has(node)),
            Self::Boost(node, _) | Self::Constant(node, _) | Self::Nested(node, ..) => has(node),
            Self::Best(nodes, _) => nodes.iter().any(has),
            Self::Scored(scored) => scored.nodes().any(has),
            Self::Demoted(node, other, _) => has(node) || has(other),
        }
    }

    /// Adds the parts that are leaves of some kind to `found`.
    pub(crate) fn find_leaves<'n>(
        &'n mut self,
        is_wanted: fn(&Leaf) -> bool,
        found: &mut Vec<&'n mut Self>,
    ) {
        if matches!(self, Self::Leaf(leaf) if is_wanted(leaf)) {
            found.push(self);
            return;
        }
        let mut find = |node: &'n mut Self| node.find_leaves(is_wanted, found);
        match self {
            Self::All | Self::Nothing | Self::Leaf(_) | Self::Fields(_) => {}
            Self::Bool(node) => node.clauses.iter_mut().for_each(|(_, node)| find(node)),
            Self::Boost(node, _) | Self::Constant(node, _) | Self::Nested(node, ..) => find(node),
            Self::Best(nodes, _) => nodes.iter_mut().for_each(find),
            Self::Scored(scored) => scored.nodes_mut().for_each(find),
            Self::Demoted(node, other, _) => {
                find(node);
                find(other);
            }
        }
    }

    /// Returns whether a part is found before a search is planned.
    pub(crate) fn has_nearest(&self) -> bool {
        self.has_leaf(is_found_before)
    }

    /// Adds the parts that are found before a search is planned to `found`.
    pub(crate) fn find_nearest<'n>(&'n mut self, found: &mut Vec<&'n mut Self>) {
        self.find_leaves(is_found_before, found);
    }

    /// Returns the rankings that are one, if the node is such.
    pub(crate) fn fused(&self) -> Option<&Fused> {
        match self {
            Self::Leaf(Leaf::Fused(fused)) => Some(fused),
            _ => None,
        }
    }

    /// Returns the condition, if the node is one.
    pub(crate) fn nearest(&self) -> Option<&Nearest> {
        match self {
            Self::Leaf(Leaf::Nearest(nearest)) => Some(nearest),
            _ => None,
        }
    }

    /// Creates the documents that were found.
    pub(crate) fn found(found: Vec<FoundIn>) -> Self {
        match found.is_empty() {
            true => Self::Nothing,
            false => Self::Leaf(Leaf::Found(found)),
        }
    }
}

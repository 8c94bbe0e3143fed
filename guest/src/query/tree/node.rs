//! Nodes of a query's tree.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::depth::one_deeper;
use super::leaf::{Given, ID, INDEX, Leaf};
use super::min_should::MinShould;
use super::scored::Scored;
use super::text::TextLeaf;

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) enum QueryNode {
    /// Every document.
    All,
    /// No document.
    Nothing,
    /// A condition on a field.
    Leaf(Leaf),
    /// A condition on several fields.
    Fields(InFields),
    /// Parts that must, may or must not match.
    Bool(BoolNode),
    /// The same documents, with their scores multiplied by this.
    Boost(Box<QueryNode>, Factor),
    /// The same documents, each with this score.
    Constant(Box<QueryNode>, Factor),
    /// The union of these, with the score of the best, plus this share of the others.
    Best(Vec<QueryNode>, Factor),
    /// The matches of the first, with scores multiplied by this where the second matches.
    Demoted(Box<QueryNode>, Box<QueryNode>, Factor),
    /// The same documents, with scores that functions change.
    Scored(Box<Scored>),
    /// The same documents, if this path is an object of the index; with `true` none otherwise.
    Nested(Box<QueryNode>, String, bool),
}

impl Serialize for QueryNode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for QueryNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        one_deeper(|| Self::deserialize(deserializer))
    }
}

/// A score, or a factor for one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Factor(pub(crate) f32);

/// Role of a clause in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Must match, and counts for the score.
    Must,
    /// Must match, without a score.
    Filter,
    /// Counts for the score where it matches. The node has the minimum number that must match.
    Should,
    /// Must not match.
    MustNot,
}

/// A boolean combination of clauses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoolNode {
    pub(crate) clauses: Vec<(Role, QueryNode)>,
    /// Minimum number of matching optional clauses. Defaults to one, or none beside required clauses.
    pub(crate) min_should: Option<MinShould>,
}

/// A condition on several fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InFields {
    /// Names with factors for the score; `*` in a name matches any text. If empty: the default fields of the request or
    /// the index.
    pub(crate) fields: Vec<(String, Factor)>,
    pub(crate) combine: Combine,
    pub(crate) leaf: Leaf,
    /// True if fields that do not support the condition are left out.
    pub(crate) is_lenient: bool,
}

/// The score where several fields match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Combine {
    /// The best score, plus this share of the others.
    Best(Factor),
    /// The sum.
    Sum,
    /// Each word may be in another field, as if they were one field.
    Cross(Factor),
}

impl QueryNode {
    /// Creates a leaf of a query string.
    pub(crate) fn text(leaf: TextLeaf) -> Self {
        Self::Leaf(Leaf::Text(leaf))
    }

    /// Creates a conjunction.
    pub(crate) fn all_of(nodes: impl IntoIterator<Item = Self>) -> Self {
        Self::Bool(BoolNode {
            clauses: nodes.into_iter().map(|node| (Role::Must, node)).collect(),
            min_should: None,
        })
    }

    /// Creates the documents with one of these ids.
    pub(crate) fn by_id(ids: impl IntoIterator<Item = String>) -> Self {
        let ids = ids.into_iter().map(|text| Given {
            text,
            is_number: false,
        });
        Self::Leaf(Leaf::by_id(ids.collect()))
    }

    /// Creates the part `id` of `of` about equal parts of the documents.
    pub(crate) fn slice(id: u32, of: u32) -> Self {
        Self::Leaf(Leaf::Slice { id, of })
    }

    /// Returns those documents of this node that match `filter`, too, with the scores of this node.
    pub(crate) fn and_filter(self, filter: Self) -> Self {
        Self::Bool(BoolNode {
            clauses: vec![(Role::Must, self), (Role::Filter, filter)],
            min_should: None,
        })
    }

    /// Returns the node with scores multiplied by `boost`.
    pub(crate) fn boosted(self, boost: f32) -> Self {
        match boost {
            1.0 => self,
            boost => Self::Boost(Box::new(self), Factor(boost)),
        }
    }

    /// Returns the score of all hits, where it is constant.
    pub(crate) fn constant_score(&self) -> Option<f32> {
        match self {
            Self::All => Some(1.0),
            Self::Nothing => Some(0.0),
            Self::Constant(_, score) => Some(score.0),
            Self::Boost(node, boost) => Some(node.constant_score()? * boost.0),
            Self::Nested(node, ..) => node.constant_score(),
            Self::Leaf(
                Leaf::Range(_)
                | Leaf::Terms { .. }
                | Leaf::Pattern { .. }
                | Leaf::Place { .. }
                | Leaf::Ids(_),
            ) => Some(1.0),
            // An `ids` query.
            Self::Leaf(Leaf::Metadata(leaf)) if matches!(**leaf, Leaf::Terms { .. }) => Some(1.0),
            Self::Bool(node) => {
                let clauses = node.clauses.iter();
                let mut clauses = clauses.filter(|(role, _)| *role != Role::MustNot);
                clauses.try_fold(0.0, |sum, (role, node)| match role {
                    Role::Must => Some(sum + node.constant_score()?),
                    Role::Should => None,
                    Role::Filter | Role::MustNot => Some(sum),
                })
            }
            Self::Leaf(_)
            | Self::Fields(_)
            | Self::Best(..)
            | Self::Demoted(..)
            | Self::Scored(_) => None,
        }
    }

    /// Returns whether a part looks for documents by identity.
    pub(crate) fn asks_for_ids(&self) -> bool {
        match self {
            Self::All | Self::Nothing | Self::Fields(_) => false,
            Self::Leaf(leaf) => leaf.asks_for_ids(),
            Self::Bool(node) => node.clauses.iter().any(|(_, node)| node.asks_for_ids()),
            Self::Boost(node, _) | Self::Constant(node, _) | Self::Nested(node, ..) => {
                node.asks_for_ids()
            }
            Self::Best(nodes, _) => nodes.iter().any(Self::asks_for_ids),
            Self::Demoted(node, other, _) => node.asks_for_ids() || other.asks_for_ids(),
            Self::Scored(scored) => scored.nodes().any(Self::asks_for_ids),
        }
    }

    /// Marks conditions on `_id` and `_index`, which have a special meaning only in Elasticsearch's language.
    pub(crate) fn mark_metadata(&mut self) {
        match self {
            Self::All | Self::Nothing | Self::Fields(_) => {}
            Self::Leaf(leaf) => {
                let is_marked = matches!(leaf, Leaf::Metadata(_));
                if matches!(leaf.field(), Some(ID | INDEX)) && !is_marked {
                    let inner = std::mem::replace(leaf, Leaf::Ids(Vec::new()));
                    *leaf = Leaf::Metadata(Box::new(inner));
                }
            }
            Self::Bool(node) => {
                let nodes = node.clauses.iter_mut();
                nodes.for_each(|(_, node)| node.mark_metadata());
            }
            Self::Boost(node, _) | Self::Constant(node, _) | Self::Nested(node, ..) => {
                node.mark_metadata();
            }
            Self::Best(nodes, _) => nodes.iter_mut().for_each(Self::mark_metadata),
            Self::Scored(scored) => scored.nodes_mut().for_each(Self::mark_metadata),
            Self::Demoted(node, other, _) => {
                node.mark_metadata();
                other.mark_metadata();
            }
        }
    }

    /// Returns whether each part names its fields.
    pub(crate) fn names_its_fields(&self) -> bool {
        !self.asks_open_fields(false)
    }

    /// Returns whether a part applies to fields that it does not name: those of a pattern, or, unless there are
    /// default fields, those of a word without a field.
    pub(crate) fn asks_open_fields(&self, has_default_fields: bool) -> bool {
        let is_open = |node: &Self| node.asks_open_fields(has_default_fields);
        match self {
            Self::All | Self::Nothing => false,
            Self::Leaf(leaf) => !has_default_fields && !leaf.names_its_field(),
            Self::Fields(InFields { fields, .. }) => match fields.as_slice() {
                [] => !has_default_fields,
                fields => fields.iter().any(|(name, _)| name.contains('*')),
            },
            Self::Bool(node) => node.clauses.iter().any(|(_, node)| is_open(node)),
            Self::Boost(node, _) | Self::Constant(node, _) | Self::Nested(node, ..) => {
                is_open(node)
            }
            Self::Best(nodes, _) => nodes.iter().any(is_open),
            Self::Demoted(node, other, _) => is_open(node) || is_open(other),
            Self::Scored(scored) => scored.nodes().any(is_open),
        }
    }
}

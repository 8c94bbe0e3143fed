//! Nodes of a query's tree.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::depth::one_deeper;
use super::leaf::{ID, INDEX, Leaf};
use super::min_should::MinShould;
use super::text::TextLeaf;

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) enum QueryNode {
    /// Every document.
    All,
    /// No document.
    Nothing,
    /// What is looked for in a field.
    Leaf(Leaf),
    /// The same in several fields.
    Fields(InFields),
    /// Parts that must, may or must not match.
    Bool(BoolNode),
    /// The same documents, with their scores times this.
    Boost(Box<QueryNode>, Factor),
    /// The same documents, each with this score.
    Constant(Box<QueryNode>, Factor),
    /// What any of these matches, with the score of the best, and of the others this part of theirs.
    Best(Vec<QueryNode>, Factor),
    /// What the first matches, where the second does with its score times this.
    Demoted(Box<QueryNode>, Box<QueryNode>, Factor),
    /// The same documents, where this path is an object of the index; with `true` none where it is not.
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

/// What a clause means to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Must match, and counts for the score.
    Must,
    /// Must match, and does not count.
    Filter,
    /// Counts for the score where it matches. As many must match as the node says.
    Should,
    /// Must not match.
    MustNot,
}

/// Clauses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoolNode {
    pub(crate) clauses: Vec<(Role, QueryNode)>,
    /// How many of the optional clauses must match. If it is not said: one, or none beside clauses that must.
    pub(crate) min_should: Option<MinShould>,
}

/// The same in several fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InFields {
    /// Names with a factor for the score; `*` in a name stands for any text. None: the default fields of the request or
    /// the index.
    pub(crate) fields: Vec<(String, Factor)>,
    pub(crate) combine: Combine,
    pub(crate) leaf: Leaf,
    /// Whether fields for which it makes no sense are left out.
    pub(crate) is_lenient: bool,
}

/// What the score is where several fields match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Combine {
    /// That of the best, and of the others this part.
    Best(Factor),
    /// The sum.
    Sum,
    /// Each word may be in another field: as if they were one.
    Cross(Factor),
}

impl QueryNode {
    /// A leaf of a query string.
    pub(crate) fn text(leaf: TextLeaf) -> Self {
        Self::Leaf(Leaf::Text(leaf))
    }

    /// All of these must match.
    pub(crate) fn all_of(nodes: impl IntoIterator<Item = Self>) -> Self {
        Self::Bool(BoolNode {
            clauses: nodes.into_iter().map(|node| (Role::Must, node)).collect(),
            min_should: None,
        })
    }

    /// The same with scores times `boost`.
    pub(crate) fn boosted(self, boost: f32) -> Self {
        match boost {
            1.0 => self,
            boost => Self::Boost(Box::new(self), Factor(boost)),
        }
    }

    /// The score that all hits have, where it is the same for all.
    pub(crate) fn constant_score(&self) -> Option<f32> {
        match self {
            Self::All => Some(1.0),
            Self::Nothing => Some(0.0),
            Self::Constant(_, score) => Some(score.0),
            Self::Boost(node, boost) => Some(node.constant_score()? * boost.0),
            Self::Nested(node, ..) => node.constant_score(),
            Self::Leaf(
                Leaf::Range(_) | Leaf::Terms { .. } | Leaf::Pattern { .. } | Leaf::Ids(_),
            ) => Some(1.0),
            Self::Bool(node) => {
                let clauses = node.clauses.iter();
                let mut clauses = clauses.filter(|(role, _)| *role != Role::MustNot);
                clauses.try_fold(0.0, |sum, (role, node)| match role {
                    Role::Must => Some(sum + node.constant_score()?),
                    Role::Should => None,
                    Role::Filter | Role::MustNot => Some(sum),
                })
            }
            Self::Leaf(_) | Self::Fields(_) | Self::Best(..) | Self::Demoted(..) => None,
        }
    }

    /// Whether a part looks for documents by who they are.
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
        }
    }

    /// Marks what is asked of `_id` and `_index`, which mean what they do in Elasticsearch's language only.
    pub(crate) fn mark_metadata(&mut self) {
        match self {
            Self::All | Self::Nothing | Self::Fields(_) => {}
            Self::Leaf(leaf) => {
                if matches!(leaf.field(), Some(ID | INDEX)) {
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
            Self::Demoted(node, other, _) => {
                node.mark_metadata();
                other.mark_metadata();
            }
        }
    }

    /// Whether each part names its fields.
    pub(crate) fn names_its_fields(&self) -> bool {
        match self {
            Self::All | Self::Nothing => true,
            Self::Leaf(leaf) => leaf.names_its_field(),
            Self::Fields(fields) => {
                let is_name = |(name, _): &(String, Factor)| !name.contains('*');
                !fields.fields.is_empty() && fields.fields.iter().all(is_name)
            }
            Self::Bool(node) => node.clauses.iter().all(|(_, node)| node.names_its_fields()),
            Self::Boost(node, _) | Self::Constant(node, _) | Self::Nested(node, ..) => {
                node.names_its_fields()
            }
            Self::Best(nodes, _) => nodes.iter().all(Self::names_its_fields),
            Self::Demoted(node, other, _) => node.names_its_fields() && other.names_its_fields(),
        }
    }
}

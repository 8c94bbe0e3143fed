//! A query as a tree, whichever language it was written in: the query string (`grammar`) or Elasticsearch's query
//! DSL (`dsl`). Pruning, limits, cache keys and the query itself (`build`) come from this tree, so they are the same
//! for both.

use std::hash::{Hash, Hasher};

use canter_split_format::DocIdentity;
use tantivy_query_grammar::UserInputLeaf;

/// The field that Elasticsearch has documents' identities in.
pub(crate) const ID: &str = "_id";
/// The field that it has the names of their indexes in.
pub(crate) const INDEX: &str = "_index";

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Hash)]
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

/// A score, or a factor for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factor(pub(crate) f32);

impl Hash for Factor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// What a clause means to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub(crate) struct BoolNode {
    pub(crate) clauses: Vec<(Role, QueryNode)>,
    /// How many of the optional clauses must match. If it is not said: one, or none beside clauses that must.
    pub(crate) min_should: Option<MinShould>,
}

/// How many of several clauses must match, by how many there are.
///
/// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-minimum-should-match>.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MinShould {
    /// With more clauses than so many, this share; the last that applies counts. What holds for any number stands
    /// with 0, or with nothing before it.
    pub(crate) rules: Vec<(usize, Share)>,
}

/// A number or a part of clauses; a negative one says how many may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Share {
    /// So many.
    Count(i64),
    /// So many of a hundred, rounded down.
    Percent(i64),
}

/// What is looked for in a field.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Leaf {
    /// As the query string says it.
    Text(UserInputLeaf),
    /// A text, as the field's tokenizer cuts it.
    Match(Match),
    /// A value, as it is in the field.
    Term {
        field: String,
        value: Given,
        case_insensitive: bool,
    },
    /// One of some values.
    Terms { field: String, values: Vec<Given> },
    /// A value between two.
    Range(Range),
    /// One of these documents; the identities ascend.
    Ids(Vec<DocIdentity>),
    /// The same of what Elasticsearch knows of every document, and which is a field only where it is mapped.
    Metadata(Box<Leaf>),
    /// A term of a certain form.
    Pattern {
        field: String,
        kind: PatternKind,
        pattern: String,
        case_insensitive: bool,
    },
    /// A term that is nearly this one.
    Fuzzy {
        field: String,
        value: String,
        fuzziness: Fuzziness,
    },
}

/// A value of a JSON request as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Given {
    pub(crate) text: String,
    /// Whether it was a number there.
    pub(crate) is_number: bool,
}

/// A text that is cut into words.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Match {
    /// None where the fields stand around it.
    pub(crate) field: Option<String>,
    pub(crate) text: String,
    pub(crate) words: Words,
    pub(crate) fuzziness: Option<Fuzziness>,
    /// Whether a text without a word matches everything, and not nothing.
    pub(crate) is_all_without_words: bool,
    /// Whether a text that is no value of the field matches nothing, and is not an error.
    pub(crate) is_lenient: bool,
}

/// How the words of a text must be there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Words {
    /// All of them.
    All,
    /// So many; one if it is not said.
    Some(Option<MinShould>),
    /// One behind the other, with so many others between.
    Phrase { slop: u32 },
    /// The same, where the last may go on.
    PhrasePrefix,
    /// In any order, where the last may go on; all of them, or so many.
    Prefix {
        needs_all: bool,
        min_should: Option<MinShould>,
    },
}

/// The form that a term has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PatternKind {
    /// It begins so.
    Prefix,
    /// `*` and `?` stand for any text and any character.
    Wildcard,
    /// A regular expression takes all of it.
    Regexp,
    /// It is this one.
    Term,
}

/// How far a term may be from what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fuzziness {
    /// Characters that are added, left out or changed.
    pub(crate) edits: Edits,
    /// So many characters at the beginning must be the same.
    pub(crate) prefix_len: usize,
    /// Whether two neighbours that change places are one edit, and not two.
    pub(crate) has_transpositions: bool,
}

/// How many edits are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Edits {
    /// So many, at most 2.
    Most(u8),
    /// One from so many characters on, and two from so many.
    Auto(usize, usize),
}

/// What Elasticsearch's `AUTO` stands for.
pub(crate) const AUTO: Edits = Edits::Auto(3, 6);

/// An end of a range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub(crate) given: Given,
    pub(crate) is_included: bool,
    /// The time in nanoseconds since 1970, where the text is date arithmetic from `now` on.
    pub(crate) from_now_ns: Option<i64>,
}

/// A value between two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Range {
    pub(crate) field: String,
    pub(crate) lower: Option<End>,
    pub(crate) upper: Option<End>,
    /// How dates in it are written, if not as usual.
    pub(crate) format: Option<String>,
    /// The zone of dates that name none.
    pub(crate) time_zone: Option<String>,
}

/// The same in several fields.
#[derive(Clone, Debug, PartialEq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
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
    pub(crate) fn text(leaf: UserInputLeaf) -> Self {
        match leaf {
            UserInputLeaf::All => Self::All,
            leaf => Self::Leaf(Leaf::Text(leaf)),
        }
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

impl Leaf {
    /// Documents by their identities. What is none is nobody's, as in Elasticsearch.
    pub(crate) fn ids<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut identities: Vec<DocIdentity> = texts.filter_map(DocIdentity::parse).collect();
        canter_sorting::sort(&mut identities);
        identities.dedup();
        Self::Ids(identities)
    }

    /// The field that it names.
    pub(crate) fn field(&self) -> Option<&str> {
        match self {
            Self::Text(leaf) => match leaf {
                UserInputLeaf::All => None,
                UserInputLeaf::Exists { field } => Some(field),
                UserInputLeaf::Literal(literal) => literal.field_name.as_deref(),
                UserInputLeaf::Range { field, .. }
                | UserInputLeaf::Set { field, .. }
                | UserInputLeaf::Regex { field, .. } => field.as_deref(),
            },
            Self::Match(matched) => matched.field.as_deref(),
            Self::Range(range) => Some(&range.field),
            Self::Term { field, .. }
            | Self::Terms { field, .. }
            | Self::Pattern { field, .. }
            | Self::Fuzzy { field, .. } => Some(field),
            Self::Ids(_) => None,
            Self::Metadata(leaf) => leaf.field(),
        }
    }

    /// Whether it looks for documents by who they are.
    fn asks_for_ids(&self) -> bool {
        match self {
            Self::Ids(_) => true,
            Self::Metadata(leaf) => {
                leaf.field() == Some(ID)
                    && !matches!(**leaf, Self::Text(UserInputLeaf::Exists { .. }))
            }
            _ => false,
        }
    }

    fn names_its_field(&self) -> bool {
        match self {
            Self::Text(leaf) => match leaf {
                UserInputLeaf::All | UserInputLeaf::Exists { .. } => true,
                UserInputLeaf::Literal(literal) => literal.field_name.is_some(),
                UserInputLeaf::Range { field, .. }
                | UserInputLeaf::Set { field, .. }
                | UserInputLeaf::Regex { field, .. } => field.is_some(),
            },
            Self::Match(matched) => matched.field.is_some(),
            _ => true,
        }
    }

    /// The same in this field; only of what names none.
    pub(crate) fn in_field(&self, name: &str) -> Self {
        let mut leaf = self.clone();
        let field = match &mut leaf {
            Self::Text(UserInputLeaf::Literal(literal)) => &mut literal.field_name,
            Self::Text(
                UserInputLeaf::Range { field, .. }
                | UserInputLeaf::Set { field, .. }
                | UserInputLeaf::Regex { field, .. },
            ) => field,
            Self::Match(matched) => &mut matched.field,
            _ => return leaf,
        };
        *field = Some(name.to_owned());
        leaf
    }
}

impl MinShould {
    /// How many of `num_clauses` must match; possibly more than there are.
    pub(crate) fn of(&self, num_clauses: usize) -> usize {
        let mut rules = self.rules.iter();
        let applies =
            |(more_than, _): &&(usize, Share)| *more_than == 0 || num_clauses > *more_than;
        let Some((_, share)) = rules.rfind(applies) else {
            // No rule reaches so few: all of them.
            return num_clauses;
        };
        let num = i64::try_from(num_clauses).unwrap_or(i64::MAX);
        // A part is rounded towards nothing, as Elasticsearch does. What is negative says how many need not match, also
        // where that is none.
        let (may_lack, wanted) = match share {
            Share::Count(count) => (*count < 0, *count),
            Share::Percent(percent) => (*percent < 0, num.saturating_mul(*percent) / 100),
        };
        let wanted = match may_lack {
            true => num.saturating_add(wanted),
            false => wanted,
        };
        // What is too large for a pointer is more than there are, wherever this runs.
        usize::try_from(wanted.max(0)).unwrap_or(usize::MAX)
    }
}

impl Fuzziness {
    /// How many edits are allowed of a word.
    pub(crate) fn edits_of(&self, word: &str) -> u8 {
        match self.edits {
            Edits::Most(edits) => edits,
            Edits::Auto(one, two) => match word.chars().count() {
                len if len >= two => 2,
                len if len >= one => 1,
                _ => 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_clauses_must_match() {
        use Share::{Count, Percent};
        for (rules, num_clauses, expect) in [
            (vec![(0, Count(2))], 5, 2),
            (vec![(0, Count(-1))], 5, 4),
            (vec![(0, Count(7))], 5, 7),
            (vec![(0, Count(-7))], 5, 0),
            (
                vec![(0, Count(i64::MAX))],
                5,
                usize::try_from(i64::MAX).unwrap_or(usize::MAX),
            ),
            (vec![(0, Count(i64::MIN))], 5, 0),
            (vec![(0, Percent(75))], 5, 3),
            (vec![(0, Percent(-25))], 5, 4),
            (vec![(0, Percent(-30))], 4, 3),
            (vec![(3, Percent(90))], 3, 3),
            (vec![(3, Percent(90))], 10, 9),
            (vec![(2, Percent(-25)), (9, Count(-3))], 2, 2),
            (vec![(2, Percent(-25)), (9, Count(-3))], 9, 7),
            (vec![(2, Percent(-25)), (9, Count(-3))], 10, 7),
        ] {
            let min_should = MinShould { rules };
            assert_eq!(min_should.of(num_clauses), expect, "{min_should:?}");
        }
    }
}

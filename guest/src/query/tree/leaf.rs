//! Leaves of a query: what is looked for in a field.

use canter_split_format::DocIdentity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::depth::one_deeper;
use super::min_should::MinShould;
use super::text::TextLeaf;

/// The field that Elasticsearch has documents' identities in.
pub(crate) const ID: &str = "_id";
/// The field that it has the names of their indexes in.
pub(crate) const INDEX: &str = "_index";

/// What is looked for in a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) enum Leaf {
    /// As the query string says it.
    Text(TextLeaf),
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) text: String,
    /// Whether it was a number there.
    pub(crate) is_number: bool,
}

/// A text that is cut into words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fuzziness {
    /// Characters that are added, left out or changed.
    pub(crate) edits: Edits,
    /// So many characters at the beginning must be the same.
    pub(crate) prefix_len: usize,
    /// Whether two neighbours that change places are one edit, and not two.
    pub(crate) has_transpositions: bool,
}

/// How many edits are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Edits {
    /// So many, at most 2.
    Most(u8),
    /// One from so many characters on, and two from so many.
    Auto(usize, usize),
}

/// What Elasticsearch's `AUTO` stands for.
pub(crate) const AUTO: Edits = Edits::Auto(3, 6);

/// An end of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) given: Given,
    pub(crate) is_included: bool,
    /// The time in nanoseconds since 1970, where the text is date arithmetic from `now` on.
    pub(crate) from_now_ns: Option<i64>,
}

/// A value between two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) field: String,
    pub(crate) lower: Option<End>,
    pub(crate) upper: Option<End>,
    /// How dates in it are written, if not as usual.
    pub(crate) format: Option<String>,
    /// The zone of dates that name none.
    pub(crate) time_zone: Option<String>,
}

impl Serialize for Leaf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Leaf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        one_deeper(|| Self::deserialize(deserializer))
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
                TextLeaf::Exists { field } => Some(field),
                TextLeaf::Literal(literal) => literal.field.as_deref(),
                TextLeaf::Range { field, .. }
                | TextLeaf::Set { field, .. }
                | TextLeaf::Regex { field, .. } => field.as_deref(),
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
    pub(super) fn asks_for_ids(&self) -> bool {
        match self {
            Self::Ids(_) => true,
            Self::Metadata(leaf) => {
                leaf.field() == Some(ID) && !matches!(**leaf, Self::Text(TextLeaf::Exists { .. }))
            }
            _ => false,
        }
    }

    pub(super) fn names_its_field(&self) -> bool {
        match self {
            Self::Text(leaf) => match leaf {
                TextLeaf::Exists { .. } => true,
                TextLeaf::Literal(literal) => literal.field.is_some(),
                TextLeaf::Range { field, .. }
                | TextLeaf::Set { field, .. }
                | TextLeaf::Regex { field, .. } => field.is_some(),
            },
            Self::Match(matched) => matched.field.is_some(),
            _ => true,
        }
    }

    /// The same in this field; only of what names none.
    pub(crate) fn in_field(&self, name: &str) -> Self {
        let mut leaf = self.clone();
        let field = match &mut leaf {
            Self::Text(TextLeaf::Literal(literal)) => &mut literal.field,
            Self::Text(
                TextLeaf::Range { field, .. }
                | TextLeaf::Set { field, .. }
                | TextLeaf::Regex { field, .. },
            ) => field,
            Self::Match(matched) => &mut matched.field,
            _ => return leaf,
        };
        *field = Some(name.to_owned());
        leaf
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

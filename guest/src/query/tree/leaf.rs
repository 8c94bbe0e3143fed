//! Leaves of a query: conditions on a field.

use canter_geo::Region;
use canter_split_format::DocIdentity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::alike::Alike;
use super::depth::one_deeper;
use super::min_should::MinShould;
use super::nearest::{FoundIn, Fused, Nearest};
use super::positional::Positional;
use super::text::TextLeaf;

/// Elasticsearch's name for documents' identities.
pub(crate) const ID: &str = "_id";
/// Elasticsearch's name for the names of documents' indexes.
pub(crate) const INDEX: &str = "_index";

/// A condition on a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) enum Leaf {
    /// As written in the query string.
    Text(TextLeaf),
    /// A text, tokenized by the field's tokenizer.
    Match(Match),
    /// A value, exactly as in the field.
    Term {
        field: String,
        value: Given,
        case_insensitive: bool,
    },
    /// One of some values.
    Terms { field: String, values: Vec<Given> },
    /// A value within a range.
    Range(Range),
    /// One of these documents; the identities ascend.
    Ids(Vec<DocIdentity>),
    /// The documents of one of several parts of each split, which are about equal.
    Slice { id: u32, of: u32 },
    /// A condition on Elasticsearch's metadata, which is a field only where it is mapped.
    Metadata(Box<Leaf>),
    /// A term that matches a pattern.
    Pattern {
        field: String,
        kind: PatternKind,
        pattern: String,
        case_insensitive: bool,
    },
    /// A point in a region. With `ignores_unmapped`, a field that is not mapped has none.
    Place {
        field: String,
        region: Region,
        ignores_unmapped: bool,
    },
    /// A term close to this one.
    Fuzzy {
        field: String,
        value: String,
        fuzziness: Fuzziness,
    },
    /// Words that are typical of examples.
    Alike(Box<Alike>),
    /// A vector that is among the nearest.
    Nearest(Box<Nearest>),
    /// Rankings of several queries.
    Fused(Box<Fused>),
    /// Documents that were found before.
    Found(Vec<FoundIn>),
    /// Words at positions that have a relation.
    Positional(Box<Positional>),
}

/// A value of a JSON request as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) text: String,
    /// True if it was a number in the request.
    pub(crate) is_number: bool,
}

/// A text that is tokenized into words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Match {
    /// `None` where the enclosing node has the fields.
    pub(crate) field: Option<String>,
    pub(crate) text: String,
    /// Name of the analyzer that splits the text, if not the field's.
    pub(crate) analyzer: Option<String>,
    pub(crate) words: Words,
    pub(crate) fuzziness: Option<Fuzziness>,
    /// True if a text without words matches everything instead of nothing.
    pub(crate) is_all_without_words: bool,
    /// True if a text that is not a value of the field matches nothing instead of being an error.
    pub(crate) is_lenient: bool,
}

/// Condition on the words of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Words {
    /// All of them.
    All,
    /// A minimum number of them; one by default.
    Some(Option<MinShould>),
    /// Any of them. A field without words has the text as a value, or else each of its words.
    Values,
    /// As a phrase, with at most `slop` other words between.
    Phrase { slop: u32 },
    /// As a phrase whose last word is a prefix.
    PhrasePrefix,
    /// In any order, the last as a prefix; all of them, or a minimum number.
    Prefix {
        needs_all: bool,
        min_should: Option<MinShould>,
    },
}

/// Kinds of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PatternKind {
    /// The term begins with the text.
    Prefix,
    /// `*` and `?` match any text and any character.
    Wildcard,
    /// A regular expression matches the whole term.
    Regexp,
    /// The term is equal.
    Term,
}

/// Maximum distance of a term from the wanted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fuzziness {
    /// Characters that are added, left out or changed.
    pub(crate) edits: Edits,
    /// Number of characters at the beginning that must be equal.
    pub(crate) prefix_len: usize,
    /// True if the transposition of two neighbours is one edit instead of two.
    pub(crate) has_transpositions: bool,
}

/// Maximum number of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Edits {
    /// A fixed number, at most 2.
    Most(u8),
    /// One edit from the first length on, two from the second length on, in characters.
    Auto(usize, usize),
}

/// Elasticsearch's `AUTO`.
pub(crate) const AUTO: Edits = Edits::Auto(3, 6);

/// An end of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) given: Given,
    pub(crate) is_included: bool,
    /// The time in nanoseconds since 1970, where the text is date arithmetic from `now` on.
    pub(crate) from_now_ns: Option<i64>,
}

/// A value within a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) field: String,
    pub(crate) lower: Option<End>,
    pub(crate) upper: Option<End>,
    /// Format of its dates, if not the default.
    pub(crate) format: Option<String>,
    /// The zone of dates that have none.
    pub(crate) time_zone: Option<String>,
    /// Relation of a document's range to this one, in a field of ranges.
    pub(crate) relation: SpanRelation,
}

/// Relation of a document's range to the wanted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SpanRelation {
    /// They have a value in common.
    #[default]
    Intersects,
    /// The wanted range is a part of the document's.
    Contains,
    /// The document's range is a part of the wanted one.
    Within,
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
    /// Creates a condition on identities. An invalid identity matches no document, as in Elasticsearch.
    pub(crate) fn ids<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut identities: Vec<DocIdentity> = texts.filter_map(DocIdentity::parse).collect();
        canter_sorting::sort(&mut identities);
        identities.dedup();
        Self::Ids(identities)
    }

    /// Returns a leaf for the documents with one of these ids.
    pub(crate) fn by_id(values: Vec<Given>) -> Self {
        Self::Metadata(Box::new(Self::Terms {
            field: ID.to_owned(),
            values,
        }))
    }

    /// Returns the field that it names.
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
            | Self::Place { field, .. }
            | Self::Fuzzy { field, .. } => Some(field),
            Self::Positional(positional) => Some(&positional.field),
            Self::Ids(_)
            | Self::Slice { .. }
            | Self::Alike(_)
            | Self::Nearest(_)
            | Self::Fused(_)
            | Self::Found(_) => None,
            Self::Metadata(leaf) => leaf.field(),
        }
    }

    /// Returns whether it looks for documents by identity.
    pub(super) fn asks_for_ids(&self) -> bool {
        match self {
            // The number of documents in a slice tells of those before them.
            Self::Ids(_) | Self::Slice { .. } => true,
            Self::Alike(alike) => alike.looks_up(),
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

    /// Returns the condition in this field; only for one without a field, or with an empty name.
    pub(crate) fn in_field(&self, name: &str) -> Self {
        let mut leaf = self.clone();
        if let Self::Text(TextLeaf::Exists { field })
        | Self::Term { field, .. }
        | Self::Terms { field, .. }
        | Self::Fuzzy { field, .. }
        | Self::Pattern { field, .. }
        | Self::Range(Range { field, .. }) = &mut leaf
        {
            name.clone_into(field);
            return leaf;
        }
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

impl Edits {
    /// Returns the maximum number of edits of a word.
    pub(crate) fn of_word(self, word: &str) -> u8 {
        match self {
            Self::Most(edits) => edits,
            Self::Auto(one, two) => match word.chars().count() {
                len if len >= two => 2,
                len if len >= one => 1,
                _ => 0,
            },
        }
    }
}

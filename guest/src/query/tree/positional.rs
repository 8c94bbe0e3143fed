//! Conditions on the positions of words: `intervals` and the `span` clauses.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::depth::one_deeper;
use super::leaf::{Fuzziness, PatternKind};

/// A condition on the positions of words in a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Positional {
    pub(crate) field: String,
    pub(crate) places: Places,
    pub(crate) kind: PositionalKind,
}

/// The two families of clauses. They differ in which intervals a combination has, and in scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PositionalKind {
    /// `intervals`: an interval counts only if no other lies inside of it.
    Intervals,
    /// `span_*`: intervals from each beginning on.
    Spans,
}

/// Intervals of positions in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) enum Places {
    /// The words of a text, which a tokenizer splits.
    Words {
        field: Option<String>,
        text: String,
        /// Name of a tokenizer, if not the field's.
        analyzer: Option<String>,
        order: WordOrder,
        max_gaps: Option<u32>,
    },
    /// A term exactly as in the field.
    Term {
        field: Option<String>,
        value: String,
    },
    /// Terms that match a pattern.
    Pattern {
        field: Option<String>,
        kind: PatternKind,
        pattern: String,
        case_insensitive: bool,
        /// True if the letters change as the tokenizer changes those of words.
        is_normalized: bool,
        /// Name of the tokenizer that changes them, if not the field's.
        analyzer: Option<String>,
    },
    /// Terms close to this one.
    Fuzzy {
        field: Option<String>,
        value: String,
        fuzziness: Fuzziness,
        /// As for patterns.
        is_normalized: bool,
        analyzer: Option<String>,
    },
    /// Any of these.
    Any(Vec<Places>),
    /// All of these, with at most `max_gaps` positions between them that belong to none.
    All {
        parts: Vec<Places>,
        order: WordOrder,
        max_gaps: Option<u32>,
    },
    /// Those of the first that have a relation with one of the second, or with none.
    Related(Box<Places>, Relation, Box<Places>),
    /// The same, with positions before and after counted to them.
    Extended {
        places: Box<Places>,
        before: u32,
        after: u32,
    },
    /// Those that end within the first positions of the field.
    First { places: Box<Places>, end: u32 },
}

/// Order of the parts of a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WordOrder {
    /// Any order; they may overlap.
    Any,
    /// One behind the other.
    Ordered,
    /// Any order, without overlaps.
    Apart,
}

/// Relations between two intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Relation {
    Containing,
    NotContaining,
    ContainedBy,
    NotContainedBy,
    Overlapping,
    NotOverlapping,
    Before,
    After,
}

impl Places {
    /// Names the field of the parts that name none.
    pub(in crate::query) fn name_fields(&mut self, name: &str) {
        match self {
            Self::Words { field, .. }
            | Self::Term { field, .. }
            | Self::Pattern { field, .. }
            | Self::Fuzzy { field, .. } => {
                field.get_or_insert_with(|| name.to_owned());
            }
            Self::Any(parts) | Self::All { parts, .. } => {
                parts.iter_mut().for_each(|part| part.name_fields(name));
            }
            Self::Related(places, _, other) => {
                places.name_fields(name);
                other.name_fields(name);
            }
            Self::Extended { places, .. } | Self::First { places, .. } => places.name_fields(name),
        }
    }
}

impl Serialize for Places {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        one_deeper(|| Self::deserialize(deserializer))
    }
}

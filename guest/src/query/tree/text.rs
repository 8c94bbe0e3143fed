//! Leaves of a query string: their texts are not parsed as values yet, because that depends on the field.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

/// A condition in a query string. Without a field, it applies to the default fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum TextLeaf {
    /// A word or a phrase.
    Literal(Literal),
    /// A value within a range.
    Range {
        field: Option<String>,
        lower: Bound<String>,
        upper: Bound<String>,
    },
    /// One of some values.
    Set {
        field: Option<String>,
        elements: Vec<String>,
    },
    /// Any value.
    Exists { field: String },
    /// A term that a regular expression matches as a whole.
    Regex {
        field: Option<String>,
        pattern: String,
    },
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Literal {
    pub(crate) field: Option<String>,
    /// The text. Without quotes, `*` and `?` are wildcards unless a backslash precedes them.
    pub(crate) phrase: String,
    pub(crate) is_quoted: bool,
    /// Number of positions by which the words of a phrase may move.
    pub(crate) slop: u32,
    /// True if the last word of a phrase is a prefix.
    pub(crate) is_prefix: bool,
}

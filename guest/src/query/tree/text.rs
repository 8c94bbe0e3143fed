//! Leaves as a query string has them: their texts are no values yet, since only the fields say which.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

/// What a query string looks for. Without a field, it is looked for in the default fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum TextLeaf {
    /// A word or a phrase.
    Literal(Literal),
    /// A value between two.
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
    /// A term that a regular expression takes as a whole.
    Regex {
        field: Option<String>,
        pattern: String,
    },
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Literal {
    pub(crate) field: Option<String>,
    /// The text. In one without quotes, `*` and `?` are wildcards where no backslash stands before them.
    pub(crate) phrase: String,
    pub(crate) is_quoted: bool,
    /// Places that the words of a phrase may move by.
    pub(crate) slop: u32,
    /// Whether the last word of a phrase is only the beginning of one.
    pub(crate) is_prefix: bool,
}

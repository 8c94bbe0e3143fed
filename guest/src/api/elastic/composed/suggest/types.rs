//! The suggestions of a request.

use serde_json::{Map, Value};

use super::terms::Suggestion;
use crate::query::Edits;
use crate::request::Question;

/// The suggestions of a request.
#[derive(Debug, Default)]
pub(in crate::api::elastic) struct Suggestions {
    pub(super) terms: Vec<Suggestion>,
    pub(super) completing: Vec<Completing>,
}

impl Suggestions {
    /// Returns whether there are none.
    pub(in crate::api::elastic) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.completing.is_empty()
    }
}

/// A suggestion by completions.
#[derive(Debug)]
pub(super) struct Completing {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) field: String,
    pub(super) size: usize,
    pub(super) skips_duplicates: bool,
    pub(super) by: By,
    pub(super) contexts: Map<String, Value>,
    /// The search for the documents of an entry, but for its query.
    pub(super) hits: Question,
}

/// The way in which inputs are compared with the text.
#[derive(Debug)]
pub(super) enum By {
    Prefix,
    Regex,
    Near(Near),
}

/// Options of `fuzzy`.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) edits: Edits,
    pub(super) min_length: usize,
    pub(super) prefix_length: usize,
    pub(super) has_transpositions: bool,
}

//! The order of hits.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::SearchError;

/// Which way a sort key runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SortOrder {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl SortOrder {
    /// An ascending order as it is in this direction.
    pub(crate) fn of(self, ascending: Ordering) -> Ordering {
        match self {
            Self::Ascending => ascending,
            Self::Descending => ascending.reverse(),
        }
    }
}

/// What a sort key looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SortTarget {
    /// Relevance (BM25 over the whole index).
    Score,
    /// The place in the index: by time, then by source and position there. Every other order ends
    /// with it.
    Doc,
    /// Where a document lies: the id of its split, and its number there. Other than by its place in the index, hits can be
    /// told apart by it without a read, and only until the split is merged.
    SplitDoc,
    /// A fast field.
    Field(String),
}

/// One sort key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SortKeySpec {
    pub(crate) target: SortTarget,
    pub(crate) order: SortOrder,
    /// Whether documents without a value come first, and not last.
    #[serde(default)]
    pub(crate) missing_first: bool,
}

/// At most this many sort keys.
pub(crate) const MAX_SORT_KEYS: usize = 3;

/// Reads `field`, `-field`, `field1,-field2`, `_score`. As in Quickwit a bare name or a `+` sorts
/// descending, a `-` ascending.
///
/// # Errors
/// If there are too many keys or a key has no name.
pub(crate) fn parse_sort_by(text: &str) -> Result<Vec<SortKeySpec>, SearchError> {
    let mut keys = Vec::new();
    for key in text.split(',').map(str::trim).filter(|key| !key.is_empty()) {
        let (name, order) = match key.strip_prefix('-') {
            Some(name) => (name, SortOrder::Ascending),
            None => (key.strip_prefix('+').unwrap_or(key), SortOrder::Descending),
        };
        let target = match name.trim() {
            "" => {
                return Err(SearchError::invalid(format!(
                    "sort_by {text:?}: a sort key names no field"
                )));
            }
            "_score" => SortTarget::Score,
            "_doc" => SortTarget::Doc,
            name => SortTarget::Field(name.to_owned()),
        };
        keys.push(SortKeySpec {
            target,
            order,
            missing_first: false,
        });
    }
    if keys.len() > MAX_SORT_KEYS {
        return Err(SearchError::invalid(format!(
            "sort_by {text:?}: at most {MAX_SORT_KEYS} sort keys are allowed"
        )));
    }
    Ok(keys)
}

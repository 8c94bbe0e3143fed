//! Whose form an answer has.

use crate::calendar::DateFormat;

/// Whose form an answer has, where that of the two APIs differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Dates have no fraction where it is zero, and `top_hits` lists its hits directly.
    Quickwit,
    /// Dates have milliseconds at least, and `top_hits` is an answer of its own.
    Elasticsearch,
}

impl Dialect {
    /// How dates are written where the request does not say.
    pub(super) fn dates(self) -> &'static DateFormat {
        match self {
            Self::Quickwit => DateFormat::usual(),
            Self::Elasticsearch => DateFormat::with_milliseconds(),
        }
    }
}

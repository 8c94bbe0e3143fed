//! Dialects of answers.

use crate::calendar::DateFormat;

/// Form of an answer, where the two APIs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Dates omit a fraction of zero, and `top_hits` lists its hits directly.
    Quickwit,
    /// Dates always have milliseconds, and `top_hits` is a complete answer of its own.
    Elasticsearch,
}

impl Dialect {
    /// Returns the default format of dates.
    pub(super) fn dates(self) -> &'static DateFormat {
        match self {
            Self::Quickwit => DateFormat::usual(),
            Self::Elasticsearch => DateFormat::with_milliseconds(),
        }
    }
}

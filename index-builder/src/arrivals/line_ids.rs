//! Who documents will be that came as lines, before any of them is ingested.

use canter_split_format::{DocIdentity, SourceId};

use super::spool::source_id_of;
use crate::source::id_of_lines;

/// Who some documents are: lines of one source, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineIds {
    source: SourceId,
    /// The position of the first.
    first: u64,
}

impl LineIds {
    /// Of the lines that a source of lines with this id begins with (see [`crate::Source::lines`]).
    #[must_use]
    pub fn of_source(id: &str, lines: &[u8]) -> Self {
        Self {
            source: id_of_lines(id, lines),
            first: 1,
        }
    }

    /// Of lines that are spooled under this id.
    #[must_use]
    pub fn of_spooled(id: &str, lines: &[u8]) -> Self {
        Self::of_source(&source_id_of(id), lines)
    }

    /// Of lines of the same source that stand so many behind.
    #[must_use]
    pub fn behind(self, num_lines: u64) -> Self {
        Self {
            first: self.first.saturating_add(num_lines),
            ..self
        }
    }

    /// The identity of one of them, counted from 0, as searches show it.
    #[must_use]
    pub fn nth(&self, nth: u64) -> String {
        let identity = DocIdentity {
            source: self.source,
            position: self.first.saturating_add(nth),
        };
        identity.to_string()
    }
}

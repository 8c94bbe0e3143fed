//! Ids of documents that arrived as lines, before any of them is ingested.

use canter_split_format::{DocIdentity, SourceId};

use super::spool::source_id_of;
use crate::input::source::id_of_lines;

/// Ids of consecutive lines of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineIds {
    source: SourceId,
    /// The position of the first.
    first: u64,
}

impl LineIds {
    /// Returns the ids of the first lines of a source of lines with this id (see [`crate::Source::lines`]).
    #[must_use]
    pub fn of_source(id: &str, lines: &[u8]) -> Self {
        Self {
            source: id_of_lines(id, lines),
            first: 1,
        }
    }

    /// Returns the ids of lines that are spooled under this id.
    #[must_use]
    pub fn of_spooled(id: &str, lines: &[u8]) -> Self {
        Self::of_source(&source_id_of(id), lines)
    }

    /// Returns the ids of lines of the same source that come `num_lines` later.
    #[must_use]
    pub fn behind(self, num_lines: u64) -> Self {
        Self {
            first: self.first.saturating_add(num_lines),
            ..self
        }
    }

    /// Returns the source that the lines belong to.
    pub(crate) fn source(self) -> SourceId {
        self.source
    }

    /// Returns the source and the line of one of them, counted from 0.
    pub(crate) fn place(self, nth: u64) -> (SourceId, u64) {
        (self.source, self.first.saturating_add(nth))
    }

    /// Returns the sequence number of one of them, counted from 0.
    #[must_use]
    pub fn seq_no(&self, nth: u64) -> u64 {
        let (source, position) = self.place(nth);
        DocIdentity { source, position }.seq_no()
    }

    /// Returns the id of one of them, counted from 0, as searches show it.
    #[must_use]
    pub fn nth(&self, nth: u64) -> String {
        let identity = DocIdentity {
            source: self.source,
            position: self.first.saturating_add(nth),
        };
        identity.to_string()
    }
}

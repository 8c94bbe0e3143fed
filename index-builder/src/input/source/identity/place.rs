//! The location of an input, and the names of ledger entries.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use canter_split_format::SourceId;

use super::beginning::first_id;
use super::rotation::LogName;
use crate::input::source::Source;

/// Returns the entry with the hash of a source's first lines ([`MARKS`]).
pub(crate) fn mark_of(source: SourceId, num_lines: u64) -> SourceId {
    let origin = [b"mark:", &source.to_u128().to_be_bytes()[..]].concat();
    SourceId::of(&origin, &num_lines.to_le_bytes())
}

/// Returns the entry of a file name that was seen.
pub(crate) fn name_of(origin: &[u8]) -> SourceId {
    SourceId::of(&[b"name:", origin].concat(), &[])
}

/// Returns the entry which records that nothing ended the last of `num_lines` lines of a source when they were
/// ingested.
pub(crate) fn open_end_of(source: SourceId, num_lines: u64) -> SourceId {
    let origin = [b"open:", &source.to_u128().to_be_bytes()[..]].concat();
    SourceId::of(&origin, &num_lines.to_le_bytes())
}

/// The location of an input.
pub(crate) struct Place {
    pub(super) name: String,
    pub(super) origin: Vec<u8>,
    /// Present if its content identifies it: a file without an id of its own.
    pub(super) log: Option<LogName>,
    pub(super) path: Option<PathBuf>,
    /// Numbers of the ledger's entries of an object's versions that were read completely.
    pub(super) versions: Option<RangeInclusive<u128>>,
    /// The source to read once more, if possible.
    pub(super) again: Option<Source>,
    /// True if it may be being written to.
    pub(super) may_grow: bool,
}

impl Place {
    pub(crate) fn of(source: &Source) -> Place {
        Place {
            name: source.name().to_owned(),
            origin: source.origin(),
            log: source.log_name(),
            versions: source.whole_ids(),
            // A client's lines have the client's id: other lines under that id are an error.
            again: (source.is_kept() && !source.is_in_memory())
                .then(|| source.again())
                .flatten(),
            may_grow: source.path().is_some(),
            path: source.path().and_then(|path| path.canonicalize().ok()),
        }
    }

    /// Returns the id that files had before they were identified by their beginnings.
    pub(super) fn id_of_old(&self, beginning: &[u8]) -> SourceId {
        SourceId::of(&self.origin, beginning)
    }

    /// Returns the id of a new source. `number` distinguishes consecutive sources with the same location.
    pub(super) fn id(&self, beginning: &[u8], number: u32) -> SourceId {
        match (&self.log, number) {
            (Some(log), _) => SourceId::of_file(&self.origin, log.log(), beginning, number),
            (None, 0) => first_id(&self.origin, beginning),
            (None, _) => {
                let origin = [&self.origin[..], b"\0after", &number.to_le_bytes()].concat();
                SourceId::of(&origin, beginning)
            }
        }
    }
}

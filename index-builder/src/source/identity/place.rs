//! Where an input comes from, and the names of entries of the ledger.

use std::path::PathBuf;

use canter_split_format::SourceId;

use super::rotation::LogName;
use crate::source::Source;

/// Names the entry that says what the first lines of a source come to ([`MARKS`]).
pub(crate) fn mark_of(source: SourceId, num_lines: u64) -> SourceId {
    let origin = [b"mark:", &source.to_u128().to_be_bytes()[..]].concat();
    SourceId::of(&origin, &num_lines.to_le_bytes())
}

/// Names the entry that says that there was a file of this name.
pub(crate) fn name_of(origin: &[u8]) -> SourceId {
    SourceId::of(&[b"name:", origin].concat(), &[])
}

/// Names the entry that says that nothing ended the last of so many lines of a source when they were ingested.
pub(crate) fn open_end_of(source: SourceId, num_lines: u64) -> SourceId {
    let origin = [b"open:", &source.to_u128().to_be_bytes()[..]].concat();
    SourceId::of(&origin, &num_lines.to_le_bytes())
}

/// Where an input comes from.
pub(crate) struct Place {
    pub(super) name: String,
    pub(super) origin: Vec<u8>,
    /// If its content says who it is: a file without an id of its own.
    pub(super) log: Option<LogName>,
    pub(super) path: Option<PathBuf>,
    /// To be read once more, if that can be.
    pub(super) again: Option<Source>,
    /// Whether it may be written to at this moment.
    pub(super) may_grow: bool,
}

impl Place {
    pub(crate) fn of(source: &Source) -> Place {
        Place {
            name: source.name().to_owned(),
            origin: source.origin(),
            log: source.log_name(),
            // Lines of a client are who it says that they are: other lines under that name are an error.
            again: (source.is_kept() && !source.is_in_memory())
                .then(|| source.again())
                .flatten(),
            may_grow: source.path().is_some(),
            path: source.path().and_then(|path| path.canonicalize().ok()),
        }
    }

    /// The id that files had before they were known by how they begin.
    pub(super) fn id_of_old(&self, beginning: &[u8]) -> SourceId {
        SourceId::of(&self.origin, beginning)
    }

    /// The id of a new source. `number` tells those apart that were here one after the other.
    pub(super) fn id(&self, beginning: &[u8], number: u32) -> SourceId {
        match (&self.log, number) {
            (Some(log), _) => SourceId::of_file(&self.origin, log.log(), beginning, number),
            (None, 0) => SourceId::of(&self.origin, beginning),
            (None, _) => {
                let origin = [&self.origin[..], b"\0after", &number.to_le_bytes()].concat();
                SourceId::of(&origin, beginning)
            }
        }
    }
}

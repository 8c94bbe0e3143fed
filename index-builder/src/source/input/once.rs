//! Sources that can be read only once, such as pipes: their bytes are taken out, examined and put back. Others are
//! identified without reading them.

use super::open::open_file;
use super::source::{Origin, Source};
use crate::error::BuildError;
use std::fs::Metadata;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

impl Source {
    /// Renames the source in messages and rejects.
    #[must_use]
    pub(crate) fn named(mut self, name: &str) -> Source {
        name.clone_into(&mut self.name);
        self
    }

    /// Returns the source with bytes from another reader. A file or standard input keeps only its name: it is
    /// recognised again if it has an id.
    #[must_use]
    pub(crate) fn reading(mut self, reader: impl Read + Send + 'static) -> Source {
        self.origin = Origin::Reader(Mutex::new(Box::new(reader)));
        self
    }

    /// Returns the stored bytes of a source that can be read only once, and the source without them.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be opened, `Internal` for an object or a member of an archive, which can be
    /// read again.
    pub(crate) fn into_reader(mut self) -> Result<(Box<dyn Read + Send>, Source), BuildError> {
        let empty = Origin::Reader(Mutex::new(Box::new(io::empty())));
        let reader: Box<dyn Read + Send> = match std::mem::replace(&mut self.origin, empty) {
            Origin::File(path) => Box::new(open_file(&path)?),
            Origin::Stdin => Box::new(io::stdin()),
            Origin::Reader(reader) => reader.into_inner().unwrap_or_else(PoisonError::into_inner),
            Origin::Lines(lines) => Box::new(io::Cursor::new(lines)),
            Origin::Object(_) | Origin::Member(_) => {
                return Err(BuildError::internal(format!(
                    "`{}` is no stream",
                    self.name
                )));
            }
        };
        Ok((reader, self))
    }

    /// Identifies its bytes without reading them: a file by path, length and times, an object by URI and version.
    /// `None` for a stream that can be read only once, or a missing one.
    #[must_use]
    pub fn stored_version(&self) -> Option<Vec<u8>> {
        let place = self.place()?;
        let version = match &self.origin {
            Origin::File(path) => version_of(&path.metadata().ok()?),
            Origin::Object(place) => place.version(),
            Origin::Member(_) | Origin::Stdin | Origin::Reader(_) | Origin::Lines(_) => {
                return None;
            }
        };
        Some([&place, &b"\0"[..], version.as_bytes()].concat())
    }
}

/// Returns properties that change when a file does, even if a tool restores its modification time.
fn version_of(file: &Metadata) -> String {
    let modified = file.modified().ok();
    let version = format!("{} {modified:?}", file.len());
    #[cfg(unix)]
    let version = {
        use std::os::unix::fs::MetadataExt;
        let (s, ns) = (file.ctime(), file.ctime_nsec());
        format!("{version} {} {s}.{ns}", file.ino())
    };
    version
}

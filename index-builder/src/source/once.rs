//! Sources that can be read once, such as pipes: their bytes taken out, looked at and put back; and what tells the bytes of
//! others without reading them.

use super::input::{Origin, Source};
use super::open::open_file;
use crate::error::BuildError;
use std::fs::Metadata;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

impl Source {
    /// The same source by another name in messages and rejects.
    #[must_use]
    pub(crate) fn named(mut self, name: &str) -> Source {
        name.clone_into(&mut self.name);
        self
    }

    /// The same source, of which the bytes come from elsewhere. A file or standard input stays who it is by name only: it is
    /// known again if it was given an id.
    #[must_use]
    pub(crate) fn reading(mut self, reader: impl Read + Send + 'static) -> Source {
        self.origin = Origin::Reader(Mutex::new(Box::new(reader)));
        self
    }

    /// The bytes of a source that can be read once, as they are stored, and the source without them.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be opened, `Internal` for an object or a member of an archive, which can be read
    /// again.
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

    /// Which bytes they are, without reading them: of a file its path, length and times, of an object its URI and version.
    /// `None` for what can be read once, or is not there.
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

/// What changes when a file does: also if a tool puts back the time of its last modification.
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

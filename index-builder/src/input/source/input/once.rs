//! Sources that can be read only once, such as pipes: their bytes are taken out, examined and put back. Others are
//! identified without reading them.

use super::open::open_file;
use super::source::{Origin, Source};
use crate::error::BuildError;
use crate::input::source::decoding::{Decoded, Decoding};
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tempfile::TempPath;

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

    /// The same source, of which the bytes are in a file.
    fn of_file(mut self, path: PathBuf) -> Source {
        self.origin = Origin::File(path);
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

/// Sources, archives among them that came through pipes in files.
#[derive(Debug, Default)]
pub struct SpooledArchives {
    /// All sources, in their order.
    pub sources: Vec<Source>,
    /// The files of those that were written to one. A file is deleted when this is dropped.
    pub files: Vec<TempPath>,
}

/// Bytes by which an archive is known, compressed or not.
const BEGINNING_NUM_BYTES: u64 = 64 << 10;

/// Writes archives that come through pipes into files, since their members are read one by one; other sources stay what they
/// are.
///
/// # Errors
/// `Unavailable` if a pipe cannot be read, or the temporary file not be written.
pub fn spool_archives(
    sources: Vec<Source>,
    max_expansion: u64,
) -> Result<SpooledArchives, BuildError> {
    let mut spooled = SpooledArchives::default();
    for source in sources {
        if source.again().is_some() || matches!(&source.origin, Origin::File(_)) {
            spooled.sources.push(source);
            continue;
        }
        let name = source.name.clone();
        let unread =
            |error| BuildError::unavailable(format!("cannot read `{name}`")).caused_by(error);
        let (mut reader, source) = source.into_reader()?;
        let mut beginning = Vec::new();
        let mut first = reader.by_ref().take(BEGINNING_NUM_BYTES);
        first.read_to_end(&mut beginning).map_err(unread)?;
        let decoding = Decoding {
            max_expansion,
            is_text: true,
        };
        let decoded = Decoded::new(Box::new(io::Cursor::new(beginning.clone())), decoding);
        let mut whole = io::Cursor::new(beginning).chain(reader);
        if !decoded.is_ok_and(|decoded| decoded.archive.is_some()) {
            spooled.sources.push(source.reading(whole));
            continue;
        }
        let unwritten = |error| {
            BuildError::unavailable(format!("cannot write `{name}` into a temporary file"))
                .caused_by(error)
        };
        let mut file = tempfile::NamedTempFile::new().map_err(unwritten)?;
        io::copy(&mut whole, &mut file).map_err(unwritten)?;
        let path = file.into_temp_path();
        spooled.sources.push(source.of_file(path.to_path_buf()));
        spooled.files.push(path);
    }
    Ok(spooled)
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

//! Sources of records, and their identities. `open.rs` opens them.

use super::members::ArchiveMember;
use super::open::{is_pipe, open_file};
use crate::error::BuildError;
use crate::input::source::identity::LogName;
use crate::input::source::object::ObjectPlace;
use bytes::Bytes;
use canter_split_format::SourceId;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A stream of records, in any format that [`canter_formats`] recognises. gzip (also with several members), zstd,
/// bzip2, xz and UTF-16 are recognised by their first bytes, whatever the name. Each member of an archive (tar, zip) is
/// a source.
///
/// Documents are identified by their source and their place in it ([`DocIdentity`]), so a source that is ingested again
/// is recognised, and equal lines of two sources are two documents. A file is identified by its beginning: a file that
/// begins with everything that was ingested of a source is that source, whatever its name is now (logs are rotated and
/// compressed), unless another file of the same ingest is. An object of a bucket is identified by its URI, and any
/// other stream by the id that its caller sets ([`Source::with_id`]), or else it is new; both also by their beginnings.
///
/// [`DocIdentity`]: canter_split_format::DocIdentity
pub struct Source {
    pub(in crate::input::source) name: String,
    pub(in crate::input::source) origin: Origin,
    id: Option<String>,
    pub(in crate::input::source) path_fields: Vec<(String, String)>,
    pub(in crate::input::source) left_out: Arc<BTreeSet<u64>>,
    /// True if it was not named explicitly: a pattern, a folder or an archive contains it.
    is_found: bool,
}

pub(in crate::input::source) enum Origin {
    File(PathBuf),
    /// The read-ahead opens it.
    Object(ObjectPlace),
    /// A member of an archive that is one of the former.
    Member(ArchiveMember),
    Stdin,
    /// In a mutex, so that a source may be shared.
    Reader(Mutex<Box<dyn Read + Send>>),
    /// JSON documents, one per line.
    Lines(Bytes),
}

impl Source {
    /// Creates a source from a file, which may be compressed.
    pub fn file(path: impl Into<PathBuf>) -> Source {
        let path = path.into();
        Source {
            name: path.display().to_string(),
            origin: Origin::File(path),
            id: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            is_found: false,
        }
    }

    /// Creates a source from an object of a bucket.
    pub(crate) fn object(place: ObjectPlace) -> Source {
        Source {
            name: place.uri(),
            origin: Origin::Object(place),
            id: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            is_found: false,
        }
    }

    /// Creates a source from a member of an archive, with the fields of the archive's path.
    pub(in crate::input::source) fn member(member: ArchiveMember) -> Source {
        let archive = member.archive();
        Source {
            name: format!("{}!{}", archive.name, member.name()),
            id: None,
            path_fields: archive.path_fields.clone(),
            left_out: Arc::default(),
            is_found: archive.is_found || archive.path().is_some() || archive.as_object().is_some(),
            origin: Origin::Member(member),
        }
    }

    /// Creates a source from standard input, which may be compressed.
    #[must_use]
    pub fn stdin() -> Source {
        Source {
            name: "standard input".to_string(),
            origin: Origin::Stdin,
            id: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            is_found: false,
        }
    }

    /// Creates a source from any reader; messages and rejects call it `name`.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        Source {
            name: name.into(),
            origin: Origin::Reader(Mutex::new(Box::new(reader))),
            id: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            is_found: false,
        }
    }

    /// Creates a source from JSON documents in lines, each ended by a line feed; messages and rejects call it `name`.
    ///
    /// Each line is a record, whatever its beginning: compression, byte order marks and other formats are not
    /// detected, no rule for records of several lines applies, and no line is too long.
    pub fn lines(name: impl Into<String>, lines: Vec<u8>) -> Source {
        Source {
            name: name.into(),
            origin: Origin::Lines(Bytes::from(lines)),
            id: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            is_found: false,
        }
    }

    /// Sets the source's id: the same id is the same source, wherever it is read from.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Source {
        self.id = Some(id.into());
        self
    }

    /// Returns whether the lines are in the caller's memory, and stored nowhere else.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.origin, Origin::Lines(_))
    }

    /// Rejects these records, by their places from 1, without parsing them. The source and all its other documents keep
    /// their identities.
    #[must_use]
    pub fn without(mut self, records: BTreeSet<u64>) -> Source {
        self.left_out = Arc::new(records);
        self
    }

    /// Adds these fields to its documents, unless they have them.
    #[must_use]
    pub(crate) fn with_path_fields(mut self, fields: Vec<(String, String)>) -> Source {
        self.path_fields = fields;
        self
    }

    /// Marks it as not explicitly named: if it is not a log at all, it is left out, and the others are read.
    #[must_use]
    pub(crate) fn found(mut self) -> Source {
        self.is_found = true;
        self
    }

    /// Returns whether it was not named explicitly.
    pub(crate) fn is_found(&self) -> bool {
        self.is_found
    }

    /// Returns the name in messages and rejects.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stored (compressed) length, if it is known before reading.
    #[must_use]
    pub fn stored_num_bytes(&self) -> Option<u64> {
        match &self.origin {
            Origin::File(path) => path
                .metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)
                .map(|meta| meta.len()),
            Origin::Object(place) => Some(place.len()),
            // The first of them counts for all.
            Origin::Member(member) => match member.is_first() {
                true => member.archive().stored_num_bytes(),
                false => Some(0),
            },
            Origin::Lines(lines) => Some(lines.len() as u64),
            Origin::Stdin | Origin::Reader(_) => None,
        }
    }

    /// Fails early if the source cannot be opened, before anything is read from the others.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        match &self.origin {
            // The writer of a pipe would see it closed.
            Origin::File(path) if is_pipe(path) => Ok(()),
            // It was renamed after it was listed, as rotation does.
            Origin::File(_) if self.is_gone() => Ok(()),
            Origin::File(path) => open_file(path).map(drop),
            Origin::Object(_)
            | Origin::Member(_)
            | Origin::Stdin
            | Origin::Reader(_)
            | Origin::Lines(_) => Ok(()),
        }
    }

    /// Returns whether it is a file that was found, and that exists no more.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_found && self.path().is_some_and(|path| !path.exists())
    }

    /// Returns its path, if it is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            _ => None,
        }
    }

    /// Returns its object, if it is one.
    pub(crate) fn as_object(&self) -> Option<&ObjectPlace> {
        match &self.origin {
            Origin::Object(place) => Some(place),
            _ => None,
        }
    }

    /// Returns the ledger's id of a completely ingested version that never changes: such a source need not be read.
    /// `None` for a file, which may change unnoticed.
    pub(crate) fn whole_id(&self) -> Option<SourceId> {
        if let Origin::Member(member) = &self.origin {
            return member.archive().whole_id().filter(|_| member.is_last());
        }
        let place = self.as_object()?;
        let version = place.version();
        let version = version.as_bytes();
        Some(SourceId::of_file(version, version, &self.of_whole(), 0))
    }

    /// Returns the id that [`Source::whole_id`] was before the versions of an object had a common range of numbers:
    /// existing indexes have it.
    pub(crate) fn old_whole_id(&self) -> Option<SourceId> {
        let version = self.as_object()?.version();
        let version = [b"whole:", version.as_bytes()].concat();
        Some(SourceId::of(&self.origin(), &version))
    }

    /// Returns the numbers of the ids of all versions of an object ([`Source::whole_id`]).
    pub(crate) fn whole_ids(&self) -> Option<RangeInclusive<u128>> {
        self.as_object()?;
        Some(SourceId::range_of_beginning(&self.of_whole()))
    }

    fn of_whole(&self) -> Vec<u8> {
        [b"whole:", &self.origin()[..]].concat()
    }

    /// Returns its location, if known: two sources with one location are the same.
    pub(crate) fn place(&self) -> Option<Vec<u8>> {
        match &self.origin {
            Origin::File(path) => {
                let path = path.canonicalize().ok().filter(|path| path.is_file())?;
                Some([b"file:", path.as_os_str().as_encoded_bytes()].concat())
            }
            Origin::Object(place) => Some([b"object:", place.uri().as_bytes()].concat()),
            Origin::Member(member) => {
                let archive = member.archive().place()?;
                Some([archive.as_slice(), b"!", member.name().as_bytes()].concat())
            }
            Origin::Stdin => Some(b"standard input".to_vec()),
            Origin::Reader(_) | Origin::Lines(_) => None,
        }
    }

    /// Returns its origin, which identifies it together with its beginning: the same whenever it is
    /// ingested again, and always a new one for a stream without an id.
    pub(crate) fn origin(&self) -> Vec<u8> {
        match (&self.id, &self.origin) {
            (Some(id), _) => Some(origin_of(id)),
            (None, Origin::File(_) | Origin::Object(_)) => self.place(),
            (None, Origin::Member(member)) => {
                let archive = member.archive().origin();
                Some([archive.as_slice(), b"!", member.name().as_bytes()].concat())
            }
            (None, Origin::Stdin | Origin::Reader(_) | Origin::Lines(_)) => None,
        }
        .unwrap_or_else(never_before)
    }

    /// Returns the log of a file without an id of its own: such a file is also identified by its content.
    pub(crate) fn log_name(&self) -> Option<LogName> {
        match (&self.id, &self.origin) {
            (None, Origin::File(path)) => path.canonicalize().ok().map(|path| LogName::of(&path)),
            _ => None,
        }
    }

    /// Returns whether it can be recognised again.
    pub(crate) fn is_kept(&self) -> bool {
        if let Origin::Member(member) = &self.origin {
            return member.archive().is_kept();
        }
        let has_place = matches!(self.origin, Origin::File(_) | Origin::Object(_));
        self.id.is_some() || (has_place && self.place().is_some())
    }

    /// Returns the same source once more, if it can be read twice.
    pub(crate) fn again(&self) -> Option<Source> {
        let origin = match &self.origin {
            Origin::File(path) if path.is_file() => Origin::File(path.clone()),
            Origin::Object(place) => Origin::Object(place.clone()),
            Origin::Member(member) => Origin::Member(member.clone()),
            Origin::Lines(lines) => Origin::Lines(lines.clone()),
            Origin::File(_) | Origin::Stdin | Origin::Reader(_) => return None,
        };
        Some(self.with_origin(origin))
    }

    /// Returns the same source for another attempt: also a file that is gone, of which an attempt reads nothing.
    pub(crate) fn for_retry(&self) -> Option<Source> {
        let gone = self.path().filter(|_| self.is_gone());
        let gone = gone.map(|path| self.with_origin(Origin::File(path.to_owned())));
        gone.or_else(|| self.again())
    }

    fn with_origin(&self, origin: Origin) -> Source {
        Source {
            name: self.name.clone(),
            origin,
            id: self.id.clone(),
            path_fields: self.path_fields.clone(),
            left_out: Arc::clone(&self.left_out),
            is_found: self.is_found,
        }
    }
}

/// Returns the origin of a source with an id: the id alone.
pub(in crate::input::source) fn origin_of(id: &str) -> Vec<u8> {
    [b"id:", id.as_bytes()].concat()
}

/// Returns a new origin.
fn never_before() -> Vec<u8> {
    // Its keys are 128 random bits of the system, the only randomness that is needed.
    let random = RandomState::new();
    let [left, right] = [0, 1].map(|half: u8| random.hash_one(half).to_le_bytes());
    [b"once:", &left[..], &right[..]].concat()
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.name).finish()
    }
}

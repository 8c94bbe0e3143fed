//! Where records come from, and who a source is. How it is opened is in `open.rs`.

use super::decoding::ArchiveMember;
use super::identity::LogName;
use super::object::ObjectPlace;
use super::open::{is_pipe, open_file};
use crate::error::BuildError;
use bytes::Bytes;
use canter_split_format::SourceId;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A stream of records, of any format that [`canter_formats`] recognises. gzip (several members too), zstd, bzip2, xz and
/// UTF-16 are recognised by their first bytes, whatever the name says. Of an archive (tar, zip) each member is a source.
///
/// Documents are known by their source and their place in it ([`DocIdentity`]), so a source that is
/// ingested again is found to be, and equal lines of two sources are two documents. A file is what it begins with: one
/// that has all that was ingested of a source, at its beginning, is that source, whatever it is called now (logs are
/// rotated and compressed), unless another file of the same ingest is. An object of a bucket is its URI, and any other
/// stream the one that its caller says ([`Source::with_id`]), or else one that never was before; to both belongs how they
/// begin.
///
/// [`DocIdentity`]: canter_split_format::DocIdentity
pub struct Source {
    pub(super) name: String,
    pub(super) origin: Origin,
    id: Option<String>,
    pub(super) path_fields: Vec<(String, String)>,
    pub(super) left_out: Arc<BTreeSet<u64>>,
    /// Nobody named it: a pattern, a folder or an archive has it.
    is_found: bool,
}

pub(super) enum Origin {
    File(PathBuf),
    /// It is opened by who reads ahead.
    Object(ObjectPlace),
    /// Of an archive that is one of the former.
    Member(ArchiveMember),
    Stdin,
    /// For whoever takes it, so that a source may be shared.
    Reader(Mutex<Box<dyn Read + Send>>),
    /// JSON documents, one a line.
    Lines(Bytes),
}

impl Source {
    /// A file, which may be compressed.
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

    /// An object of a bucket.
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

    /// A member of an archive, which has the fields of the archive's path.
    pub(super) fn member(member: ArchiveMember) -> Source {
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

    /// Standard input, which may be compressed.
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

    /// Any reader; `name` stands in messages and rejects.
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

    /// JSON documents that somebody has put into lines, each ended by a line feed; `name` stands in messages and rejects.
    ///
    /// Each line is a record, whatever it begins with: nothing is taken for compression, a byte order mark or another
    /// format, no rule for records of several lines counts, and none is too long.
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

    /// Says who the source is: the same id is the same source, wherever it is read from.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Source {
        self.id = Some(id.into());
        self
    }

    /// Returns whether the lines are the caller's, which nothing else has.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.origin, Origin::Lines(_))
    }

    /// Rejects these records, by their places from 1, without looking at them. The source and all its other documents stay
    /// who they are.
    #[must_use]
    pub fn without(mut self, records: BTreeSet<u64>) -> Source {
        self.left_out = Arc::new(records);
        self
    }

    /// Gives its documents these fields, unless they have them.
    #[must_use]
    pub(crate) fn with_path_fields(mut self, fields: Vec<(String, String)>) -> Source {
        self.path_fields = fields;
        self
    }

    /// Says that nobody named it: if it is no log at all, it is left out, and the others are read.
    #[must_use]
    pub(crate) fn found(mut self) -> Source {
        self.is_found = true;
        self
    }

    /// Whether nobody named it.
    pub(crate) fn is_found(&self) -> bool {
        self.is_found
    }

    /// The name that messages and rejects give.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length as it is stored (compressed), where that is known before reading.
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

    /// Fails early where the source cannot be opened, before anything was read from the others.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        match &self.origin {
            // Whoever writes to a pipe would see it closed.
            Origin::File(path) if is_pipe(path) => Ok(()),
            Origin::File(path) => open_file(path).map(drop),
            Origin::Object(_)
            | Origin::Member(_)
            | Origin::Stdin
            | Origin::Reader(_)
            | Origin::Lines(_) => Ok(()),
        }
    }

    /// The file that it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            _ => None,
        }
    }

    /// The object that it is.
    pub(crate) fn as_object(&self) -> Option<&ObjectPlace> {
        match &self.origin {
            Origin::Object(place) => Some(place),
            _ => None,
        }
    }

    /// Under which it is known that all of it was ingested, in a version that never changes: such a source need not
    /// be looked at. A file may change and say nothing.
    pub(crate) fn whole_id(&self) -> Option<SourceId> {
        if let Origin::Member(member) = &self.origin {
            return member.archive().whole_id().filter(|_| member.is_last());
        }
        let place = self.as_object()?;
        let version = place.version();
        let version = [b"whole:", version.as_bytes()].concat();
        Some(SourceId::of(&self.origin(), &version))
    }

    /// Where it is, if that can be told: two sources of one place are one.
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

    /// What makes it this source, but for how it begins: the same whenever it is ingested again, and
    /// never the same for a stream that nobody gave an id.
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

    /// Of a file without an id of its own, the log that it belongs to: such a file is known by its content, too.
    pub(crate) fn log_name(&self) -> Option<LogName> {
        match (&self.id, &self.origin) {
            (None, Origin::File(path)) => path.canonicalize().ok().map(|path| LogName::of(&path)),
            _ => None,
        }
    }

    /// Whether it can be told when it comes again.
    pub(crate) fn is_kept(&self) -> bool {
        if let Origin::Member(member) = &self.origin {
            return member.archive().is_kept();
        }
        let has_place = matches!(self.origin, Origin::File(_) | Origin::Object(_));
        self.id.is_some() || (has_place && self.place().is_some())
    }

    /// The same source once more, if it can be read twice.
    pub(crate) fn again(&self) -> Option<Source> {
        let origin = match &self.origin {
            Origin::File(path) if path.is_file() => Origin::File(path.clone()),
            Origin::Object(place) => Origin::Object(place.clone()),
            Origin::Member(member) => Origin::Member(member.clone()),
            Origin::Lines(lines) => Origin::Lines(lines.clone()),
            Origin::File(_) | Origin::Stdin | Origin::Reader(_) => return None,
        };
        Some(Source {
            name: self.name.clone(),
            origin,
            id: self.id.clone(),
            path_fields: self.path_fields.clone(),
            left_out: Arc::clone(&self.left_out),
            is_found: self.is_found,
        })
    }
}

/// Where a source comes from that was given an id: nowhere else.
pub(super) fn origin_of(id: &str) -> Vec<u8> {
    [b"id:", id.as_bytes()].concat()
}

/// An origin that nothing had before.
fn never_before() -> Vec<u8> {
    // Its keys are 128 random bits of the system, which is all the randomness that this takes.
    let random = RandomState::new();
    let [left, right] = [0, 1].map(|half: u8| random.hash_one(half).to_le_bytes());
    [b"once:", &left[..], &right[..]].concat()
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.name).finish()
    }
}

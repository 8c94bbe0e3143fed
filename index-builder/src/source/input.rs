//! Where records come from, and who a source is. What undoes compression is in `opened.rs`.

use super::object::{ObjectPlace, ObjectReader, ReadAhead};
use super::opened::{Input, PARQUET_MAGIC, day_of, store_failure};
use super::settings::ReadSettings;
use crate::error::BuildError;
use bytes::Bytes;
use canter_split_format::SourceId;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream of records, of any format that [`canter_formats`] recognises. gzip (several members too) and
/// zstd are recognised by their first bytes, whatever the name says.
///
/// Documents are known by their source and their place in it ([`DocIdentity`]), so a source that is
/// ingested again is found to be, and equal lines of two sources are two documents. A file is where
/// it is: its path, with all links resolved; an object of a bucket is its URI. Any other stream is the one that its caller says
/// ([`Source::with_id`]), or else one that never was before. To both belongs how they begin, so a
/// file that is replaced by another (logs are rotated) is another source, and one that grew is not.
///
/// [`DocIdentity`]: canter_split_format::DocIdentity
pub struct Source {
    name: String,
    origin: Origin,
    id: Option<String>,
    path_fields: Vec<(String, String)>,
    left_out: Arc<BTreeSet<u64>>,
}

enum Origin {
    File(PathBuf),
    /// It is opened by who reads ahead.
    Object(ObjectPlace),
    Stdin,
    Reader(Box<dyn Read + Send>),
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
        }
    }

    /// Any reader; `name` stands in messages and rejects.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        Source {
            name: name.into(),
            origin: Origin::Reader(Box::new(reader)),
            id: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
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
        }
    }

    /// Says who the source is: the same id is the same source, wherever it is read from.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Source {
        self.id = Some(id.into());
        self
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
            Origin::Object(_) | Origin::Stdin | Origin::Reader(_) | Origin::Lines(_) => Ok(()),
        }
    }

    /// The file that it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            Origin::Object(_) | Origin::Stdin | Origin::Reader(_) | Origin::Lines(_) => None,
        }
    }

    /// The object that it is.
    pub(crate) fn as_object(&self) -> Option<&ObjectPlace> {
        match &self.origin {
            Origin::Object(place) => Some(place),
            Origin::File(_) | Origin::Stdin | Origin::Reader(_) | Origin::Lines(_) => None,
        }
    }

    /// Under which it is known that all of it was ingested, in a version that never changes: such a source need not
    /// be looked at. A file may change and say nothing.
    pub(crate) fn whole_id(&self) -> Option<SourceId> {
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
            (None, Origin::Stdin | Origin::Reader(_) | Origin::Lines(_)) => None,
        }
        .unwrap_or_else(never_before)
    }

    /// Whether it can be told when it comes again.
    pub(crate) fn is_kept(&self) -> bool {
        let has_place = matches!(self.origin, Origin::File(_) | Origin::Object(_));
        self.id.is_some() || (has_place && self.place().is_some())
    }

    /// The same source once more, if it can be read twice.
    pub(crate) fn again(&self) -> Option<Source> {
        let origin = match &self.origin {
            Origin::File(path) if path.is_file() => Origin::File(path.clone()),
            Origin::Object(place) => Origin::Object(place.clone()),
            Origin::Lines(lines) => Origin::Lines(lines.clone()),
            Origin::File(_) | Origin::Stdin | Origin::Reader(_) => return None,
        };
        Some(Source {
            name: self.name.clone(),
            origin,
            id: self.id.clone(),
            path_fields: self.path_fields.clone(),
            left_out: Arc::clone(&self.left_out),
        })
    }

    /// Opens the source; `num_stored_bytes` counts what is read of it before decompression.
    pub(crate) fn open(
        self,
        num_stored_bytes: Arc<AtomicU64>,
        settings: &ReadSettings,
    ) -> Result<Input, BuildError> {
        let Some(place) = self.as_object().cloned() else {
            return self.open_with(None, num_stored_bytes, settings);
        };
        match ReadAhead::start(vec![place])?.next()? {
            Some(reader) => self.open_with(Some(reader), num_stored_bytes, settings),
            None => Err(BuildError::unavailable(format!(
                "`{}` is not there any more",
                self.name
            ))),
        }
    }

    /// The same with what was read ahead, if it is an object.
    pub(crate) fn open_with(
        self,
        object: Option<ObjectReader>,
        num_stored_bytes: Arc<AtomicU64>,
        settings: &ReadSettings,
    ) -> Result<Input, BuildError> {
        let mut ended = None;
        let reader: Box<dyn Read + Send> = match self.origin {
            Origin::File(ref path) => {
                let mut file = open_file(path)?;
                if settings.may_be_parquet() && begins_as_parquet(&mut file) {
                    let len = file.metadata().map_or(0, |meta| meta.len());
                    num_stored_bytes.fetch_add(len, Ordering::Relaxed);
                    return parquet_input(self, ParquetFile::Local(file), settings);
                }
                // A log was written to last when it was changed last.
                let changed = file.metadata().and_then(|meta| meta.modified());
                ended = changed.ok().and_then(day_of);
                Box::new(file)
            }
            Origin::Object(ref place) => {
                let place = place.clone();
                ended = day_of(place.modified());
                let mut reader = object.ok_or_else(|| {
                    BuildError::internal(format!("`{}` was not opened", self.name))
                })?;
                let begins = match settings.may_be_parquet() {
                    true => reader.begins_with(PARQUET_MAGIC),
                    false => Ok(false),
                };
                let begins = begins.map_err(|error| match store_failure(error) {
                    Ok(failure) => failure,
                    Err(error) => BuildError::unavailable(format!("cannot read `{}`", self.name))
                        .caused_by(error),
                })?;
                if begins {
                    num_stored_bytes.fetch_add(place.len(), Ordering::Relaxed);
                    return parquet_input(self, ParquetFile::Object(place), settings);
                }
                Box::new(reader)
            }
            Origin::Stdin => Box::new(io::stdin()),
            Origin::Reader(reader) => reader,
            Origin::Lines(lines) => {
                num_stored_bytes.fetch_add(lines.len() as u64, Ordering::Relaxed);
                return Ok(Input {
                    path_fields: self.path_fields,
                    left_out: self.left_out,
                    ..Input::lines(self.name, lines)
                });
            }
        };
        let counted = Counted {
            reader,
            num_bytes: num_stored_bytes,
        };
        let input = Input::detect(self.name.clone(), Box::new(counted), ended);
        let input = input.map_err(|error| match store_failure(error) {
            Ok(failure) => failure,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                BuildError::invalid(format!("`{}` cannot be read: {error}", self.name))
            }
            Err(error) => {
                BuildError::unavailable(format!("cannot read `{}`", self.name)).caused_by(error)
            }
        })?;
        Ok(Input {
            path_fields: self.path_fields,
            left_out: self.left_out,
            ..input
        })
    }
}

/// Whether a file that can be read anywhere is Parquet. It is at its beginning then.
fn begins_as_parquet(file: &mut File) -> bool {
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
    let mut magic = [0; PARQUET_MAGIC.len()];
    let begins = is_file && file.read_exact(&mut magic).is_ok() && magic == *PARQUET_MAGIC;
    // A file goes back.
    is_file && file.rewind().is_ok() && begins
}

/// A file that can be read anywhere.
#[cfg_attr(
    not(feature = "parquet"),
    expect(dead_code, reason = "a build without Parquet refuses it by name")
)]
enum ParquetFile {
    Local(File),
    Object(ObjectPlace),
}

#[cfg(feature = "parquet")]
fn parquet_input(
    source: Source,
    file: ParquetFile,
    settings: &ReadSettings,
) -> Result<Input, BuildError> {
    use super::opened::BUFFER_LEN;
    use super::parquet::{ObjectRanges, ParquetLimits, ParquetLines};
    use std::io::BufReader;
    let wanted = &settings.wanted;
    let limits = ParquetLimits {
        max_pages_num_bytes: settings.max_parquet_num_bytes,
        max_line_num_bytes: (!settings.keeps_all).then_some(settings.max_record_num_bytes),
    };
    let lines = match file {
        ParquetFile::Local(file) => ParquetLines::open(file, wanted, limits),
        ParquetFile::Object(place) => ParquetLines::open(ObjectRanges(place), wanted, limits),
    };
    let known_by = lines.footer_checksum();
    let reader = Box::new(BufReader::with_capacity(BUFFER_LEN, lines));
    Ok(Input {
        path_fields: source.path_fields,
        left_out: source.left_out,
        parquet: Some(known_by),
        ..Input::as_it_is(source.name, reader)
    })
}

#[cfg(not(feature = "parquet"))]
fn parquet_input(source: Source, _: ParquetFile, _: &ReadSettings) -> Result<Input, BuildError> {
    Err(BuildError::invalid(format!(
        "`{}` is Parquet, which this build cannot read: build it with the feature `parquet`",
        source.name
    )))
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

fn open_file(path: &Path) -> Result<File, BuildError> {
    let shown = path.display();
    if path.is_dir() {
        return Err(BuildError::invalid(format!(
            "`{shown}` is a folder: name the files in it, as in `{shown}/*.ndjson`"
        )));
    }
    if let Some(what) = special(path) {
        return Err(BuildError::invalid(format!(
            "`{shown}` is {what}, which cannot be read as an input: name a file, a pipe, or `-` for standard input"
        )));
    }
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BuildError::invalid(format!(
            "no input file `{shown}`: check its name, or give `-` for standard input"
        )),
        _ => BuildError::unavailable(format!("cannot open `{shown}`")).caused_by(error),
    })
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata()
        .is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// What a path leads to, if that is neither a file nor a stream: a device may have no end. `None` for what is not there.
#[cfg(unix)]
fn special(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = path.metadata().ok()?.file_type();
    // What the shell passes on, which may be a terminal; and the device that ends at once.
    let is_stream = path.starts_with("/dev/fd")
        || ["/dev/stdin", "/dev/null"]
            .iter()
            .any(|name| path == Path::new(name));
    match () {
        () if kind.is_socket() => Some("a socket"),
        () if kind.is_block_device() => Some("a device"),
        () if kind.is_char_device() && !is_stream => Some("a device"),
        () => None,
    }
}

#[cfg(not(unix))]
fn special(_: &Path) -> Option<&'static str> {
    None
}

/// Counts the bytes that pass.
struct Counted {
    reader: Box<dyn Read + Send>,
    num_bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(out)?;
        self.num_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

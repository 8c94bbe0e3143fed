//! Where lines come from, and what undoes their compression.

use super::object::{ObjectPlace, ObjectReader, ReadAhead, StoreFailure};
use super::replay::Replay;
use super::settings::ReadSettings;
use crate::error::BuildError;
use canter_formats::{BEGINNING_LEN, MonthDay};
use canter_split_format::SourceId;
use flate2::bufread::MultiGzDecoder;
use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Read from a file this many bytes at a time.
const BUFFER_LEN: usize = 128 * 1024;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// zstd's skippable frames, which may stand first, are `0x184D2A5?` in little endian.
const ZSTD_SKIPPABLE_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];
/// A Parquet file begins with this.
const PARQUET_MAGIC: &[u8; 4] = b"PAR1";
const UTF8_BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

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
}

enum Origin {
    File(PathBuf),
    /// It is opened by who reads ahead.
    Object(ObjectPlace),
    Stdin,
    Reader(Box<dyn Read + Send>),
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
        }
    }

    /// An object of a bucket.
    pub(crate) fn object(place: ObjectPlace) -> Source {
        Source {
            name: place.uri(),
            origin: Origin::Object(place),
            id: None,
            path_fields: Vec::new(),
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
        }
    }

    /// Any reader; `name` stands in messages and rejects.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        Source {
            name: name.into(),
            origin: Origin::Reader(Box::new(reader)),
            id: None,
            path_fields: Vec::new(),
        }
    }

    /// Says who the source is: the same id is the same source, wherever it is read from.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Source {
        self.id = Some(id.into());
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
            Origin::Stdin | Origin::Reader(_) => None,
        }
    }

    /// Fails early where the source cannot be opened, before anything was read from the others.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        match &self.origin {
            Origin::File(path) => open_file(path).map(drop),
            Origin::Object(_) | Origin::Stdin | Origin::Reader(_) => Ok(()),
        }
    }

    /// The file that it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            Origin::Object(_) | Origin::Stdin | Origin::Reader(_) => None,
        }
    }

    /// The object that it is.
    pub(crate) fn as_object(&self) -> Option<&ObjectPlace> {
        match &self.origin {
            Origin::Object(place) => Some(place),
            Origin::File(_) | Origin::Stdin | Origin::Reader(_) => None,
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
            Origin::Reader(_) => None,
        }
    }

    /// What makes it this source, but for how it begins: the same whenever it is ingested again, and
    /// never the same for a stream that nobody gave an id.
    pub(crate) fn origin(&self) -> Vec<u8> {
        match (&self.id, &self.origin) {
            (Some(id), _) => Some(origin_of(id)),
            (None, Origin::File(_) | Origin::Object(_)) => self.place(),
            (None, Origin::Stdin | Origin::Reader(_)) => None,
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
            Origin::File(_) | Origin::Stdin | Origin::Reader(_) => return None,
        };
        Some(Source {
            name: self.name.clone(),
            origin,
            id: self.id.clone(),
            path_fields: self.path_fields.clone(),
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
#[cfg_attr(not(feature = "parquet"), expect(dead_code))]
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
    use super::parquet::{ObjectRanges, ParquetLines};
    let lines = match file {
        ParquetFile::Local(file) => ParquetLines::open(file, &settings.wanted),
        ParquetFile::Object(place) => ParquetLines::open(ObjectRanges(place), &settings.wanted),
    };
    let known_by = lines.footer_checksum();
    let reader = Box::new(BufReader::with_capacity(BUFFER_LEN, lines));
    Ok(Input {
        name: source.name,
        reader: Replay::new(reader, BEGINNING_LEN),
        first_byte_offset: 0,
        ended: None,
        path_fields: source.path_fields,
        compression: Compression::None,
        parquet: Some(known_by),
    })
}

#[cfg(not(feature = "parquet"))]
fn parquet_input(source: Source, _: ParquetFile, _: &ReadSettings) -> Result<Input, BuildError> {
    Err(BuildError::invalid(format!(
        "`{}` is Parquet, which this build cannot read: build it with the feature `parquet`",
        source.name
    )))
}

/// What a store said, if that is why reading failed.
fn store_failure(error: io::Error) -> Result<BuildError, io::Error> {
    let is_of_store = |inner: &(dyn StdError + Send + Sync + 'static)| inner.is::<StoreFailure>();
    if !error.get_ref().is_some_and(is_of_store) {
        return Err(error);
    }
    let inner = error
        .into_inner()
        .map(<dyn StdError + Send + Sync>::downcast);
    match inner {
        Some(Ok(failure)) => Ok(StoreFailure::into_inner(*failure)),
        Some(Err(other)) => Err(io::Error::other(other)),
        None => Err(io::ErrorKind::Other.into()),
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

fn open_file(path: &Path) -> Result<File, BuildError> {
    let shown = path.display();
    if path.is_dir() {
        return Err(BuildError::invalid(format!(
            "`{shown}` is a folder: name the files in it, as in `{shown}/*.ndjson`"
        )));
    }
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BuildError::invalid(format!(
            "no input file `{shown}`: check its name, or give `-` for standard input"
        )),
        _ => BuildError::unavailable(format!("cannot open `{shown}`")).caused_by(error),
    })
}

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    fn of(first_bytes: &[u8]) -> Compression {
        let is_skippable = first_bytes.len() == 4
            && first_bytes[0] & 0xf0 == 0x50
            && first_bytes[1..] == ZSTD_SKIPPABLE_MAGIC;
        if first_bytes.starts_with(&GZIP_MAGIC) {
            Compression::Gzip
        } else if first_bytes == ZSTD_MAGIC || is_skippable {
            Compression::Zstd
        } else {
            Compression::None
        }
    }
}

/// An open source: uncompressed bytes, and how to word its failures.
pub(crate) struct Input {
    pub(super) name: String,
    pub(super) reader: Replay,
    /// Where the first record may begin: behind a byte order mark.
    pub(super) first_byte_offset: u64,
    /// When it was written to last, if that is known.
    pub(super) ended: Option<MonthDay>,
    /// What its path says of its documents.
    pub(super) path_fields: Vec<(String, String)>,
    compression: Compression,
    /// Of Parquet, which file it is.
    pub(super) parquet: Option<u64>,
}

impl Input {
    fn detect(
        name: String,
        mut raw: Box<dyn Read + Send>,
        ended: Option<MonthDay>,
    ) -> io::Result<Input> {
        let first_bytes = read_up_to(&mut raw, 4)?;
        let compression = Compression::of(&first_bytes);
        if first_bytes == PARQUET_MAGIC {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "it is Parquet, of which parts are read in no order: write it to a file and name that",
            ));
        }
        let whole = io::Cursor::new(first_bytes).chain(raw);
        let reader: Box<dyn BufRead + Send> = match compression {
            Compression::None => Box::new(BufReader::with_capacity(BUFFER_LEN, whole)),
            Compression::Gzip => {
                let compressed = BufReader::with_capacity(BUFFER_LEN, whole);
                let decoder = MultiGzDecoder::new(compressed);
                Box::new(BufReader::with_capacity(BUFFER_LEN, decoder))
            }
            Compression::Zstd => {
                let decoder = zstd::stream::read::Decoder::new(whole)?;
                Box::new(BufReader::with_capacity(BUFFER_LEN, decoder))
            }
        };
        let mut reader = Replay::new(reader, BEGINNING_LEN);
        let mut first_byte_offset = 0;
        if reader.beginning().0.starts_with(&UTF8_BOM) {
            reader.consume(UTF8_BOM.len());
            first_byte_offset = UTF8_BOM.len() as u64;
        }
        Ok(Input {
            name,
            reader,
            first_byte_offset,
            ended,
            path_fields: Vec::new(),
            compression,
            parquet: None,
        })
    }

    /// What to say when reading stopped with `error` after `num_lines` whole lines.
    pub(super) fn failure(&self, error: io::Error, num_lines: u64) -> BuildError {
        let name = &self.name;
        let error = match store_failure(error) {
            Ok(failure) => return failure,
            Err(error) => error,
        };
        if self.parquet.is_some() && error.raw_os_error().is_none() {
            return BuildError::data(format!(
                "`{name}` is no whole Parquet file: it broke off after row {num_lines} ({error}); what stands before is \
                 ingested. Get the file again"
            ));
        }
        let is_from_system = error.raw_os_error().is_some();
        let (format, tool) = match self.compression {
            Compression::Gzip if !is_from_system => ("gzip", "gzip -dc"),
            Compression::Zstd if !is_from_system => ("zstd", "zstd -dc"),
            _ => {
                return BuildError::unavailable(format!(
                    "cannot read `{name}` after line {num_lines}; nothing was published"
                ))
                .caused_by(error);
            }
        };
        BuildError::data(format!(
            "`{name}` is not a whole {format} file: it broke off after line {num_lines} ({error}; \
             `{tool} {name}` says the same); what stands before is ingested. Get the file again"
        ))
    }
}

/// The day of a time, in UTC.
fn day_of(time: SystemTime) -> Option<MonthDay> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    let mut days = since.as_secs() / 86_400;
    let is_leap = |year: u16| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970_u16;
    loop {
        let len = 365 + u64::from(is_leap(year));
        if days < len {
            break;
        }
        days -= len;
        year = year.checked_add(1)?;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (month, len) in (1..).zip(lengths) {
        if days < len {
            let day = u8::try_from(days + 1).ok()?;
            return Some(MonthDay { year, month, day });
        }
        days -= len;
    }
    None
}

fn read_up_to(reader: &mut dyn Read, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
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

//! Opening a source: its stored bytes, decompressed.

use super::source::{Origin, Source};
use crate::error::BuildError;
use crate::input::source::decoding::{Decoded, Decoding, Layer};
use crate::input::source::object::{ObjectPlace, ObjectReader, ReadAhead};
use crate::input::source::opened::{Input, PARQUET_MAGIC, day_of, store_failure};
use crate::input::source::settings::ReadSettings;
use canter_formats::MonthDay;
use canter_stores::unix_time;
use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

/// A program writes the rest of a line within this time.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);

impl Source {
    /// Opens the source; `num_stored_bytes` counts the bytes read before decompression.
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

    /// Opens the source with data that was read ahead, if it is an object.
    pub(crate) fn open_with(
        self,
        object: Option<ObjectReader>,
        num_stored_bytes: Arc<AtomicU64>,
        settings: &ReadSettings,
    ) -> Result<Input, BuildError> {
        if let Origin::Lines(lines) = self.origin {
            num_stored_bytes.fetch_add(lines.len() as u64, Ordering::Relaxed);
            return Ok(Input {
                path_fields: self.path_fields,
                left_out: self.left_out,
                ..Input::lines(self.name, lines)
            });
        }
        let file = self.path().and_then(|path| path.metadata().ok());
        let file = file.filter(Metadata::is_file);
        let may_grow = file.is_some();
        let is_quiet = file.is_some_and(|file| is_quiet(&file));
        let is_parquet = settings.may_be_parquet();
        let name = self.name.clone();
        let raw = match self.raw(object, num_stored_bytes, is_parquet)? {
            Raw::Parquet(source, file) => return parquet_input(*source, file, settings),
            Raw::Bytes(raw) => raw,
        };
        let decoded = decoded(&name, raw.reader, settings.decoding())?;
        if let Some(archive) = decoded.archive {
            let (archive, _) = archive.named();
            return Err(BuildError::invalid(format!(
                "`{name}` cannot be read: it is an archive of {archive}, {}",
                raw.no_archive
            )));
        }
        let mut layers = raw.layers;
        layers.extend_from_slice(&decoded.layers);
        let input =
            Input::of(name.clone(), decoded, raw.ended).map_err(|error| failed(&name, error))?;
        Ok(Input {
            path_fields: raw.path_fields,
            left_out: raw.left_out,
            layers,
            may_grow,
            is_quiet,
            ..input
        })
    }

    /// Opens it without settings, to find out whether it is an archive, and to read its members.
    pub(super) fn decoded(
        self,
        num_stored_bytes: Arc<AtomicU64>,
        decoding: Decoding,
    ) -> Result<Decoded, BuildError> {
        let object = match self.as_object() {
            Some(place) => ReadAhead::start(vec![place.clone()])?.next()?,
            None => None,
        };
        let name = self.name.clone();
        match self.raw(object, num_stored_bytes, false)? {
            Raw::Bytes(raw) => decoded(&name, raw.reader, decoding),
            Raw::Parquet(..) => Err(BuildError::internal("Parquet was not asked for")),
        }
    }

    /// Returns whether it is worth checking for an archive: objects by their names alone, since each check is a
    /// request.
    pub(super) fn may_be_archive(&self) -> bool {
        const ENDINGS: [&str; 10] = [
            ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.bz2", ".tbz2", ".tar.xz", ".txz",
            ".zip",
        ];
        match &self.origin {
            Origin::File(path) => path.is_file(),
            Origin::Object(_) => {
                let name = self.name.to_ascii_lowercase();
                ENDINGS.iter().any(|ending| name.ends_with(ending))
            }
            _ => false,
        }
    }

    /// Returns its stored bytes; Parquet, if possible, as a file with random access.
    fn raw(
        self,
        object: Option<ObjectReader>,
        num_stored_bytes: Arc<AtomicU64>,
        may_be_parquet: bool,
    ) -> Result<Raw, BuildError> {
        let (mut ended, mut layers) = (None, Vec::new());
        let mut no_archive = "which is read from files and objects, not from a stream: write it to a file and name that";
        let reader: Box<dyn Read + Send> = match self.origin {
            Origin::File(ref path) => {
                let mut file = open_file(path)?;
                if may_be_parquet && begins_as_parquet(&mut file) {
                    let len = file.metadata().map_or(0, |meta| meta.len());
                    num_stored_bytes.fetch_add(len, Ordering::Relaxed);
                    return Ok(Raw::Parquet(Box::new(self), ParquetFile::Local(file)));
                }
                // The last modification of a file is the time of a log's end.
                let changed = file.metadata().and_then(|meta| meta.modified());
                ended = changed.ok().and_then(day_of);
                Box::new(file)
            }
            Origin::Object(ref place) => {
                let place = place.clone();
                no_archive = "and its name does not say so: end it with .tar, .tar.gz or .zip";
                ended = day_of(place.modified());
                let mut reader = object.ok_or_else(|| {
                    BuildError::internal(format!("`{}` was not opened", self.name))
                })?;
                let begins = match may_be_parquet {
                    true => reader.begins_with(PARQUET_MAGIC),
                    false => Ok(false),
                };
                if begins.map_err(|error| failed(&self.name, error))? {
                    num_stored_bytes.fetch_add(place.len(), Ordering::Relaxed);
                    return Ok(Raw::Parquet(Box::new(self), ParquetFile::Object(place)));
                }
                Box::new(reader)
            }
            Origin::Member(ref member) => {
                no_archive = "in an archive: unpack that, and name this one";
                ended = member.modified().and_then(day_of);
                let (reader, stored) = member.open(Arc::clone(&num_stored_bytes))?;
                layers = stored;
                return Ok(Raw::Bytes(RawBytes {
                    // Its archive is counted where it is read.
                    reader: Box::new(reader),
                    ended,
                    layers,
                    no_archive,
                    path_fields: self.path_fields,
                    left_out: self.left_out,
                }));
            }
            Origin::Stdin => Box::new(io::stdin()),
            Origin::Reader(reader) => reader.into_inner().unwrap_or_else(PoisonError::into_inner),
            Origin::Lines(lines) => Box::new(io::Cursor::new(lines)),
        };
        Ok(Raw::Bytes(RawBytes {
            reader: Box::new(Counted {
                reader,
                num_bytes: num_stored_bytes,
            }),
            ended,
            layers,
            no_archive,
            path_fields: self.path_fields,
            left_out: self.left_out,
        }))
    }
}

/// The stored bytes of a source.
struct RawBytes {
    reader: Box<dyn Read + Send>,
    ended: Option<MonthDay>,
    /// Compression of the archive that contains them.
    layers: Vec<Layer>,
    /// Reason why an archive is not read here, with advice.
    no_archive: &'static str,
    path_fields: Vec<(String, String)>,
    left_out: Arc<BTreeSet<u64>>,
}

enum Raw {
    Bytes(RawBytes),
    Parquet(Box<Source>, ParquetFile),
}

fn decoded(
    name: &str,
    raw: Box<dyn Read + Send>,
    decoding: Decoding,
) -> Result<Decoded, BuildError> {
    Decoded::new(raw, decoding).map_err(|error| failed(name, error))
}

/// Returns the error of a source that cannot be opened.
fn failed(name: &str, error: io::Error) -> BuildError {
    match store_failure(error) {
        Ok(failure) => failure,
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            BuildError::invalid(format!("`{name}` cannot be read: {error}"))
        }
        Err(error) => BuildError::unavailable(format!("cannot read `{name}`")).caused_by(error),
    }
}

/// Returns whether a file with random access is Parquet. Leaves it at its beginning.
fn begins_as_parquet(file: &mut File) -> bool {
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
    let mut magic = [0; PARQUET_MAGIC.len()];
    let begins = is_file && file.read_exact(&mut magic).is_ok() && magic == *PARQUET_MAGIC;
    // Rewinds the file.
    is_file && file.rewind().is_ok() && begins
}

/// A file with random access.
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
    use crate::input::source::decoding::BUFFER_LEN;
    use crate::input::source::parquet::{ObjectRanges, ParquetLimits, ParquetLines};
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
    settings
        .fit
        .check_columns(&source.name, lines.column_names())?;
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

pub(super) fn open_file(path: &Path) -> Result<File, BuildError> {
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
pub(super) fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata()
        .is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
pub(super) fn is_pipe(_: &Path) -> bool {
    false
}

/// Returns the kind of a path's target if that is neither a file nor a stream, since a device may be endless. `None`
/// for a missing path.
#[cfg(unix)]
fn special(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = path.metadata().ok()?.file_type();
    // The shell's streams, which may be a terminal; and the device that ends at once.
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

/// Returns whether a file was not changed for so long that its last line is not half of one that is being written.
fn is_quiet(file: &Metadata) -> bool {
    let changed = file.modified().ok();
    let changed = changed.and_then(|changed| changed.duration_since(UNIX_EPOCH).ok());
    // A clock that is not set is before all changes.
    changed.is_some_and(|changed| unix_time().saturating_sub(changed) >= MAX_PAUSE)
}

//! An open source: its bytes without compression, and how to word what goes wrong with them.

use super::object::StoreFailure;
use super::replay::Replay;
use crate::error::BuildError;
use bytes::Bytes;
use canter_formats::{BEGINNING_LEN, MonthDay};
use flate2::bufread::MultiGzDecoder;
use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Read from a file this many bytes at a time.
pub(super) const BUFFER_LEN: usize = 128 * 1024;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// zstd's skippable frames, which may stand first, are `0x184D2A5?` in little endian.
const ZSTD_SKIPPABLE_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];
/// A Parquet file begins with this.
pub(super) const PARQUET_MAGIC: &[u8; 4] = b"PAR1";
const UTF8_BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

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
    /// Records that are rejected unseen, by their places from 1.
    pub(super) left_out: Arc<BTreeSet<u64>>,
    pub(super) compression: Compression,
    /// Of Parquet, which file it is.
    pub(super) parquet: Option<u64>,
    /// Whether each line is a JSON document, whatever anybody says of other sources.
    pub(super) has_document_lines: bool,
}

impl Input {
    /// Undoes the compression that the first bytes say, and leaves a byte order mark out.
    pub(super) fn detect(
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
        let whole = Cursor::new(first_bytes).chain(raw);
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
            left_out: Arc::default(),
            compression,
            parquet: None,
            has_document_lines: false,
        })
    }

    /// Bytes in which nothing is looked for: they are what their caller says.
    pub(super) fn as_it_is(name: String, reader: Box<dyn BufRead + Send>) -> Input {
        Input {
            name,
            reader: Replay::new(reader, BEGINNING_LEN),
            first_byte_offset: 0,
            ended: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            compression: Compression::None,
            parquet: None,
            has_document_lines: false,
        }
    }

    /// JSON documents, one a line.
    pub(super) fn lines(name: String, lines: Bytes) -> Input {
        Input {
            has_document_lines: true,
            ..Input::as_it_is(name, Box::new(Cursor::new(lines)))
        }
    }

    /// What to say when reading stopped with `error` after `num_lines` whole lines.
    pub(super) fn failure(&self, error: io::Error, num_lines: u64) -> BuildError {
        let name = &self.name;
        let error = match store_failure(error) {
            Ok(failure) => return failure,
            Err(error) => error,
        };
        if self.parquet.is_some() && error.kind() == io::ErrorKind::QuotaExceeded {
            return BuildError::data(format!(
                "`{name}` is read up to row {num_lines}: {error}; what stands before is ingested"
            ));
        }
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
pub(super) fn day_of(time: SystemTime) -> Option<MonthDay> {
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

/// What a store said, if that is why reading failed.
pub(super) fn store_failure(error: io::Error) -> Result<BuildError, io::Error> {
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

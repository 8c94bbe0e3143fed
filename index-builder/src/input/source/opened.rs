//! An open source: its decompressed bytes, and messages for its failures.

use super::decoding::{Decoded, Layer, WINDOW_ADVICE, is_over_window, pass_nuls};
use super::object::StoreFailure;
use super::replay::Replay;
use crate::error::BuildError;
use bytes::Bytes;
use canter_formats::{BEGINNING_LEN, MonthDay};
use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::io::{self, BufRead, Cursor};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Magic at the beginning of a Parquet file.
pub(super) const PARQUET_MAGIC: &[u8; 4] = b"PAR1";
const UTF8_BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

/// An open source: decompressed bytes, and messages for its failures.
pub(crate) struct Input {
    pub(super) name: String,
    pub(super) reader: Replay,
    /// First possible offset of a record: after a byte order mark, or NULs.
    pub(super) first_byte_offset: u64,
    /// Day of the last modification, if known.
    pub(super) ended: Option<MonthDay>,
    /// Fields in its path.
    pub(super) path_fields: Vec<(String, String)>,
    /// Records that are rejected unseen, by their places from 1.
    pub(super) left_out: Arc<BTreeSet<u64>>,
    /// Its compression, the outermost layer first.
    pub(super) layers: Vec<Layer>,
    /// The footer's checksum of a Parquet file.
    pub(super) parquet: Option<u64>,
    /// True if each line is a JSON document, whatever the settings for other sources.
    pub(super) has_document_lines: bool,
    /// True if it is a file, which may still be written to. The end of anything else is final.
    pub(super) may_grow: bool,
    /// True if it was not changed for so long that its last line is whole.
    pub(super) is_quiet: bool,
}

impl Input {
    /// Creates an input from decoded bytes, without a byte order mark and leading NULs.
    pub(super) fn of(name: String, decoded: Decoded, ended: Option<MonthDay>) -> io::Result<Input> {
        let Decoded {
            mut reader, layers, ..
        } = decoded;
        let mut first_byte_offset = 0;
        if reader.beginning().0.first() == Some(&0) {
            first_byte_offset = pass_nuls(&mut reader)?;
            reader = Replay::new(Box::new(reader), BEGINNING_LEN);
        }
        if reader.beginning().0.starts_with(&UTF8_BOM) {
            reader.consume(UTF8_BOM.len());
            first_byte_offset += UTF8_BOM.len() as u64;
        }
        Ok(Input {
            first_byte_offset,
            ended,
            layers,
            ..Input::of_replay(name, reader)
        })
    }

    /// Creates an input from bytes without any detection.
    pub(super) fn as_it_is(name: String, reader: Box<dyn BufRead + Send>) -> Input {
        Input::of_replay(name, Replay::new(reader, BEGINNING_LEN))
    }

    fn of_replay(name: String, reader: Replay) -> Input {
        Input {
            name,
            reader,
            first_byte_offset: 0,
            ended: None,
            path_fields: Vec::new(),
            left_out: Arc::default(),
            layers: Vec::new(),
            parquet: None,
            has_document_lines: false,
            may_grow: false,
            is_quiet: false,
        }
    }

    /// Creates an input of JSON documents, one per line.
    pub(super) fn lines(name: String, lines: Bytes) -> Input {
        Input {
            has_document_lines: true,
            ..Input::as_it_is(name, Box::new(Cursor::new(lines)))
        }
    }

    /// Returns whether the end of the last line may still be written.
    pub(super) fn may_be_unfinished(&self) -> bool {
        self.may_grow && !self.is_quiet
    }

    /// Returns whether reading stopped because the end of compressed data is missing, which may still be written.
    pub(super) fn is_cut_short(&self, error: &io::Error) -> bool {
        let is_missing = error.kind() == io::ErrorKind::UnexpectedEof
            // flate2's error in the middle of a stream.
            || error.to_string() == "incomplete deflate stream";
        !self.layers.is_empty() && error.raw_os_error().is_none() && is_missing
    }

    /// Returns the error of a read that stopped with `error` after `num_lines` whole lines.
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
        let Some(layer) = self
            .layers
            .first()
            .filter(|_| error.raw_os_error().is_none())
        else {
            return BuildError::unavailable(format!(
                "cannot read `{name}` after line {num_lines}; nothing was published"
            ))
            .caused_by(error);
        };
        if error.kind() == io::ErrorKind::QuotaExceeded {
            return BuildError::data(format!(
                "`{name}` is read up to line {num_lines}: {error}; what stands before is ingested"
            ));
        }
        if is_over_window(&error) {
            return BuildError::data(format!(
                "`{name}` is read up to line {num_lines}: behind it a part needs a window of more than 128 MiB of memory \
                 ({error}): {WINDOW_ADVICE}; what stands before is ingested"
            ));
        }
        let (format, tool) = layer.named();
        BuildError::data(format!(
            "`{name}` is not a whole {format} file: it broke off after line {num_lines} ({error}; \
             `{tool} {name}` says the same); what stands before is ingested. Get the file again"
        ))
    }
}

/// Returns the day of a time, in UTC.
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

/// Returns the error of a store, if it is the reason why reading failed.
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

//! What decoding a file may take of memory, decided before any page of it is inflated: headers say how much becomes of a page,
//! and 29 KB can be one text of 900 MB.
//!
//! ```text
//!   library ── header at 4,711? ──▶ read, its numbers added to the ledger ──▶ header, or an error that names the column
//!           ── page at 4,730? ────▶ read, measured if its codec does not stop by itself ──▶ page
//! ```
//!
//! The ledger knows for each column which dictionary and which page the library has, and for each batch of rows what came
//! meanwhile. Texts are read as views, which do not copy what a dictionary says once and 65,536 rows repeat.

use std::collections::HashMap;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::page_header::PageHeader;
use super::watched::Failure;

/// Rows that are decoded at once, if they are not long.
const BATCH_NUM_ROWS: usize = 1024;

/// The same where each value may repeat the one before it: what that comes to is only known when it is there.
const PREFIXES_NUM_ROWS: usize = 16;

/// Bytes of values of a fixed length that are decoded at once, of one column.
const FIXED_NUM_BYTES: usize = 4 << 20;

/// Values of a list that are decoded at once, if its rows are alike.
const LISTS_NUM_VALUES: u64 = 1 << 18;

/// What a value of a list takes with its levels and its place.
const LIST_VALUE_NUM_BYTES: u64 = 24;

/// A page may have this part of all that pages may have.
const PAGES_AT_LEAST: u64 = 4;

/// How much DEFLATE and LZ4 make of a byte at most.
const DEFLATE_RATIO: u64 = 1032;
const LZ4_RATIO: u64 = 255;
const LZ4_FRAME_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// What is known of the columns of a file, and what of them is in memory.
#[derive(Clone, Debug)]
pub(super) struct Ledger(Arc<Mutex<Entries>>);

#[derive(Debug)]
struct Entries {
    max_num_bytes: u64,
    batch_num_rows: u64,
    /// By where they begin.
    chunks: Vec<Chunk>,
    /// The dictionary and the page of each column.
    held: HashMap<usize, Held>,
    /// What the batch that is decoded has taken.
    batch_num_bytes: u64,
    /// Pages whose header was read, by where they begin.
    expected: HashMap<u64, (usize, PageHeader)>,
}

#[derive(Debug)]
struct Chunk {
    start: u64,
    end: u64,
    row_group: usize,
    column: usize,
    path: String,
    codec: Compression,
    is_repeated: bool,
    may_share_prefixes: bool,
    /// What a value of a dictionary takes there at least, in bytes.
    min_value_num_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    row_group: usize,
    dictionary: u64,
    page: u64,
}

impl Ledger {
    /// For a file with this footer, of whose pages `max_num_bytes` may be in memory.
    pub(super) fn new(metadata: &ParquetMetaData, max_num_bytes: u64) -> Self {
        let mut chunks = Vec::new();
        let mut batch_num_rows = BATCH_NUM_ROWS as u64;
        for (row_group, group) in metadata.row_groups().iter().enumerate() {
            for (column, chunk) in group.columns().iter().enumerate() {
                let (start, len) = chunk.byte_range();
                let described = chunk.column_descr();
                let is_repeated = described.max_rep_level() > 0;
                let may_share_prefixes = chunk
                    .encodings()
                    .any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY);
                let fixed_len = u64::try_from(described.type_length()).unwrap_or(0).max(1);
                let (min_value_num_bytes, fits) = match described.physical_type() {
                    Type::BOOLEAN => (0, BATCH_NUM_ROWS as u64),
                    Type::INT32 | Type::FLOAT => (4, BATCH_NUM_ROWS as u64),
                    Type::INT64 | Type::DOUBLE => (8, BATCH_NUM_ROWS as u64),
                    Type::INT96 => (12, BATCH_NUM_ROWS as u64),
                    Type::BYTE_ARRAY if may_share_prefixes => (4, PREFIXES_NUM_ROWS as u64),
                    Type::BYTE_ARRAY => (4, BATCH_NUM_ROWS as u64),
                    Type::FIXED_LEN_BYTE_ARRAY => (fixed_len, FIXED_NUM_BYTES as u64 / fixed_len),
                };
                batch_num_rows = batch_num_rows.min(fits);
                if is_repeated {
                    let num_values = u64::try_from(chunk.num_values()).unwrap_or(u64::MAX);
                    let num_rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
                    let each = num_values.div_ceil(num_rows).max(1);
                    batch_num_rows = batch_num_rows.min(LISTS_NUM_VALUES / each);
                }
                chunks.push(Chunk {
                    start,
                    end: start.saturating_add(len),
                    row_group,
                    column,
                    path: described.path().string(),
                    codec: chunk.compression(),
                    is_repeated,
                    may_share_prefixes,
                    min_value_num_bytes,
                });
            }
        }
        chunks.sort_by_key(|chunk| chunk.start);
        Self(Arc::new(Mutex::new(Entries {
            max_num_bytes,
            batch_num_rows: batch_num_rows.max(1),
            chunks,
            held: HashMap::new(),
            batch_num_bytes: 0,
            expected: HashMap::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of rows that are decoded at once.
    pub(super) fn batch_num_rows(&self) -> usize {
        usize::try_from(self.lock().batch_num_rows).unwrap_or(BATCH_NUM_ROWS)
    }

    /// The batch before is gone; what it has left of pages is not.
    pub(super) fn begin_batch(&self) {
        let mut entries = self.lock();
        let held = entries.held.values();
        entries.batch_num_bytes = held.map(|held| held.dictionary + held.page).sum();
    }
}

impl Entries {
    /// Takes a page into account that begins behind its header.
    ///
    /// # Errors
    /// If it would take too much.
    fn add(&mut self, header_start: u64, start: u64, header: PageHeader) -> Result<(), String> {
        let place = self
            .chunks
            .partition_point(|chunk| chunk.start <= header_start);
        let chunk = place
            .checked_sub(1)
            .and_then(|place| self.chunks.get(place));
        let chunk = chunk.filter(|chunk| header_start < chunk.end);
        let chunk = chunk.ok_or("a page lies in no column")?;
        let named = |problem: &str| {
            format!(
                "column `{}` of row group {}: {problem}",
                chunk.path, chunk.row_group
            )
        };
        let num_bytes = header.num_bytes.max(header.num_packed_bytes);
        let max_page = self.max_num_bytes / PAGES_AT_LEAST;
        if num_bytes > max_page {
            return Err(named(&format!(
                "a page has {num_bytes} bytes when it is inflated, more than {max_page}: raise --max-parquet-bytes, of which \
                 a page may have a quarter"
            )));
        }
        let mut cost = num_bytes;
        let held = self.held.entry(chunk.column).or_default();
        if held.row_group != chunk.row_group {
            *held = Held {
                row_group: chunk.row_group,
                ..Held::default()
            };
        }
        if header.is_dictionary {
            let least = header.num_values.saturating_mul(chunk.min_value_num_bytes);
            if least > num_bytes {
                return Err(named("its dictionary has more values than bytes for them"));
            }
            held.dictionary = num_bytes;
        } else {
            held.page = num_bytes;
            if header.has_shared_prefixes {
                if !chunk.may_share_prefixes {
                    return Err(named(
                        "a page has an encoding that the footer does not name",
                    ));
                }
                cost = cost.saturating_mul(self.batch_num_rows);
            }
            if chunk.is_repeated {
                let of_values = header.num_values.saturating_mul(LIST_VALUE_NUM_BYTES);
                cost = cost.saturating_add(of_values);
            }
        }
        self.batch_num_bytes = self.batch_num_bytes.saturating_add(cost);
        let (taken, max) = (self.batch_num_bytes, self.max_num_bytes);
        if taken > max {
            return Err(named(&format!(
                "with it, the pages of {} rows take {taken} bytes when they are inflated, more than {max}: raise \
                 --max-parquet-bytes",
                self.batch_num_rows
            )));
        }
        self.expected.insert(start, (place - 1, header));
        Ok(())
    }
}

/// A file whose pages are in a ledger.
pub(super) struct Bounded<R> {
    pub(super) inner: R,
    pub(super) ledger: Ledger,
    pub(super) failure: Failure,
}

impl<R> Bounded<R> {
    /// What is said of the file, and what the library is told.
    fn refuse(&self, message: String) -> ParquetError {
        // Not damage: another limit would let it through.
        let error = io::Error::new(io::ErrorKind::QuotaExceeded, message);
        self.failure.keep(error).into()
    }
}

impl<R: Length> Length for Bounded<R> {
    fn len(&self) -> u64 {
        self.inner.len()
    }
}

impl<R: ChunkReader> ChunkReader for Bounded<R> {
    type T = Cursor<Vec<u8>>;

    /// The header of a page: nothing else is read in this way once the footer is known.
    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        // Behind a header that it has looked at before, the library asks once more, and reads nothing.
        if self.ledger.lock().expected.contains_key(&start) {
            return Ok(Cursor::default());
        }
        let (header, bytes) = PageHeader::read(self.inner.get_read(start)?)?;
        let page_start = start.saturating_add(bytes.len() as u64);
        let added = self.ledger.lock().add(start, page_start, header);
        added.map_err(|message| self.refuse(message))?;
        Ok(Cursor::new(bytes))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.saturating_add(length as u64) > self.inner.len() {
            return Err(ParquetError::EOF(format!(
                "{length} bytes from byte {start} on are not there"
            )));
        }
        let bytes = self.inner.get_bytes(start, length)?;
        let mut entries = self.ledger.lock();
        let Some((place, header)) = entries.expected.remove(&start) else {
            return Ok(bytes);
        };
        let max_page = entries.max_num_bytes / PAGES_AT_LEAST;
        let chunk = entries.chunks.get(place);
        let codec = chunk.map_or(Compression::UNCOMPRESSED, |chunk| chunk.codec);
        if header.is_compressed && !keeps_to_its_header(codec, &bytes, &header, max_page) {
            let (path, group) =
                chunk.map_or(("", 0), |chunk| (chunk.path.as_str(), chunk.row_group));
            return Err(self.refuse(format!(
                "column `{path}` of row group {group}: a page has more bytes than its header says"
            )));
        }
        Ok(bytes)
    }
}

/// Whether a page, inflated, is as long as its header says, as far as its codec does not see to that by itself: those of gzip
/// and brotli go on to the end, and so does that of LZ4 if the page is one of its frames.
fn keeps_to_its_header(
    codec: Compression,
    page: &[u8],
    header: &PageHeader,
    max_page: u64,
) -> bool {
    let levels = usize::try_from(header.num_level_bytes).unwrap_or(usize::MAX);
    let packed = page.get(levels..).unwrap_or_default();
    let most = |ratio: u64| (packed.len() as u64).saturating_mul(ratio);
    match codec {
        Compression::GZIP(_) if most(DEFLATE_RATIO) > max_page => {
            inflates_to(MultiGzDecoder::new(packed), header.num_bytes)
        }
        Compression::BROTLI(_) => {
            inflates_to(brotli::Decompressor::new(packed, 1 << 14), header.num_bytes)
        }
        Compression::LZ4 if packed.starts_with(&LZ4_FRAME_MAGIC) => most(LZ4_RATIO) <= max_page,
        _ => true,
    }
}

/// Whether there is not more than `num_bytes`. What is damaged ends before, and is found by who reads it.
fn inflates_to(inflated: impl Read, num_bytes: u64) -> bool {
    let mut inflated = inflated.take(num_bytes.saturating_add(1));
    let mut part = vec![0; 1 << 14];
    let mut total = 0;
    while let Ok(len) = inflated.read(&mut part) {
        if len == 0 {
            break;
        }
        total += len as u64;
    }
    total <= num_bytes
}

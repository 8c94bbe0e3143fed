//! Memory limit of decoding a file, checked before any page of it is decompressed: headers contain the size of a page,
//! and 29 KB can be one text of 900 MB.
//!
//! ```text
//!   library ── header at 4,711? ──▶ read, its numbers added to the ledger ──▶ header, or an error that names the column
//!           ── page at 4,730? ────▶ read, measured if its codec does not stop by itself ──▶ page
//! ```
//!
//! The ledger knows the library's current dictionary and page of each column, and for each batch of rows what was added
//! meanwhile. Texts are read as views, which do not copy a dictionary's value that 65,536 rows repeat.

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

/// Number of rows that are decoded at once, if they are short.
const BATCH_NUM_ROWS: usize = 1024;

/// The same where each value may repeat the one before it, so that its size is unknown until it is decoded.
const PREFIXES_NUM_ROWS: usize = 16;

/// Number of bytes of fixed-length values that are decoded at once, per column.
const FIXED_NUM_BYTES: usize = 4 << 20;

/// Number of list values that are decoded at once, if the rows are alike.
const LISTS_NUM_VALUES: u64 = 1 << 18;

/// Memory of a list value with its levels and its offset.
const LIST_VALUE_NUM_BYTES: u64 = 24;

/// Fraction of the memory of all pages that one page may take.
const PAGES_AT_LEAST: u64 = 4;

/// Maximum expansion of DEFLATE and LZ4.
const DEFLATE_RATIO: u64 = 1032;
const LZ4_RATIO: u64 = 255;
const LZ4_FRAME_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// The columns of a file, and their pages in memory.
#[derive(Clone, Debug)]
pub(super) struct Ledger(Arc<Mutex<Entries>>);

#[derive(Debug)]
struct Entries {
    max_num_bytes: u64,
    batch_num_rows: u64,
    /// Ordered by their offsets.
    chunks: Vec<Chunk>,
    /// The dictionary and the page of each column.
    held: HashMap<usize, Held>,
    /// Memory of the current batch.
    batch_num_bytes: u64,
    /// Pages whose header was read, by their offsets.
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
    /// Minimum size of a value in a dictionary, in bytes.
    min_value_num_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    row_group: usize,
    dictionary: u64,
    page: u64,
}

impl Ledger {
    /// Creates the ledger of a file with this footer, of whose pages `max_num_bytes` may be in memory.
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

    /// Returns the number of rows that are decoded at once.
    pub(super) fn batch_num_rows(&self) -> usize {
        usize::try_from(self.lock().batch_num_rows).unwrap_or(BATCH_NUM_ROWS)
    }

    /// Begins a batch: the previous one is gone, but its pages are not.
    pub(super) fn begin_batch(&self) {
        let mut entries = self.lock();
        let held = entries.held.values();
        entries.batch_num_bytes = held.map(|held| held.dictionary + held.page).sum();
    }
}

impl Entries {
    /// Counts a page that begins after its header.
    ///
    /// # Errors
    /// If it would take too much memory.
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
    /// Records the error for the file, and returns one for the library.
    fn refuse(&self, message: String) -> ParquetError {
        // Not damage: a higher limit would permit it.
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

    /// Reads the header of a page: nothing else is read in this way once the footer is known.
    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        // After a header that it has already read, the library asks once more, and reads nothing.
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

/// Returns whether a page, decompressed, is as long as its header says, as far as its codec does not ensure that: those
/// of gzip and brotli continue to the end, and so does that of LZ4 if the page is one of its frames.
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

/// Returns whether there are at most `num_bytes`. Damaged data ends earlier, and its reader reports it.
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

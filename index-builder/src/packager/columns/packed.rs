//! Columns that a split has in fewer bytes than tantivy writes: floating-point numbers with few decimal digits, the blocks that
//! say which documents have a value, and the dictionaries of texts. Searches see the bytes that tantivy wrote.
//!
//! ```text
//!   a column      (dictionary of texts) │ index │ values │ u32 length of index │ (u32 length of dictionary)
//!   index         0: all documents have one value; 1 │ varint rows │ blocks │ { u16 block · u16 values - 1 } │ u16 blocks
//!   values        0 │ varint least · varint divisor · varint widest word · varint values │ words
//! ```

use std::io;
use std::ops::Range;

use canter_split_format::{BodyFile, Packable, Words, pack};
use tantivy::columnar::{ColumnType, ColumnarReader};
use tantivy::directory::OwnedBytes;

use super::super::recording_directory::Recorder;

/// tantivy's name of the file of columns.
const COLUMNS: &str = "fast";
/// Maximum number of packed pieces: each takes a few bytes of the head.
const MAX_PIECES: usize = 1_000;
/// Minimum number of words in a piece. It is a multiple of 8, so that a piece ends with a byte.
const WORDS_PER_PIECE: u64 = 8 * 1_024;
/// Maximum number of pieces of one column.
const PIECES_PER_COLUMN: u64 = 64;
/// Length of a block for which it says document by document which have a value.
const DENSE_BLOCK_LEN: usize = 10_240;
/// A block of fewer values is a list of them.
const DENSE_FROM: usize = 5_120;

/// Lengths of dictionaries that are compressed: a search that reads a column decompresses them whole.
const COMPRESSED_LENS: Range<usize> = 512..(1 << 20) + 1;
/// Level of their compression.
const COMPRESSION_LEVEL: i32 = 12;

/// Ranges of the file of columns that may be packed.
pub(crate) type PackableRanges = Vec<(Range<usize>, Packable)>;

/// Finds what may be packed, in order.
pub(crate) fn packable_of(
    columnar: &ColumnarReader,
    directory: &Recorder,
) -> io::Result<PackableRanges> {
    let (listed, _) = directory.observe(|| columnar.list_columns());
    let mut found = PackableRanges::new();
    for (_, column) in listed? {
        let (bytes, reads) = directory.observe(|| column.file_slice().read_bytes());
        let bytes = bytes?;
        let [(_, range)] = reads.as_slice() else {
            continue;
        };
        let kind = column.column_type();
        // What is no column as this file knows them stays as it is.
        found.extend(of_column(&bytes, range.start, kind).unwrap_or_default());
    }
    found.sort_by_key(|(range, _)| range.start);
    found.truncate(MAX_PIECES);
    Ok(found)
}

/// Returns the files for a body, the columns packed.
pub(crate) fn packed<'a>(
    files: Vec<(&'a str, OwnedBytes)>,
    packable: &[(Range<usize>, Packable)],
) -> Vec<BodyFile<'a, OwnedBytes>> {
    let with_pieces = |(name, bytes): (&'a str, OwnedBytes)| {
        let packed = (name == COLUMNS).then(|| pack(&bytes, packable)).flatten();
        match packed {
            Some(packed) => BodyFile {
                name,
                bytes: OwnedBytes::new(packed.bytes),
                pieces: packed.pieces,
            },
            None => BodyFile::from((name, bytes)),
        }
    };
    files.into_iter().map(with_pieces).collect()
}

/// Finds what may be packed in a column that begins at `start`; nothing if the column is not as above.
fn of_column(bytes: &[u8], start: usize, kind: ColumnType) -> Option<PackableRanges> {
    let mut found = PackableRanges::new();
    let (numbers, start) = match kind {
        ColumnType::Str | ColumnType::Bytes => {
            let (dictionary, numbers) = split_by_trailer(bytes)?;
            let end = start + dictionary.len();
            found.extend(compressed(dictionary).map(|frame| (start..end, frame)));
            (numbers, end)
        }
        _ => (bytes, start),
    };
    let (index, values) = split_by_trailer(numbers)?;
    if *index.first()? == 1 {
        found.extend(dense_blocks(index, start)?);
    }
    if kind == ColumnType::F64 {
        found.extend(words_of(values, start + index.len()).unwrap_or_default());
    }
    Some(found)
}

fn compressed(dictionary: &[u8]) -> Option<Packable> {
    let is_fit = COMPRESSED_LENS.contains(&dictionary.len());
    let frame = is_fit.then(|| zstd::bulk::compress(dictionary, COMPRESSION_LEVEL));
    Some(Packable::Compressed(frame?.ok()?))
}

/// Splits bytes at the length in their last four.
fn split_by_trailer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (body, len) = bytes.split_last_chunk()?;
    body.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)
}

/// Reads a varint of tantivy's, whose last byte has the highest bit set, and advances `at`.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 != 0 {
            return Some(number);
        }
    }
    None
}

fn dense_blocks(index: &[u8], start: usize) -> Option<PackableRanges> {
    let mut at = 1;
    varint(index, &mut at)?;
    let (rest, num_blocks) = index.split_last_chunk::<2>()?;
    let metas_len = usize::from(u16::from_le_bytes(*num_blocks)) * 4;
    let metas = rest.get(rest.len().checked_sub(metas_len)?..)?;
    let mut found = PackableRanges::new();
    for meta in metas.chunks_exact(4) {
        let num_values = meta.last_chunk().copied().map(u16::from_le_bytes)?;
        let num_values = usize::from(num_values) + 1;
        if num_values < DENSE_FROM {
            at += num_values * 2;
            continue;
        }
        let range = start + at..start + at + DENSE_BLOCK_LEN;
        found.push((range, Packable::Presence));
        at += DENSE_BLOCK_LEN;
    }
    (at + metas_len <= rest.len()).then_some(found)
}

fn words_of(values: &[u8], start: usize) -> Option<PackableRanges> {
    // Another codec packs numbers that lie near a line.
    (*values.first()? == 0).then_some(())?;
    let mut at = 1;
    let base = varint(values, &mut at)?;
    let gcd = varint(values, &mut at)?;
    let most = varint(values, &mut at)?;
    let num = varint(values, &mut at)?;
    let width = match u64::BITS - most.leading_zeros() {
        0 => return None,
        width @ 1..=56 => width,
        _ => u64::BITS,
    };
    let words = Words { base, gcd, width };
    let per_piece = num.div_ceil(PIECES_PER_COLUMN).next_multiple_of(8);
    let per_piece = per_piece.max(WORDS_PER_PIECE);
    let mut found = PackableRanges::new();
    let mut left = num;
    while left > 0 {
        let num_words = left.min(per_piece);
        let len = usize::try_from((num_words * u64::from(width)).div_ceil(8)).ok()?;
        values.get(at..at + len)?;
        let range = start + at..start + at + len;
        found.push((range, Packable::Decimals(words, num_words)));
        (at, left) = (at + len, left - num_words);
    }
    Some(found)
}

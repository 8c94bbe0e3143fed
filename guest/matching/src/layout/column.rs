//! Layout of a column.
//!
//! ```text
//!   numbers     index │ values │ u32 length of the index
//!   texts       dictionary │ numbers │ u32 length of the dictionary
//!
//!   index       u8 0 │ 1, rows with a value │ 2, these, start of each row's values, u32 length of the former
//!   rows        varint rows │ blocks │ { u16 block · u16 rows - 1 } │ u16 number of blocks
//!   values      u8 form │ varints: minimum, divisor, maximum, rows │ … packed
//! ```

use std::io;

use super::{check_dictionary, damaged, u32_at, varint};

/// Number of rows in a block of an index.
const ROWS_PER_BLOCK: u32 = 1 << 16;
/// Number of rows with a value from which a block is a bitmap with ranks rather than a list.
const DENSE_FROM: u32 = 5_120;
const DENSE_NUM_BYTES: usize = 10_240;
/// Number of rows in a block of values with its own line.
const ROWS_PER_LINE: u64 = 512;

/// Contents of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// 64-bit numbers, and types stored as such.
    Numbers,
    /// Texts or bytes, as numbers of dictionary terms.
    Terms,
    /// 128-bit numbers, of which only the index is checked.
    Addresses,
}

/// Checks that the parts of a column of `num_docs` documents lie within it. Values are not
/// unpacked.
///
/// # Errors
/// A part lies outside.
pub fn check_column(bytes: &[u8], kind: ColumnKind, num_docs: u32) -> io::Result<()> {
    match kind {
        ColumnKind::Numbers => check_numbers(bytes, num_docs, true),
        ColumnKind::Addresses => check_numbers(bytes, num_docs, false),
        ColumnKind::Terms => {
            let (dictionary, numbers) = split_by_trailer(bytes)?;
            check_dictionary(dictionary.len(), dictionary)?;
            check_numbers(numbers, num_docs, true)
        }
    }
}

/// Splits bytes at the length in their last four.
fn split_by_trailer(bytes: &[u8]) -> io::Result<(&[u8], &[u8])> {
    let (body, len) = bytes.split_last_chunk().ok_or_else(damaged)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| damaged())?;
    body.split_at_checked(len).ok_or_else(damaged)
}

fn check_numbers(bytes: &[u8], num_docs: u32, has_values: bool) -> io::Result<()> {
    let (index, values) = split_by_trailer(bytes)?;
    let (code, index) = index.split_first().ok_or_else(damaged)?;
    let num_values = match code {
        0 => num_docs.into(),
        1 => check_rows(index, num_docs)?,
        2 => {
            let (rows, starts) = split_by_trailer(index)?;
            let num_rows = check_rows(rows, num_docs)?;
            check_values(starts, num_rows.saturating_add(1))?;
            // The last start is the number of values, but it is not unpacked here.
            num_rows
        }
        _ => return Err(damaged()),
    };
    match has_values {
        true => check_values(values, num_values),
        false => Ok(()),
    }
}

/// Returns the number of rows with a value.
fn check_rows(bytes: &[u8], num_docs: u32) -> io::Result<u64> {
    let (mut rest, num_blocks) = bytes.split_last_chunk::<2>().ok_or_else(damaged)?;
    if varint(&mut rest)? != u64::from(num_docs) {
        return Err(damaged());
    }
    let metas_len = usize::from(u16::from_le_bytes(*num_blocks)) * 4;
    let blocks_len = rest.len().checked_sub(metas_len).ok_or_else(damaged)?;
    let (blocks, metas) = rest.split_at_checked(blocks_len).ok_or_else(damaged)?;
    let (mut last, mut num_bytes, mut num_rows) = (None, 0, 0);
    for meta in metas.chunks_exact(4) {
        let both = u32_at(meta, 0)?;
        let (block, in_block) = (both & 0xffff, (both >> 16) + 1);
        let is_behind = last.is_none_or(|last| last < block);
        if !is_behind || block >= num_docs.div_ceil(ROWS_PER_BLOCK) {
            return Err(damaged());
        }
        last = Some(block);
        num_bytes += match in_block < DENSE_FROM {
            true => in_block as usize * 2,
            false => DENSE_NUM_BYTES,
        };
        num_rows += u64::from(in_block);
    }
    match num_bytes <= blocks.len() {
        true => Ok(num_rows),
        false => Err(damaged()),
    }
}

fn check_values(bytes: &[u8], num_values: u64) -> io::Result<()> {
    let (form, mut rest) = bytes.split_first().ok_or_else(damaged)?;
    let least = varint(&mut rest)?;
    let divisor = varint(&mut rest)?;
    let most = varint(&mut rest)?;
    let num_rows = varint(&mut rest)?;
    let most_above = most.checked_mul(divisor).ok_or_else(damaged)?;
    least.checked_add(most_above).ok_or_else(damaged)?;
    if divisor == 0 || num_rows < num_values || num_rows > u64::from(u32::MAX) {
        return Err(damaged());
    }
    let num_bytes = match form {
        0 => packed_len(num_rows, width_of(most))?,
        1 => packed_len(num_rows, line_width(&mut rest)?)?,
        2 => {
            let (mut lines, blocks_len) = lines_of(rest)?;
            rest = rest.get(..blocks_len).ok_or_else(damaged)?;
            let mut num_bytes = 0_u64;
            let mut left = num_rows;
            while left > 0 {
                let rows = left.min(ROWS_PER_LINE);
                num_bytes += packed_len(rows, line_width(&mut lines)?)?;
                left -= rows;
            }
            num_bytes
        }
        _ => return Err(damaged()),
    };
    match num_bytes <= rest.len() as u64 {
        true => Ok(()),
        false => Err(damaged()),
    }
}

/// Returns the lines after the blocks of values, and their offset.
fn lines_of(bytes: &[u8]) -> io::Result<(&[u8], usize)> {
    let (body, len) = bytes.split_last_chunk().ok_or_else(damaged)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| damaged())?;
    let start = body.len().checked_sub(len).ok_or_else(damaged)?;
    Ok((body.get(start..).unwrap_or_default(), start))
}

/// Returns the number of bits of each value above a line.
fn line_width(rest: &mut &[u8]) -> io::Result<u32> {
    varint(rest)?;
    varint(rest)?;
    let (width, behind) = rest.split_first().ok_or_else(damaged)?;
    *rest = behind;
    match width {
        0..=56 | 64 => Ok(u32::from(*width)),
        _ => Err(damaged()),
    }
}

fn width_of(most: u64) -> u32 {
    match u64::BITS - most.leading_zeros() {
        width if width <= 56 => width,
        _ => 64,
    }
}

fn packed_len(num_values: u64, width: u32) -> io::Result<u64> {
    let num_bits = num_values.checked_mul(width.into()).ok_or_else(damaged)?;
    Ok(num_bits.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::columnar::{ColumnType, ColumnarReader, ColumnarWriter};
    use tantivy_common::file_slice::FileSlice;

    use super::*;

    const NUM_DOCS: u32 = 2_000;

    /// Builds columns of every kind, index and form.
    fn columns() -> Vec<(String, ColumnKind, Vec<u8>)> {
        let mut writer = ColumnarWriter::default();
        for doc in 0..NUM_DOCS {
            let mixed = doc.wrapping_mul(0x9e37_79b9) >> 9;
            writer.record_numerical(doc, "full", u64::from(mixed));
            writer.record_numerical(doc, "line", u64::from(doc * 7 + mixed % 3));
            writer.record_numerical(
                doc,
                "lines",
                u64::from(doc / 512 * 100_000 + doc * (doc / 512 + 1)),
            );
            writer.record_bool(doc, "bool", doc % 3 == 0);
            writer.record_str(doc, "text", ["x", "yy", ""][doc as usize % 3]);
            writer.record_ip_addr(doc, "ip", std::net::Ipv6Addr::from(u128::from(mixed)));
            if mixed % 3 == 0 {
                writer.record_numerical(doc, "some", f64::from(mixed));
                writer.record_bytes(doc, "bytes", &mixed.to_le_bytes());
            }
            for n in 0..mixed % 4 {
                writer.record_numerical(doc, "many", i64::from(n));
                writer.record_str(doc, "texts", "z");
            }
        }
        let mut bytes = Vec::new();
        writer.serialize(NUM_DOCS, None, &mut bytes).unwrap();
        let file = FileSlice::from(bytes);
        super::super::check_columns(&file, NUM_DOCS).unwrap();
        let reader = ColumnarReader::open(file).unwrap();
        let columns = reader.list_columns().unwrap().into_iter();
        let columns = columns.map(|(name, handle)| {
            let kind = match handle.column_type() {
                ColumnType::Str | ColumnType::Bytes => ColumnKind::Terms,
                ColumnType::IpAddr => ColumnKind::Addresses,
                _ => ColumnKind::Numbers,
            };
            let bytes = handle.file_slice().read_bytes().unwrap();
            (name, kind, bytes.to_vec())
        });
        columns.collect()
    }

    #[test]
    fn columns_that_tantivy_writes_are_sound() {
        let columns = columns();
        assert_eq!(columns.len(), 10);
        for (name, kind, bytes) in columns {
            check_column(&bytes, kind, NUM_DOCS).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(
                check_column(&bytes, kind, NUM_DOCS + 1).is_err() || kind == ColumnKind::Addresses,
                "{name}"
            );
            for len in 0..bytes.len() {
                let is_sound = check_column(&bytes[..len], kind, NUM_DOCS).is_ok();
                assert!(
                    !is_sound || kind == ColumnKind::Addresses,
                    "{name} cut to {len}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_column_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..100), num_docs in 0_u32..200_000,
        ) {
            for kind in [ColumnKind::Numbers, ColumnKind::Terms, ColumnKind::Addresses] {
                let _ = check_column(&bytes, kind, num_docs);
            }
        }
    }
}

//! Index of a column: validates its lengths before tantivy opens it.
//!
//! ```text
//! index:        u8 cardinality │ nothing, one set, or one set and first rows
//! set:          vint documents │ blocks │ (u16 block, u16 members - 1) for each block │ u16 blocks
//! multivalued:  set of the documents with values │ values: their first rows, and the end │ u32 length of set
//! ```
//!
//! The contents of blocks are not validated, since that would take as long as reading the column. A
//! set with wrong members yields wrong rows, and reading rows that do not exist is an error.

use std::io;

use tantivy::columnar::column_index::open_column_index;
use tantivy::columnar::{ColumnIndex, Version};
use tantivy::directory::OwnedBytes;

use super::{Codec, Cursor, Stats, check_linear, damaged, packed_len_bytes};

/// Number of documents in a block of a set.
const BLOCK_DOCS: u32 = 1 << 16;

/// Number of members from which a block is a bitmap, with a count for every 64 documents.
const DENSE_FROM: u32 = 5120;

/// Length of a bitmap block in bytes.
const DENSE_LEN_BYTES: usize = 1024 * 10;

/// Opens the index of a column with `num_rows` values.
pub(crate) fn open_index(bytes: OwnedBytes, num_rows: u32) -> io::Result<ColumnIndex> {
    let mut cursor = Cursor::new(&bytes);
    let rows_of_index = match cursor.u8()? {
        0 => num_rows,
        1 => check_set(cursor)?,
        2 => check_multivalued(cursor)?,
        _ => return Err(damaged("its cardinality is unknown")),
    };
    if rows_of_index != num_rows {
        return Err(damaged("its index has other rows than its values"));
    }
    let index = open_column_index(bytes, Version::V2)?;
    if let ColumnIndex::Multivalued(multivalued) = &index {
        let first_rows = multivalued.get_start_index_column();
        let last = first_rows
            .num_vals()
            .checked_sub(1)
            .map(|last| first_rows.get_val(last));
        if last != Some(num_rows) {
            return Err(damaged("its index has other rows than its values"));
        }
    }
    Ok(index)
}

/// Validates a set, and returns the number of its documents.
fn check_set(mut cursor: Cursor<'_>) -> io::Result<u32> {
    let num_blocks = usize::from(cursor.u16_from_end()?);
    let num_docs = cursor.vint_u32()?;
    let metas = cursor.bytes_from_end(num_blocks.saturating_mul(4))?;
    let (mut members, mut len_bytes, mut next_block) = (0u32, 0usize, 0u32);
    for [block_low, block_high, less_one_low, less_one_high] in metas.as_chunks::<4>().0 {
        let block = u32::from(u16::from_le_bytes([*block_low, *block_high]));
        let in_block =
            u32::from(u16::from_le_bytes([*less_one_low, *less_one_high])).saturating_add(1);
        if block < next_block || block >= num_docs.div_ceil(BLOCK_DOCS) {
            return Err(damaged("the blocks of its index are out of order"));
        }
        next_block = block.saturating_add(1);
        members = members.saturating_add(in_block);
        len_bytes = len_bytes.saturating_add(block_len_bytes(in_block));
    }
    if len_bytes != cursor.len() || members > num_docs {
        return Err(damaged(
            "the blocks of its index have other lengths than they take",
        ));
    }
    Ok(members)
}

fn block_len_bytes(members: u32) -> usize {
    if members < DENSE_FROM {
        usize::try_from(members).map_or(usize::MAX, |members| members.saturating_mul(2))
    } else {
        DENSE_LEN_BYTES
    }
}

/// Validates the lists of first rows: one for each document and one more. The number of rows, which
/// ends the list, is compared once it can be read.
fn check_multivalued(mut cursor: Cursor<'_>) -> io::Result<u32> {
    let set_len = cursor.len_from_end()?;
    let members = check_set(Cursor::new(cursor.bytes(set_len)?))?;
    let codec = Codec::read(&mut cursor)?;
    let stats = Stats::read(&mut cursor)?;
    match codec {
        Codec::Packed => {
            let len = packed_len_bytes(stats.num_rows, stats.width());
            if len.is_none_or(|len| len > cursor.len()) {
                return Err(damaged("its index has fewer first rows than documents"));
            }
        }
        Codec::Linear => check_linear(cursor, stats.num_rows)?,
        Codec::BlockwiseLinear => return Err(damaged("the codec of its index is never written")),
    }
    if members.checked_add(1) != Some(stats.num_rows) {
        return Err(damaged("its index has other first rows than documents"));
    }
    u32::try_from(stats.max).map_err(|_| damaged("the rows of its index are out of range"))
}

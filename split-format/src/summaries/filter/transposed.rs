//! Transposed filters of a page's splits: an object beside the page, of which a search reads single
//! blocks.
//!
//! ```text
//!   u8[8] magic │ u32 version │ group 0: block 0 · block 1 · … │ group 1: …
//!
//!   block:  row 0 · row 1 · … · row 1,023 · u64 checksum        row: a bit for each split of the group, up to a byte
//! ```
//!
//! A group contains the splits of a page whose filters have the same number of blocks, in the order
//! of the page. The checksum of a block also covers its location and the splits, so that another
//! valid block is not mistaken for it.

use std::ops::Range;
use std::sync::Arc;

use super::{BLOCK_NUM_BITS, FilterScope, MAX_LOG2_NUM_BLOCKS, Needle, read_log2_num_blocks};
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{checksum64, filters_object, id_bytes, id_of_bytes};

/// Length of magic number and version.
const PREFIX_LEN: u64 = 12;
/// Length of a block's checksum in bytes.
const CHECKSUM_LEN: u64 = 8;
/// Maximum number of groups: one for each number of blocks.
pub(crate) const MAX_GROUPS: usize = MAX_LOG2_NUM_BLOCKS as usize + 1;
/// Maximum number of splits in a group: no page has more.
const MAX_SPLITS_OF_GROUP: u64 = 1 << 16;

/// Group of a page's splits whose filters have the same number of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterGroup {
    /// Base-2 logarithm of the number of blocks.
    pub log2_num_blocks: u32,
    /// Number of splits in the group.
    pub num_splits: u64,
    /// One bit, by the hash of the name, for each field that any of its filters covers.
    pub(super) field_bits: u64,
}

/// Reference from a manifest to the filters of a page's splits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiltersRef {
    /// First 128 bits of the BLAKE3 hash of the object's bytes, in hexadecimal.
    pub id: String,
    /// Groups, by number of blocks.
    pub groups: Vec<FilterGroup>,
}

/// Location of the filter of a split in a page.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterPlace {
    /// Index of the group in the page.
    pub group_ord: u32,
    /// Index of the split in the group.
    pub column: u64,
    /// Scope of its filter.
    pub scope: Arc<FilterScope>,
}

/// Location of a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockPlace {
    pub(crate) group_ord: u32,
    pub(crate) block_ord: u64,
    /// First byte, from the start of the object.
    pub start: u64,
    /// Number of bytes.
    pub len: u64,
}

/// Verified block.
#[derive(Clone, Debug)]
pub struct FilterBlock {
    pub(crate) rows: Vec<u8>,
    pub(crate) row_len: u64,
}

pub(super) fn field_bit(field: &str) -> u64 {
    1 << (checksum64(field.as_bytes()) % 64)
}

impl FilterGroup {
    pub(crate) fn num_blocks(&self) -> u64 {
        1 << self.log2_num_blocks.min(MAX_LOG2_NUM_BLOCKS)
    }

    pub(crate) fn row_len(&self) -> u64 {
        self.num_splits.div_ceil(8)
    }

    fn rows_len(&self) -> u64 {
        BLOCK_NUM_BITS.saturating_mul(self.row_len())
    }

    pub(crate) fn block_len(&self) -> u64 {
        self.rows_len().saturating_add(CHECKSUM_LEN)
    }

    fn len(&self) -> u64 {
        self.num_blocks().saturating_mul(self.block_len())
    }

    /// Returns whether one of its filters may cover the field.
    pub fn may_cover(&self, field: &str) -> bool {
        self.field_bits & field_bit(field) != 0
    }
}

impl FiltersRef {
    /// Returns the name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        filters_object(&self.id)
    }

    /// Returns the length of the object in bytes.
    pub fn object_len(&self) -> u64 {
        self.start_of(self.groups.len())
    }

    pub(crate) fn start_of(&self, group_ord: usize) -> u64 {
        let groups = self.groups.iter().take(group_ord);
        groups.fold(PREFIX_LEN, |start, group| start.saturating_add(group.len()))
    }

    /// Returns the block of a group to read for a value; `None` if the group does not exist.
    pub fn block_of(&self, group_ord: u32, needle: Needle) -> Option<BlockPlace> {
        let ord = usize::try_from(group_ord).ok()?;
        let group = self.groups.get(ord)?;
        let block_ord = needle.block(group.log2_num_blocks);
        Some(BlockPlace {
            group_ord,
            block_ord,
            start: self
                .start_of(ord)
                .saturating_add(block_ord.saturating_mul(group.block_len())),
            len: group.block_len(),
        })
    }

    /// Writes the filters after a page's reference; `None` is written as 0.
    pub(crate) fn write(filters: Option<&Self>, out: &mut Writer) -> Result<(), FormatError> {
        let Some(filters) = filters else {
            out.varint(0);
            return Ok(());
        };
        out.varint(filters.groups.len() as u64);
        out.raw(&id_bytes(&filters.id)?);
        for group in &filters.groups {
            out.varint(u64::from(group.log2_num_blocks));
            out.varint(group.num_splits);
            out.u64(group.field_bits);
        }
        Ok(())
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, FormatError> {
        let num_groups = reader.count(10)?;
        if num_groups == 0 {
            return Ok(None);
        }
        let id = id_of_bytes(reader.array()?);
        let mut groups: Vec<FilterGroup> = Vec::new();
        for _ in 0..num_groups {
            let group = FilterGroup {
                log2_num_blocks: read_log2_num_blocks(reader)?,
                num_splits: reader.varint()?,
                field_bits: reader.u64()?,
            };
            let is_next = groups
                .last()
                .is_none_or(|last| last.log2_num_blocks < group.log2_num_blocks);
            if !is_next || !(1..=MAX_SPLITS_OF_GROUP).contains(&group.num_splits) {
                return Err(reader.error("the filters of a page are not in groups that can be"));
            }
            groups.push(group);
        }
        Ok(Some(Self { id, groups }))
    }
}

/// Returns the checksum of a block's rows and its context.
pub(crate) fn block_checksum(splits_hash: u64, group_ord: u32, block_ord: u64, rows: &[u8]) -> u64 {
    let mut out = Writer::default();
    out.u64(splits_hash);
    out.u32(group_ord);
    out.u64(block_ord);
    out.u64(checksum64(rows));
    checksum64(&out.into_bytes())
}

/// Returns a hash of a page's splits with their groups.
pub(crate) fn splits_hash(
    splits: &mut dyn Iterator<Item = (&str, Option<u32>)>,
) -> Result<u64, FormatError> {
    let mut out = Writer::default();
    for (id, group_ord) in splits {
        out.raw(&id_bytes(id)?);
        out.varint(group_ord.map_or(0, |ord| u64::from(ord) + 1));
    }
    Ok(checksum64(&out.into_bytes()))
}

impl BlockPlace {
    pub(crate) fn range(&self) -> Option<Range<usize>> {
        let start = usize::try_from(self.start).ok()?;
        let end = usize::try_from(self.start.checked_add(self.len)?).ok()?;
        Some(start..end)
    }
}

impl FilterBlock {
    /// Returns whether the split in this column may contain the value. The block must be that of
    /// the value.
    pub fn may_hold(&self, column: u64, needle: Needle) -> bool {
        needle.rows().all(|row| self.has(row, column))
    }

    /// Returns a bit; a missing one counts as set.
    pub(crate) fn has(&self, row: u64, column: u64) -> bool {
        let byte = row.saturating_mul(self.row_len).saturating_add(column / 8);
        let byte = usize::try_from(byte).ok().and_then(|at| self.rows.get(at));
        byte.is_none_or(|byte| byte & (1 << (column % 8)) != 0)
    }
}

//! Transposition of filters: combines those of a page's splits.

use super::transposed::{block_checksum, field_bit, splits_hash};
use super::{BLOCK_LEN, FilterGroup, FiltersRef, MAX_LOG2_NUM_BLOCKS, SplitFilter};
use crate::FormatError;
use crate::codec::Writer;
use crate::version::{FILTERS_MAGIC, FILTERS_VERSION};

/// Maximum size of a group that joins the next one, unless that one is even larger.
const SMALL_GROUP_NUM_BYTES: u64 = 64 << 10;

/// Filters of a page, and the group of each of its splits.
pub(crate) struct Transposed {
    pub(crate) filters: FiltersRef,
    pub(crate) bytes: Vec<u8>,
    pub(crate) group_ords: Vec<Option<u32>>,
}

/// Transposes the filters of splits, given with their ids in the order of a page; returns `None` if
/// no split has one.
pub(crate) fn transpose(
    splits: &[(&str, Option<&SplitFilter>)],
) -> Result<Option<Transposed>, FormatError> {
    // In minimal form, so that reading and rewriting filters gives the same object.
    let mut filters: Vec<Option<SplitFilter>> = splits
        .iter()
        .map(|(_, filter)| filter.cloned().map(SplitFilter::shrunk))
        .collect();
    let sizes = join_small_groups(&mut filters);
    if sizes.is_empty() {
        return Ok(None);
    }
    let group_ord_of = |filter: &SplitFilter| {
        let found = (0_u32..).zip(&sizes);
        let mut found = found.filter(|(_, size)| **size == filter.log2_num_blocks);
        found.next().map(|(ord, _)| ord)
    };
    let group_ords: Vec<Option<u32>> = filters
        .iter()
        .map(|filter| filter.as_ref().and_then(group_ord_of))
        .collect();
    let mut ids = splits.iter().map(|(id, _)| *id).zip(group_ords.clone());
    let splits_hash = splits_hash(&mut ids)?;

    let mut out = Writer::default();
    out.raw(&FILTERS_MAGIC);
    out.u32(FILTERS_VERSION);
    let mut groups = Vec::new();
    for (group_ord, log2_num_blocks) in (0_u32..).zip(&sizes) {
        let of_group: Vec<&SplitFilter> = filters
            .iter()
            .flatten()
            .filter(|filter| filter.log2_num_blocks == *log2_num_blocks)
            .collect();
        let fields = of_group.iter().flat_map(|filter| &filter.scope.fields);
        let group = FilterGroup {
            log2_num_blocks: *log2_num_blocks,
            num_splits: of_group.len() as u64,
            field_bits: fields.fold(0, |bits, field| bits | field_bit(field)),
        };
        write_group(&group, group_ord, &of_group, splits_hash, &mut out);
        groups.push(group);
    }
    let bytes = out.into_bytes();
    let id = crate::object_id(&bytes);
    Ok(Some(Transposed {
        filters: FiltersRef { id, groups },
        bytes,
        group_ords,
    }))
}

/// Joins small groups, because each group is a separate read: few splits, or small filters, take
/// the next larger number of blocks. Returns the remaining numbers of blocks.
fn join_small_groups(filters: &mut [Option<SplitFilter>]) -> Vec<u32> {
    for size in 0..MAX_LOG2_NUM_BLOCKS {
        let count_of = |size: u32| {
            let all = filters.iter().flatten();
            all.filter(|filter| filter.log2_num_blocks == size).count() as u64
        };
        let here = count_of(size).saturating_mul(SplitFilter::num_bytes_of(size));
        let next = count_of(size + 1).saturating_mul(SplitFilter::num_bytes_of(size + 1));
        if here == 0 || next == 0 || here > next.max(SMALL_GROUP_NUM_BYTES) {
            continue;
        }
        for filter in filters.iter_mut().flatten() {
            if filter.log2_num_blocks == size {
                *filter = filter.doubled();
            }
        }
    }
    let sizes = filters.iter().flatten();
    let sizes = canter_sorting::set_of(sizes.map(|filter| filter.log2_num_blocks));
    sizes.into_iter().collect()
}

fn write_group(
    group: &FilterGroup,
    group_ord: u32,
    filters: &[&SplitFilter],
    splits_hash: u64,
    out: &mut Writer,
) {
    let row_len = usize::try_from(group.row_len()).unwrap_or(usize::MAX);
    for block_ord in 0..group.num_blocks() {
        let mut rows = vec![0_u8; BLOCK_LEN.saturating_mul(8).saturating_mul(row_len)];
        for (column, filter) in filters.iter().enumerate() {
            let block = filter.bits.chunks(BLOCK_LEN);
            let block = usize::try_from(block_ord)
                .ok()
                .and_then(|ord| block.clone().nth(ord));
            for (byte_ord, byte) in block.unwrap_or_default().iter().enumerate() {
                let mut left = *byte;
                while left != 0 {
                    let row = byte_ord * 8 + left.trailing_zeros() as usize;
                    if let Some(cell) = rows.get_mut(row * row_len + column / 8) {
                        *cell |= 1 << (column % 8);
                    }
                    left &= left - 1;
                }
            }
        }
        out.raw(&rows);
        out.u64(block_checksum(splits_hash, group_ord, block_ord, &rows));
    }
}

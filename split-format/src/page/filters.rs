//! The filters of a page's splits, checked against the page. Their bytes are in `summaries/filter/transposed.rs`.

use super::entries::PagedSplit;
use crate::FormatError;
use crate::summaries::{
    BLOCK_NUM_BITS, BlockPlace, FilterBlock, FiltersRef, SplitFilter, block_checksum, splits_hash,
};
use crate::version::FILTERS_NAME;

/// Context for verifying the blocks of a page's filters.
#[derive(Clone, Copy, Debug)]
pub struct PageFilters<'a> {
    filters: &'a FiltersRef,
    splits_hash: u64,
}

impl<'a> PageFilters<'a> {
    /// Creates the context of a page with these splits; returns `None` if the filters belong to
    /// other splits.
    pub fn of(filters: &'a FiltersRef, splits: &[PagedSplit]) -> Option<Self> {
        let mut counts = vec![0_u64; filters.groups.len()];
        for place in splits.iter().filter_map(|split| split.filter.as_ref()) {
            *counts.get_mut(usize::try_from(place.group_ord).ok()?)? += 1;
        }
        let said = filters.groups.iter().map(|group| group.num_splits);
        if !said.eq(counts) {
            return None;
        }
        let mut places = splits.iter().map(|split| {
            let group_ord = split.filter.as_ref().map(|place| place.group_ord);
            (split.entry.id.as_str(), group_ord)
        });
        Some(Self {
            filters,
            splits_hash: splits_hash(&mut places).ok()?,
        })
    }

    /// Decodes a block.
    ///
    /// # Errors
    /// The bytes are damaged, or belong to another block.
    pub fn open_block(&self, place: &BlockPlace, bytes: &[u8]) -> Result<FilterBlock, FormatError> {
        let error = |problem: &str| Err(FormatError::new(FILTERS_NAME, problem));
        let group = usize::try_from(place.group_ord).ok();
        let Some(group) = group.and_then(|ord| self.filters.groups.get(ord)) else {
            return error("there is no such group");
        };
        let (Some((rows, checksum)), true) = (
            bytes.split_last_chunk::<8>(),
            bytes.len() as u64 == group.block_len(),
        ) else {
            return error("a block is cut short");
        };
        let wanted = block_checksum(self.splits_hash, place.group_ord, place.block_ord, rows);
        if u64::from_le_bytes(*checksum) != wanted {
            return error("the checksum of a block does not match: the bytes are damaged");
        }
        Ok(FilterBlock {
            rows: rows.to_vec(),
            row_len: group.row_len(),
        })
    }

    /// Decodes the filters of the page's splits, in order, from the bytes of the whole object;
    /// `None` for a split without a filter, or with a damaged one.
    pub(crate) fn open_all(&self, splits: &[PagedSplit], bytes: &[u8]) -> Vec<Option<SplitFilter>> {
        let mut blocks: Vec<Option<Vec<FilterBlock>>> = Vec::new();
        for (group_ord, group) in (0_u32..).zip(&self.filters.groups) {
            let blocks_of_group = (0..group.num_blocks()).map(|block_ord| {
                let start = self
                    .filters
                    .start_of(blocks.len())
                    .saturating_add(block_ord.saturating_mul(group.block_len()));
                let place = BlockPlace {
                    group_ord,
                    block_ord,
                    start,
                    len: group.block_len(),
                };
                let bytes = bytes.get(place.range()?)?;
                self.open_block(&place, bytes).ok()
            });
            blocks.push(blocks_of_group.collect());
        }
        let filter_of = |split: &PagedSplit| {
            let place = split.filter.as_ref()?;
            let group_ord = usize::try_from(place.group_ord).ok()?;
            let group = self.filters.groups.get(group_ord)?;
            let mut filter = SplitFilter::new((*place.scope).clone(), group.log2_num_blocks);
            for (block_ord, block) in (0_u64..).zip(blocks.get(group_ord)?.as_ref()?) {
                for row in (0..BLOCK_NUM_BITS).filter(|row| block.has(*row, place.column)) {
                    filter.set(block_ord * BLOCK_NUM_BITS + row);
                }
            }
            Some(filter.shrunk())
        };
        splits.iter().map(filter_of).collect()
    }
}

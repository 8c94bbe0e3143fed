//! Filters: which terms a split may hold, so that a search for a value that few splits hold opens few.
//!
//! ```text
//!   field · 0 · term ──XXH3-128──▶ block (high half) · six rows of it (low half)
//!
//!   a split's filter                       a page's, transposed
//!   block 0   block 1                      block 0, of all splits            block 1
//!   ┌───────┬───────┬─ ─ ─┐                ┌──────────────────────┬──────────┬─ ─ ─
//!   │ 1,024 │ 1,024 │     │                │ row 0: a bit a split │ checksum │
//!   │ bits  │ bits  │     │                │ row 1 …              │          │
//!   └───────┴───────┴─ ─ ─┘                └──────────────────────┴──────────┴─ ─ ─
//! ```
//!
//! A filter is a blocked Bloom filter: all bits of a value lie in one block, so that of a page one read of one
//! block says of all its splits whether they may hold the value. It never says no wrongly; it may say yes wrongly,
//! and may name values that are deleted.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{FILTER_NAME, FILTER_SEED, FILTER_VERSION, checksum64};

mod transpose;
mod transposed;

pub(crate) use transpose::transpose;
pub(crate) use transposed::MAX_GROUPS;
pub use transposed::{BlockPlace, FilterBlock, FilterGroup, FilterPlace, FiltersRef, PageFilters};

/// Bits of a block: rows of a transposed one.
pub(crate) const BLOCK_NUM_BITS: u64 = 1_024;
/// Bytes of a block of one filter.
pub(crate) const BLOCK_LEN: usize = 128;
/// Bits that a value sets.
const NUM_PROBES: u32 = 6;
/// Bits that choose one row of a block.
const ROW_BITS: u32 = BLOCK_NUM_BITS.trailing_zeros();
/// A filter has at most 2 to this many blocks: 8 MiB.
pub(crate) const MAX_LOG2_NUM_BLOCKS: u32 = 16;

/// A value that is looked for, hashed: a term of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needle {
    block_hash: u64,
    row_hash: u64,
}

impl Needle {
    /// The term as its field's dictionary has it.
    pub fn of(field: &str, term: &[u8]) -> Self {
        // No field's name has a zero byte.
        let key = [field.as_bytes(), &[0], term].concat();
        let [high, low] = halves(xxh3_128_with_seed(&key, FILTER_SEED));
        Self {
            block_hash: high,
            row_hash: low,
        }
    }

    /// Its block among 2 to `log2_num_blocks`.
    fn block(self, log2_num_blocks: u32) -> u64 {
        // The high bits: twice as many blocks are these, each cut in two.
        let shift = u64::BITS.saturating_sub(log2_num_blocks);
        self.block_hash.checked_shr(shift).unwrap_or(0)
    }

    /// Its rows, each below [`BLOCK_NUM_BITS`]; some may be the same.
    fn rows(self) -> impl Iterator<Item = u64> {
        (0..NUM_PROBES).map(move |probe| (self.row_hash >> (probe * ROW_BITS)) % BLOCK_NUM_BITS)
    }
}

fn halves(number: u128) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = number.to_be_bytes();
    [
        u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        u64::from_be_bytes([i, j, k, l, m, n, o, p]),
    ]
}

/// What a filter speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilterScope {
    /// Fields, by their names in the schema, all of whose terms are in the filter.
    pub fields: BTreeSet<String>,
    /// Where the split looks for words that name no field: a query of such words means this.
    pub default_fields: Vec<String>,
}

/// The filter of one split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitFilter {
    scope: FilterScope,
    log2_num_blocks: u32,
    /// Block after block; the lowest bit of a byte comes first.
    bits: Vec<u8>,
}

impl SplitFilter {
    /// 2 to this many blocks are the most that a filter has.
    pub const MAX_LOG2_NUM_BLOCKS: u32 = MAX_LOG2_NUM_BLOCKS;

    /// Number of bytes of the bits of a filter of 2 to so many blocks.
    pub fn num_bytes_of(log2_num_blocks: u32) -> u64 {
        (BLOCK_LEN as u64) << log2_num_blocks.min(MAX_LOG2_NUM_BLOCKS)
    }

    /// A filter without values, of 2 to so many blocks, or as many as there may be.
    pub fn new(scope: FilterScope, log2_num_blocks: u32) -> Self {
        let log2_num_blocks = log2_num_blocks.min(MAX_LOG2_NUM_BLOCKS);
        Self {
            scope,
            log2_num_blocks,
            bits: vec![0; BLOCK_LEN << log2_num_blocks],
        }
    }

    /// What it speaks of.
    pub fn scope(&self) -> &FilterScope {
        &self.scope
    }

    /// 2 to this many blocks it has.
    pub fn log2_num_blocks(&self) -> u32 {
        self.log2_num_blocks
    }

    /// Notes a value.
    pub fn insert(&mut self, needle: Needle) {
        for bit in self.places_of(needle) {
            self.set(bit);
        }
    }

    /// Whether the value may have been noted.
    pub fn may_hold(&self, needle: Needle) -> bool {
        self.places_of(needle).all(|bit| {
            let byte = usize::try_from(bit / 8).ok();
            let byte = byte.and_then(|byte| self.bits.get(byte));
            byte.is_none_or(|byte| byte & (1 << (bit % 8)) != 0)
        })
    }

    fn places_of(&self, needle: Needle) -> impl Iterator<Item = u64> + use<> {
        let start = needle.block(self.log2_num_blocks) * BLOCK_NUM_BITS;
        needle.rows().map(move |row| start + row)
    }

    fn set(&mut self, bit: u64) {
        let byte = usize::try_from(bit / 8).ok();
        if let Some(byte) = byte.and_then(|byte| self.bits.get_mut(byte)) {
            *byte |= 1 << (bit % 8);
        }
    }

    /// The same with twice as many blocks: each block stands for both that it would be cut into.
    fn doubled(&self) -> Self {
        let blocks = self.bits.chunks(BLOCK_LEN);
        Self {
            scope: self.scope.clone(),
            log2_num_blocks: self.log2_num_blocks + 1,
            bits: blocks.flat_map(|block| [block, block].concat()).collect(),
        }
    }

    /// The same with as few blocks as say as much: what [`SplitFilter::doubled`] was made from.
    fn shrunk(mut self) -> Self {
        while self.log2_num_blocks > 0 {
            let mut pairs = self.bits.chunks(2 * BLOCK_LEN);
            let is_doubled = pairs.all(|pair| {
                let (left, right) = pair.split_at(pair.len() / 2);
                left == right
            });
            if !is_doubled {
                break;
            }
            let halves = self.bits.chunks(2 * BLOCK_LEN);
            let halves = halves.filter_map(|pair| pair.get(..BLOCK_LEN));
            self.bits = halves.flatten().copied().collect();
            self.log2_num_blocks -= 1;
        }
        self
    }

    /// Encodes it: the file of a split's body.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(FILTER_VERSION);
        write_scope(&self.scope, &mut out);
        out.varint(u64::from(self.log2_num_blocks));
        out.raw(&self.bits);
        let bytes = out.into_bytes();
        let mut out = Writer::default();
        out.raw(&bytes);
        out.u64(checksum64(&bytes));
        out.into_bytes()
    }

    /// Decodes a file that was read by itself, without the split's block checksums.
    ///
    /// # Errors
    /// If the bytes are no filter, are damaged, or of a version that this reader does not know.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let (content, checksum) = bytes
            .split_last_chunk::<8>()
            .ok_or_else(|| FormatError::new(FILTER_NAME, "cut short"))?;
        let mut reader = Reader::new(FILTER_NAME, content);
        if checksum64(content) != u64::from_le_bytes(*checksum) {
            return Err(reader.error("its checksum does not match: the bytes are damaged"));
        }
        let version = reader.u32()?;
        if version != FILTER_VERSION {
            return Err(reader.error(format!(
                "version {version} is not known (this reader knows {FILTER_VERSION}): use a newer Canter"
            )));
        }
        let scope = read_scope(&mut reader)?;
        let log2_num_blocks = read_log2_num_blocks(&mut reader)?;
        let bits = reader.raw(BLOCK_LEN << log2_num_blocks)?.to_vec();
        reader.finish()?;
        Ok(Self {
            scope,
            log2_num_blocks,
            bits,
        })
    }
}

pub(crate) fn read_log2_num_blocks(reader: &mut Reader<'_>) -> Result<u32, FormatError> {
    let log2 = reader.varint_u32()?;
    match log2 <= MAX_LOG2_NUM_BLOCKS {
        true => Ok(log2),
        false => Err(reader.error(format!("a filter of 2^{log2} blocks is not allowed"))),
    }
}

pub(crate) fn write_scope(scope: &FilterScope, out: &mut Writer) {
    out.varint(scope.fields.len() as u64);
    for field in &scope.fields {
        out.bytes(field.as_bytes());
    }
    out.varint(scope.default_fields.len() as u64);
    for field in &scope.default_fields {
        out.bytes(field.as_bytes());
    }
}

pub(crate) fn read_scope(reader: &mut Reader<'_>) -> Result<FilterScope, FormatError> {
    let num_fields = reader.count(1)?;
    let mut fields: BTreeSet<String> = BTreeSet::new();
    for _ in 0..num_fields {
        fields.insert(reader.string()?.to_owned());
    }
    let num_fields = reader.count(1)?;
    let default_fields = (0..num_fields).map(|_| reader.string().map(str::to_owned));
    let default_fields = default_fields.collect::<Result<Vec<String>, FormatError>>()?;
    Ok(FilterScope {
        fields,
        default_fields,
    })
}

#[cfg(test)]
mod tests;

//! Filters: the terms that a split may contain, so that a search for a rare value opens few splits.
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
//! A filter is a blocked Bloom filter: all bits of a value are in one block, so that reading one
//! block of a page tells for all its splits whether they may contain the value. A negative answer
//! is always right; a positive one may be wrong, and may refer to deleted values.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{FILTER_NAME, FILTER_SEED, FILTER_VERSION, checksum64};

mod transpose;
mod transposed;

pub(crate) use transpose::transpose;
pub(crate) use transposed::MAX_GROUPS;
pub use transposed::{BlockPlace, FilterBlock, FilterGroup, FilterPlace, FiltersRef};
pub(crate) use transposed::{block_checksum, splits_hash};

/// Number of bits in a block, which are the rows of a transposed one.
pub(crate) const BLOCK_NUM_BITS: u64 = 1_024;
/// Number of bytes in a block of one filter.
pub(crate) const BLOCK_LEN: usize = 128;
/// Number of bits that a value sets.
const NUM_PROBES: u32 = 6;
/// Number of bits that select one row of a block.
const ROW_BITS: u32 = BLOCK_NUM_BITS.trailing_zeros();
/// Base-2 logarithm of the maximum number of blocks in a filter: 8 MiB.
pub(crate) const MAX_LOG2_NUM_BLOCKS: u32 = 16;

/// Hashed value to look up: a term of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needle {
    block_hash: u64,
    row_hash: u64,
}

impl Needle {
    /// Hashes a term in the form of its field's dictionary.
    pub fn of(field: &str, term: &[u8]) -> Self {
        // No field name contains a zero byte.
        let key = [field.as_bytes(), &[0], term].concat();
        let [high, low] = halves(xxh3_128_with_seed(&key, FILTER_SEED));
        Self {
            block_hash: high,
            row_hash: low,
        }
    }

    /// Returns the block among 2^`log2_num_blocks`.
    fn block(self, log2_num_blocks: u32) -> u64 {
        // The high bits, so that doubling the number of blocks splits each in two.
        let shift = u64::BITS.saturating_sub(log2_num_blocks);
        self.block_hash.checked_shr(shift).unwrap_or(0)
    }

    /// Returns the rows, each below [`BLOCK_NUM_BITS`]; some may be equal.
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

/// Scope of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilterScope {
    /// Schema names of the fields whose terms are all in the filter.
    pub fields: BTreeSet<String>,
    /// Fields that the split searches for words without a field.
    pub default_fields: Vec<String>,
}

/// Filter of one split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitFilter {
    scope: FilterScope,
    log2_num_blocks: u32,
    /// Consecutive blocks; the lowest bit of a byte comes first.
    bits: Vec<u8>,
}

impl SplitFilter {
    /// Base-2 logarithm of the maximum number of blocks.
    pub const MAX_LOG2_NUM_BLOCKS: u32 = MAX_LOG2_NUM_BLOCKS;

    /// Returns the length in bytes of a filter's bits with 2^`log2_num_blocks` blocks.
    pub fn num_bytes_of(log2_num_blocks: u32) -> u64 {
        (BLOCK_LEN as u64) << log2_num_blocks.min(MAX_LOG2_NUM_BLOCKS)
    }

    /// Creates an empty filter of 2^`log2_num_blocks` blocks, limited to the maximum.
    pub fn new(scope: FilterScope, log2_num_blocks: u32) -> Self {
        let log2_num_blocks = log2_num_blocks.min(MAX_LOG2_NUM_BLOCKS);
        Self {
            scope,
            log2_num_blocks,
            bits: vec![0; BLOCK_LEN << log2_num_blocks],
        }
    }

    /// Returns the scope of the filter.
    pub fn scope(&self) -> &FilterScope {
        &self.scope
    }

    /// Returns the base-2 logarithm of the number of blocks.
    pub fn log2_num_blocks(&self) -> u32 {
        self.log2_num_blocks
    }

    /// Adds a value.
    pub fn insert(&mut self, needle: Needle) {
        for bit in self.places_of(needle) {
            self.set(bit);
        }
    }

    /// Returns whether the value may have been added.
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

    pub(crate) fn set(&mut self, bit: u64) {
        let byte = usize::try_from(bit / 8).ok();
        if let Some(byte) = byte.and_then(|byte| self.bits.get_mut(byte)) {
            *byte |= 1 << (bit % 8);
        }
    }

    /// Returns an equivalent filter with twice as many blocks: each block stands for both of its
    /// halves.
    fn doubled(&self) -> Self {
        let blocks = self.bits.chunks(BLOCK_LEN);
        Self {
            scope: self.scope.clone(),
            log2_num_blocks: self.log2_num_blocks + 1,
            bits: blocks.flat_map(|block| [block, block].concat()).collect(),
        }
    }

    /// Returns an equivalent filter with as few blocks as possible, which reverses
    /// [`SplitFilter::doubled`].
    pub(crate) fn shrunk(mut self) -> Self {
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

    /// Encodes the filter as a file of the split's body.
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
    /// The bytes are no filter, are damaged, or have an unknown version.
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

//! One checksum for every fixed-size block of the body, so that any range can be verified by itself
//! once it is extended to whole blocks.
//!
//! The block length is chosen for each split: short blocks keep small reads small, and the table
//! stays within 12 KiB for any size of the body.

use std::ops::Range;

use crate::codec::{Reader, Writer};
use crate::version::BLOCK_CHECKSUMS;
use crate::{FormatError, checksum64};

const MIN_BLOCK_LEN_LOG2: u32 = 12;
const MAX_BLOCK_LEN_LOG2: u32 = 24;
const MAX_BLOCKS_WANTED: u64 = 3072;

/// Checksums of a body's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockChecksums {
    block_len_log2: u32,
    body_len: u64,
    checksums: Vec<u32>,
}

fn block_checksum(block: &[u8]) -> u32 {
    // The low half of XXH3-64: a damaged block goes unnoticed with a probability of 2^-32.
    let [a, b, c, d, ..] = checksum64(block).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Returns the shortest block length with at most [`MAX_BLOCKS_WANTED`] blocks in the body.
fn choose_block_len_log2(body_len: u64) -> u32 {
    (MIN_BLOCK_LEN_LOG2..MAX_BLOCK_LEN_LOG2)
        .find(|log2| body_len.div_ceil(1 << log2) <= MAX_BLOCKS_WANTED)
        .unwrap_or(MAX_BLOCK_LEN_LOG2)
}

impl BlockChecksums {
    /// Computes the checksums of a whole body.
    pub fn of_body(body: &[u8]) -> Self {
        let body_len = body.len() as u64;
        let block_len_log2 = choose_block_len_log2(body_len);
        Self {
            block_len_log2,
            body_len,
            checksums: body
                .chunks(1 << block_len_log2)
                .map(block_checksum)
                .collect(),
        }
    }

    /// Returns the length in bytes of every block but the last.
    pub fn block_len(&self) -> u64 {
        1 << self.block_len_log2
    }

    /// Returns the length of the body in bytes.
    pub fn body_len(&self) -> u64 {
        self.body_len
    }

    /// Returns the number of blocks.
    pub fn num_blocks(&self) -> u64 {
        self.checksums.len() as u64
    }

    /// Returns the blocks that contain a byte range of the body.
    pub fn blocks_of(&self, bytes: Range<u64>) -> Range<u64> {
        if bytes.is_empty() {
            return 0..0;
        }
        let first = bytes.start >> self.block_len_log2;
        let last = (bytes.end - 1) >> self.block_len_log2;
        first..last + 1
    }

    /// Returns the byte range of the body that blocks cover.
    pub fn bytes_of(&self, blocks: Range<u64>) -> Range<u64> {
        let clamp = |block: u64| {
            block
                .checked_mul(self.block_len())
                .unwrap_or(self.body_len)
                .min(self.body_len)
        };
        clamp(blocks.start)..clamp(blocks.end)
    }

    /// Verifies consecutive whole blocks; the error is the number of the first damaged block.
    pub fn verify(&self, first_block: u64, bytes: &[u8]) -> Result<(), u64> {
        for (block_ord, block) in (first_block..).zip(bytes.chunks(1 << self.block_len_log2)) {
            let wanted = usize::try_from(block_ord)
                .ok()
                .and_then(|ord| self.checksums.get(ord));
            if wanted != Some(&block_checksum(block)) {
                return Err(block_ord);
            }
        }
        Ok(())
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(self.block_len_log2);
        out.u64(self.body_len);
        for checksum in &self.checksums {
            out.u32(*checksum);
        }
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(BLOCK_CHECKSUMS.name, bytes);
        let block_len_log2 = reader.u32()?;
        if !(MIN_BLOCK_LEN_LOG2..=MAX_BLOCK_LEN_LOG2).contains(&block_len_log2) {
            return Err(reader.error(format!(
                "a block length of 2^{block_len_log2} is not allowed"
            )));
        }
        let body_len = reader.u64()?;
        let num_blocks = body_len.div_ceil(1 << block_len_log2);
        if num_blocks.checked_mul(4) != Some(reader.remaining() as u64) {
            return Err(reader.error("the number of checksums does not fit the body"));
        }
        let mut checksums = Vec::with_capacity(reader.remaining() / 4);
        while !reader.is_empty() {
            checksums.push(reader.u32()?);
        }
        Ok(Self {
            block_len_log2,
            body_len,
            checksums,
        })
    }
}

#[cfg(test)]
mod tests;

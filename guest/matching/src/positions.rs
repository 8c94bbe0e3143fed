//! The positions of a term: those of all its documents, one behind the other, each as what it is more than the one before
//! it in its document.
//!
//! ```text
//!   number of full blocks ╎ width of each ╎ full blocks of 128 ╎ the rest
//! ```

use std::io;

use bitpacking::{BitPacker, BitPacker4x};
use tantivy_common::OwnedBytes;

use crate::list::{Vints, read_vint};

/// Positions of a full block.
const BLOCK_LEN: usize = 128;

/// The positions of one term. Reading goes forward best.
pub struct PositionList {
    widths: OwnedBytes,
    blocks: OwnedBytes,
    /// Which block is unpacked, where it begins, and its numbers.
    block: usize,
    offset: usize,
    numbers: Box<[u32; BLOCK_LEN]>,
    is_unpacked: bool,
}

impl PositionList {
    /// Opens the positions of a term.
    ///
    /// # Errors
    /// If they end within the widths of their blocks.
    pub fn open(mut bytes: OwnedBytes) -> io::Result<Self> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "positions are cut off");
        let num_blocks = read_vint(&mut bytes).ok_or_else(damaged)?;
        let num_blocks = usize::try_from(num_blocks).map_err(|_| damaged())?;
        if num_blocks > bytes.len() {
            return Err(damaged());
        }
        let (widths, blocks) = bytes.split(num_blocks);
        Ok(Self {
            widths,
            blocks,
            block: 0,
            offset: 0,
            numbers: Box::new([0; BLOCK_LEN]),
            is_unpacked: false,
        })
    }

    /// What stands at one place.
    #[inline]
    pub(crate) fn get(&mut self, place: u64) -> u32 {
        let len = BLOCK_LEN as u64;
        let block = usize::try_from(place / len).unwrap_or(usize::MAX);
        if block != self.block || !self.is_unpacked {
            self.unpack(block);
        }
        let at = usize::try_from(place % len).unwrap_or_default();
        self.numbers.get(at).copied().unwrap_or_default()
    }

    /// The positions of a document, each with `added`: replaces `positions`.
    pub(crate) fn read(&mut self, start: u64, num: u32, added: u32, positions: &mut Vec<u32>) {
        positions.clear();
        let mut position = added;
        for place in start..start.saturating_add(num.into()) {
            position = position.wrapping_add(self.get(place));
            positions.push(position);
        }
    }

    #[inline(never)]
    fn unpack(&mut self, block: usize) {
        if block < self.block {
            (self.block, self.offset) = (0, 0);
        }
        let full = block.min(self.widths.len());
        let passed = self.widths.get(self.block..full).unwrap_or_default();
        let width: usize = passed.iter().map(|width| usize::from(*width)).sum();
        let num_bytes = BitPacker4x::compressed_block_size(1).saturating_mul(width);
        self.offset = self.offset.saturating_add(num_bytes);
        self.block = block;
        self.is_unpacked = true;
        let bytes = self.blocks.get(self.offset..).unwrap_or_default();
        let numbers = self.numbers.as_mut_slice();
        match self.widths.get(block) {
            Some(width) => {
                BitPacker4x.decompress(bytes, numbers, *width);
            }
            None => {
                for (to, number) in numbers.iter_mut().zip(Vints(bytes)) {
                    *to = number;
                }
            }
        }
    }
}

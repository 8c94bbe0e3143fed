//! Positions of a term: those of all its documents in sequence, each as the difference from the
//! previous one in its document.
//!
//! ```text
//!   2 · number of full blocks + is_same ╎ form of each ╎ full blocks of 128 ╎ the rest
//!
//!   form 0 to 32    packed with that many bits, as in tantivy
//!   form 33 to 160  1 to 128 distinct values, a byte each, ascending; then the index of each position's value,
//!                   packed with as few bits as possible
//!   the rest        varints of seven bits in each byte; if is_same, a single one, equal to all of the rest
//! ```
//!
//! In logs, a word occurs in few places: after the same words of the same template. A block of its
//! positions therefore has few values, which often take one or two bits each, or none.

mod write;

use std::io;

use bitpacking::{BitPacker, BitPacker4x};
use tantivy_common::OwnedBytes;

use crate::kernels;
use crate::list::{Vints, read_vint};

pub use write::repack_positions;
pub(crate) use write::{pack_positions, put_vint};

/// Number of positions in a full block.
const BLOCK_LEN: usize = 128;

/// Encoding of a full block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// Number of distinct values before the block; 0 if the numbers are packed themselves.
    num_values: usize,
    width: u8,
}

impl Form {
    fn of_byte(byte: u8) -> Self {
        match byte {
            0..=32 => Self {
                num_values: 0,
                width: byte,
            },
            _ => Self::of_values((usize::from(byte) - 32).min(BLOCK_LEN)),
        }
    }

    /// Creates the form for `num_values` distinct values, at least one.
    fn of_values(num_values: usize) -> Self {
        let last = num_values.saturating_sub(1).min(BLOCK_LEN - 1);
        let last = u8::try_from(last).unwrap_or(u8::MAX);
        Self {
            num_values,
            width: num_bits(last.into()),
        }
    }

    fn to_byte(self) -> u8 {
        match u8::try_from(self.num_values) {
            Ok(0) | Err(_) => self.width,
            Ok(num_values) => num_values.saturating_add(32),
        }
    }

    /// Returns the length of the block in bytes.
    fn len(self) -> usize {
        self.num_values + BitPacker4x::compressed_block_size(1) * usize::from(self.width)
    }
}

fn num_bits(number: u32) -> u8 {
    u8::try_from(u32::BITS - number.leading_zeros()).unwrap_or(32)
}

/// Positions of one term. Reading forward is fastest.
#[derive(Clone)]
pub struct PositionList {
    forms: OwnedBytes,
    blocks: OwnedBytes,
    /// True if all of the rest are equal.
    is_same: bool,
    /// Index and offset of the unpacked block, and its numbers.
    block: usize,
    offset: usize,
    numbers: Box<[u32; BLOCK_LEN]>,
    is_unpacked: bool,
}

impl PositionList {
    /// Opens the positions of a term.
    ///
    /// # Errors
    /// The bytes end within the forms of the blocks.
    pub fn open(mut bytes: OwnedBytes) -> io::Result<Self> {
        let number = read_vint(&mut bytes).ok_or_else(cut_off)?;
        let num_blocks = usize::try_from(number / 2).map_err(|_| cut_off())?;
        if num_blocks > bytes.len() {
            return Err(cut_off());
        }
        let (forms, blocks) = bytes.split(num_blocks);
        Ok(Self {
            forms,
            blocks,
            is_same: number % 2 == 1,
            block: 0,
            offset: 0,
            numbers: Box::new([0; BLOCK_LEN]),
            is_unpacked: false,
        })
    }

    /// Returns the difference at one index: the position minus the previous one in its document.
    #[inline]
    pub fn difference(&mut self, place: u64) -> u32 {
        let len = BLOCK_LEN as u64;
        let block = usize::try_from(place / len).unwrap_or(usize::MAX);
        if block != self.block || !self.is_unpacked {
            self.unpack(block);
        }
        let at = usize::try_from(place % len).unwrap_or_default();
        self.numbers.get(at).copied().unwrap_or_default()
    }

    /// Returns an upper bound for the number of positions.
    pub fn max_len(&self) -> u64 {
        (self.forms.len() as u64 + 1) * BLOCK_LEN as u64
    }

    /// Replaces `positions` by those of a document, each plus `added`. Positions past the end are
    /// omitted, even if a posting list refers to them.
    pub(crate) fn read(&mut self, start: u64, num: u32, added: u32, positions: &mut Vec<u32>) {
        positions.clear();
        let mut position = added;
        let end = start.saturating_add(num.into()).min(self.max_len());
        for place in start..end {
            position = position.wrapping_add(self.difference(place));
            positions.push(position);
        }
    }

    #[inline(never)]
    fn unpack(&mut self, block: usize) {
        if block < self.block {
            (self.block, self.offset) = (0, 0);
        }
        let full = block.min(self.forms.len());
        let passed = self.forms.get(self.block..full).unwrap_or_default();
        let num_bytes: usize = passed.iter().map(|form| Form::of_byte(*form).len()).sum();
        self.offset = self.offset.saturating_add(num_bytes);
        self.block = block;
        self.is_unpacked = true;
        let bytes = self.blocks.get(self.offset..).unwrap_or_default();
        let numbers = self.numbers.as_mut();
        match self.forms.get(block) {
            Some(form) => unpack_full(Form::of_byte(*form), bytes, numbers),
            None if self.is_same => numbers.fill(Vints(bytes).next().unwrap_or_default()),
            None => {
                for (to, number) in numbers.iter_mut().zip(Vints(bytes)) {
                    *to = number;
                }
            }
        }
    }
}

/// Numbers of truncated blocks are arbitrary.
fn unpack_full(form: Form, bytes: &[u8], numbers: &mut [u32; BLOCK_LEN]) {
    let (values, packed) = bytes.split_at(form.num_values.min(bytes.len()));
    if let [only] = values {
        numbers.fill(u32::from(*only));
        return;
    }
    BitPacker4x.decompress(packed, numbers.as_mut_slice(), form.width);
    if form.num_values > 0 {
        kernels::look_up(values, numbers);
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "positions are cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_in_no_more_places_than_its_list_has_room_for() {
        // No full block, and three positions.
        let bytes = OwnedBytes::new(vec![0x80, 0x81, 0x82, 0x83]);
        let mut list = PositionList::open(bytes).unwrap();
        let mut positions = Vec::new();
        list.read(0, 3, 0, &mut positions);
        assert_eq!(positions, [1, 3, 6]);
        list.read(0, u32::MAX, 0, &mut positions);
        assert_eq!(positions.len(), 128);
        list.read(u64::MAX, u32::MAX, 0, &mut positions);
        assert!(positions.is_empty());
    }
}

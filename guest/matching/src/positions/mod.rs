//! The positions of a term: those of all its documents, one behind the other, each as what it is more than the one before
//! it in its document.
//!
//! ```text
//!   2 · number of full blocks + is_same ╎ form of each ╎ full blocks of 128 ╎ the rest
//!
//!   form 0 to 32    packed in so many bits, as tantivy does
//!   form 33 to 160  one to 128 different values, a byte each, ascending; then for each position which of them it is,
//!                   packed in as few bits as tell them apart
//!   the rest        numbers of seven bits a byte; if is_same, a single one, which all of the rest are
//! ```
//!
//! In logs a word stands in few places: after the same words of the same template. So a block of its positions has few
//! values, which often take one or two bits each, or none.

mod write;

use std::io;

use bitpacking::{BitPacker, BitPacker4x};
use tantivy_common::OwnedBytes;

use crate::kernels;
use crate::list::{Vints, read_vint};

pub use write::repack_positions;

/// Positions of a full block.
const BLOCK_LEN: usize = 128;

/// How the numbers of a full block are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// Different values before them; 0 if they are themselves.
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

    /// So many different values, at least one.
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

    /// Bytes of the block.
    fn len(self) -> usize {
        self.num_values + BitPacker4x::compressed_block_size(1) * usize::from(self.width)
    }
}

fn num_bits(number: u32) -> u8 {
    u8::try_from(u32::BITS - number.leading_zeros()).unwrap_or(32)
}

/// The positions of one term. Reading goes forward best.
#[derive(Clone)]
pub struct PositionList {
    forms: OwnedBytes,
    blocks: OwnedBytes,
    /// Whether all of the rest are the same.
    is_same: bool,
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
    /// If they end within the forms of their blocks.
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

    /// What stands at one place: how much more that position is than the one before it in its document.
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

    /// No more positions stand here than this.
    pub fn max_len(&self) -> u64 {
        (self.forms.len() as u64 + 1) * BLOCK_LEN as u64
    }

    /// The positions of a document, each with `added`: replaces `positions`. Those that a posting list speaks of, and that are
    /// not here, are left out.
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

/// Numbers of what is cut off are anything.
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

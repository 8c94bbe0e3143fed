//! Cursor over the blocks of a posting list.

use bitpacking::{BitPacker, BitPacker4x};
use tantivy_common::OwnedBytes;

use super::open::{BLOCK_LEN, Recorded};
use crate::NO_DOC;

/// Cursor in the posting list of one term. It only moves forward, except for a restart.
#[derive(Clone)]
pub struct PostingList {
    num_docs: u32,
    recorded: Recorded,
    entry_len: usize,
    skips: OwnedBytes,
    blocks: OwnedBytes,
    /// Number of full blocks before the current one.
    block: u32,
    /// Offset of the current block.
    offset: usize,
    /// Number of positions in all documents before the block.
    num_positions: u64,
    /// Last document of the previous block; zero for the first block.
    before: u32,
    /// Entry of the skip list for the block; read from zeros for the last block, which has none.
    entry: Entry,
    docs: Box<[u32; BLOCK_LEN as usize]>,
    /// Number of documents in `docs`; `None` if they belong to another block.
    len: Option<usize>,
}

/// Entry of the skip list.
#[derive(Clone, Copy, Default)]
struct Entry {
    last: u32,
    width: u8,
    is_strict: bool,
    frequency_width: u8,
    num_positions: u32,
}

impl PostingList {
    pub(super) fn at_start(
        num_docs: u32,
        recorded: Recorded,
        entry_len: usize,
        skips: OwnedBytes,
        blocks: OwnedBytes,
    ) -> Self {
        let mut list = Self {
            num_docs,
            recorded,
            entry_len,
            skips,
            blocks,
            block: 0,
            offset: 0,
            num_positions: 0,
            before: 0,
            entry: Entry::default(),
            docs: Box::new([NO_DOC; BLOCK_LEN as usize]),
            len: None,
        };
        list.restart();
        list
    }

    /// Moves back to the start.
    pub fn restart(&mut self) {
        (self.block, self.offset, self.num_positions) = (0, 0, 0);
        (self.before, self.len) = (0, None);
        self.entry = self.read_entry();
    }

    /// Returns the total number of documents.
    pub fn num_docs(&self) -> u32 {
        self.num_docs
    }

    /// Returns whether positions are recorded.
    pub(crate) fn has_positions(&self) -> bool {
        self.recorded == Recorded::Positions
    }

    /// Returns whether the cursor is past the last document.
    pub fn is_at_end(&self) -> bool {
        self.first_rank() >= self.num_docs
    }

    /// Returns the number of documents before the current block.
    pub(super) fn first_rank(&self) -> u32 {
        self.block.saturating_mul(BLOCK_LEN)
    }

    /// Returns an upper bound for the last document of the block.
    pub(crate) fn last(&self) -> u32 {
        self.entry.last
    }

    /// Moves to the next block.
    pub fn next_block(&mut self) {
        if !self.is_full() {
            // Past the end.
            self.block = self.num_docs / BLOCK_LEN + 1;
            self.docs.fill(NO_DOC);
            self.len = Some(0);
            return;
        }
        let width = usize::from(self.entry.width) + usize::from(self.entry.frequency_width);
        let num_bytes = BitPacker4x::compressed_block_size(1) * width;
        self.offset = self.offset.saturating_add(num_bytes);
        self.num_positions += u64::from(self.entry.num_positions);
        self.before = self.entry.last;
        self.block += 1;
        self.len = None;
        self.entry = self.read_entry();
    }

    /// Moves to the first block that does not end before `doc`.
    #[inline(never)]
    pub(crate) fn seek_block(&mut self, doc: u32) {
        while self.entry.last < doc {
            self.next_block();
        }
    }

    /// Moves to the block that contains the document with this rank.
    pub(super) fn seek_rank(&mut self, rank: u32) {
        while self.is_full() && self.first_rank().saturating_add(BLOCK_LEN) <= rank {
            self.next_block();
        }
    }

    fn is_full(&self) -> bool {
        self.block < self.num_docs / BLOCK_LEN
    }

    fn read_entry(&self) -> Entry {
        let last_block = Entry {
            last: NO_DOC,
            ..Entry::default()
        };
        if !self.is_full() {
            return last_block;
        }
        let start = self.block as usize * self.entry_len;
        let entry = self.skips.get(start..).unwrap_or_default();
        let number = |at: usize| {
            let bytes = entry.get(at..).and_then(|bytes| bytes.first_chunk());
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let byte = |at: usize| entry.get(at).copied().unwrap_or_default();
        Entry {
            // Damaged entries must not stop the cursor from advancing.
            last: number(0).max(self.before),
            width: byte(4) & 31,
            is_strict: byte(4) & 64 != 0,
            frequency_width: match self.recorded {
                Recorded::Documents => 0,
                Recorded::Frequencies | Recorded::Positions => byte(5),
            },
            num_positions: match self.recorded {
                Recorded::Positions => number(6),
                Recorded::Documents | Recorded::Frequencies => 0,
            },
        }
    }

    /// Returns the documents of the block, in ascending order.
    pub fn docs(&mut self) -> &[u32] {
        let len = self.load();
        self.docs.get(..len).unwrap_or_default()
    }

    /// Returns the documents of the block, padded with [`NO_DOC`].
    pub(crate) fn padded(&mut self) -> &[u32; BLOCK_LEN as usize] {
        self.load();
        &self.docs
    }

    #[inline(never)]
    fn load(&mut self) -> usize {
        if let Some(len) = self.len {
            return len;
        }
        let is_full = self.is_full();
        let bytes = self.blocks.get(self.offset..).unwrap_or_default();
        let docs = self.docs.as_mut_slice();
        let len = match is_full {
            true => {
                let width = self.entry.width;
                match self.entry.is_strict {
                    true => {
                        let before = Some(self.before).filter(|before| *before > 0);
                        BitPacker4x.decompress_strictly_sorted(before, bytes, docs, width)
                    }
                    false => BitPacker4x.decompress_sorted(self.before, bytes, docs, width),
                };
                BLOCK_LEN as usize
            }
            false => {
                docs.fill(NO_DOC);
                let len = (self.num_docs % BLOCK_LEN) as usize;
                let mut doc = self.before;
                for (to, difference) in docs.iter_mut().take(len).zip(Vints(bytes)) {
                    doc = doc.wrapping_add(difference);
                    *to = doc;
                }
                len
            }
        };
        self.len = Some(len);
        len
    }

    /// Replaces `starts` by the start of each document's positions in the block, counted from the
    /// first position of the list, and the end of the last.
    #[inline(never)]
    pub(crate) fn position_starts(&mut self, starts: &mut PositionStarts) {
        starts.first = self.num_positions;
        starts.block = Some(self.block);
        let len = self.load();
        let bytes = self.blocks.get(self.offset..).unwrap_or_default();
        let [zero, ends @ ..] = starts.ends.as_mut_slice() else {
            return;
        };
        *zero = 0;
        if !self.is_full() {
            let mut end = 0u32;
            let frequencies = Vints(bytes).skip(len);
            for (to, frequency) in ends.iter_mut().take(len).zip(frequencies) {
                end = end.wrapping_add(frequency);
                *to = end;
            }
            return;
        }
        let docs_len = BitPacker4x::compressed_block_size(self.entry.width);
        let bytes = bytes.get(docs_len..).unwrap_or_default();
        // Frequencies are stored minus one, or unchanged by earlier versions. Unpacking them as
        // differences yields their running sums.
        let width = self.entry.frequency_width;
        match self.entry.is_strict {
            true => {
                BitPacker4x.decompress_strictly_sorted(None, bytes, ends, width);
                // The first value starts from one below zero.
                ends.iter_mut().for_each(|end| *end = end.wrapping_add(1));
            }
            false => {
                BitPacker4x.decompress_sorted(0, bytes, ends, width);
            }
        }
    }

    /// Returns the ordinal of the block, for [`PositionStarts::is_of`].
    pub(crate) fn block(&self) -> u32 {
        self.block
    }
}

/// Locations of the positions of one block's documents.
pub(crate) struct PositionStarts {
    first: u64,
    block: Option<u32>,
    ends: Box<[u32; BLOCK_LEN as usize + 1]>,
}

impl Default for PositionStarts {
    fn default() -> Self {
        Self {
            first: 0,
            block: None,
            ends: Box::new([0; BLOCK_LEN as usize + 1]),
        }
    }
}

impl PositionStarts {
    /// Returns whether the locations belong to a block.
    pub(crate) fn is_of(&self, block: u32) -> bool {
        self.block == Some(block)
    }

    /// Appends the locations for documents of the block, given by ordinals relative to `before`.
    #[inline(never)]
    pub(crate) fn add(&self, ords: &[u8], before: u8, places: &mut Vec<(u64, u32)>) {
        places.extend(ords.iter().map(|ord| self.of(before.saturating_add(*ord))));
    }

    /// Returns the start and the number of positions of a document in the block.
    #[inline]
    pub(crate) fn of(&self, ord: u8) -> (u64, u32) {
        let ord = usize::from(ord & 127);
        let (start, end) = match self.ends.get(ord..ord + 2) {
            Some([start, end]) => (*start, *end),
            _ => (0, 0),
        };
        (self.first + u64::from(start), end.wrapping_sub(start))
    }
}

/// Decoder of varints whose last byte has the highest bit set; zeros past the end.
pub(crate) struct Vints<'a>(pub(crate) &'a [u8]);

impl Iterator for Vints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut number = 0u32;
        for shift in (0..35).step_by(7) {
            let Some((byte, rest)) = self.0.split_first() else {
                break;
            };
            self.0 = rest;
            number |= u32::from(byte & 127).checked_shl(shift).unwrap_or_default();
            if *byte >= 128 {
                break;
            }
        }
        Some(number)
    }
}

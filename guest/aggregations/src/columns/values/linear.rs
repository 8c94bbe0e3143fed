//! Values in blocks of 512 rows, each with a line and packed distances from it.
//!
//! ```text
//! distances of block 0, 1, …  │ for each block: vint slope, vint intercept, u8 width │ u32 length of these
//! ```
//!
//! The code of row `i` of a block is `min + gcd * (intercept + slope * i / 2^32 + distance)`, modulo 2^64,
//! where the quotient is a signed number of 32 bits.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use tantivy::directory::OwnedBytes;

use super::{count_rows, index, no_such_rows};
use crate::columns::kernels::{
    GROUP_ROWS, MAX_PLANES, count_narrow, gather, load, low_bits, unpack,
};
use crate::columns::layout::{Cursor, Stats, check_width, damaged, packed_len_bytes};

/// Number of rows in a block; the last block may have fewer.
const BLOCK_ROWS: u32 = 512;

/// Values in blocks of 512 rows, each with its own line and width.
#[derive(Clone)]
pub(crate) struct LinearValues {
    data: OwnedBytes,
    blocks: Arc<[Block]>,
    stats: Stats,
}

#[derive(Clone, Copy)]
struct Block {
    slope: u64,
    intercept: u64,
    /// Offset of the distances.
    at: usize,
    width: u8,
}

impl LinearValues {
    pub(crate) fn open(stats: Stats, data: &OwnedBytes) -> io::Result<Self> {
        let mut cursor = Cursor::new(data);
        let footer_len = cursor.len_from_end()?;
        let mut footer = Cursor::new(cursor.bytes_from_end(footer_len)?);
        let num_blocks = index(stats.num_rows.div_ceil(BLOCK_ROWS));
        // A block takes at least three bytes, which limits the allocation for a false number of
        // rows.
        let mut blocks = Vec::with_capacity(num_blocks.min(footer_len / 3));
        let (mut at, mut rows_left) = (0usize, stats.num_rows);
        for _ in 0..num_blocks {
            let (slope, intercept) = (footer.vint()?, footer.vint()?);
            let width = check_width(footer.u8()?)?;
            blocks.push(Block {
                slope,
                intercept,
                at,
                width,
            });
            let len = packed_len_bytes(rows_left.min(BLOCK_ROWS), width);
            at = len
                .and_then(|len| at.checked_add(len))
                .unwrap_or(usize::MAX);
            rows_left = rows_left.saturating_sub(BLOCK_ROWS);
        }
        if at > cursor.len() {
            return Err(damaged("it has fewer values than rows"));
        }
        Ok(Self {
            data: data.slice(0..at),
            blocks: blocks.into(),
            stats,
        })
    }

    /// See [`Values::num_rows`](super::Values::num_rows).
    pub(crate) fn num_rows(&self) -> u32 {
        self.stats.num_rows
    }

    /// See [`Values::min`](super::Values::min).
    pub(crate) fn min(&self) -> u64 {
        self.stats.min
    }

    /// See [`Values::max`](super::Values::max).
    pub(crate) fn max(&self) -> u64 {
        self.stats.max
    }

    /// See [`Values::decode`](super::Values::decode).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn decode(&self, rows: Range<u32>, out: &mut Vec<u64>) -> io::Result<()> {
        out.resize(count_rows(&rows, self.num_rows())?, 0);
        let (mut from, mut rest) = (rows.start, out.as_mut_slice());
        while !rest.is_empty() {
            let len = index(BLOCK_ROWS.saturating_sub(from % BLOCK_ROWS)).min(rest.len());
            let (now, later) = rest.split_at_mut_checked(len).unwrap_or_default();
            self.decode_in_block(from, now);
            from = from.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
            rest = later;
        }
        Ok(())
    }

    /// See [`Values::gather`](super::Values::gather).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn gather(&self, rows: &[u32], out: &mut Vec<u64>) -> io::Result<()> {
        out.resize(rows.len(), 0);
        let mut rest = out.as_mut_slice();
        for of_block in rows.chunk_by(|a, b| a / BLOCK_ROWS == b / BLOCK_ROWS) {
            let (now, later) = rest
                .split_at_mut_checked(of_block.len())
                .unwrap_or_default();
            self.gather_in_block(of_block, now)?;
            rest = later;
        }
        Ok(())
    }

    /// See [`Values::raw_gcd`](super::Values::raw_gcd).
    pub(crate) fn raw_gcd(&self) -> u64 {
        self.stats.gcd
    }

    /// See [`Values::count_raw`](super::Values::count_raw).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn count_raw(&self, rows: Range<u32>, counts: &mut [u64]) -> io::Result<()> {
        let len = u32::try_from(count_rows(&rows, self.num_rows())?).unwrap_or(u32::MAX);
        let end = rows.start.saturating_add(len);
        let mut from = rows.start;
        while from < end {
            let next = from
                .saturating_sub(from % BLOCK_ROWS)
                .saturating_add(BLOCK_ROWS)
                .min(end);
            let len = next.saturating_sub(from);
            if !self.count_flat(from, len, counts) {
                self.count_decoded(from, len, counts);
            }
            from = next;
        }
        Ok(())
    }

    /// Counts rows of one block in packed form, if its line is level and its distances are narrow.
    /// Returns whether it did.
    fn count_flat(&self, from: u32, len: u32, counts: &mut [u64]) -> bool {
        let Some(block) = self.blocks.get(index(from / BLOCK_ROWS)) else {
            return false;
        };
        let last = u64::from(BLOCK_ROWS - 1);
        let is_level =
            block.slope <= u64::from(u32::MAX) && rise(block.slope.wrapping_mul(last)) == 0;
        if !is_level || block.width > MAX_PLANES {
            return false;
        }
        if block.width == 0 {
            add(counts, block.intercept, u64::from(len));
            return true;
        }
        let data = self.data.get(block.at..).unwrap_or_default();
        let found = count_narrow(data, block.width, from % BLOCK_ROWS, len);
        let num_codes = 1usize << block.width;
        for (distance, number) in (0u64..).zip(found.iter().take(num_codes)) {
            if *number > 0 {
                add(counts, block.intercept.wrapping_add(distance), *number);
            }
        }
        true
    }

    /// Counts rows of one block after decoding them.
    #[inline(never)]
    fn count_decoded(&self, from: u32, len: u32, counts: &mut [u64]) {
        let mut codes = [0u64; BLOCK_ROWS as usize];
        let codes = codes.get_mut(..index(len)).unwrap_or_default();
        self.raw_in_block(from, codes);
        codes.iter().for_each(|raw| add(counts, *raw, 1));
    }

    /// See [`Values::get`](super::Values::get).
    ///
    /// # Errors
    /// `InvalidInput` if the row does not exist.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> io::Result<u64> {
        let (block, data) = self
            .block_of(row)
            .filter(|_| row < self.num_rows())
            .ok_or_else(|| no_such_rows(self.num_rows()))?;
        let place = row % BLOCK_ROWS;
        let bit = u64::from(place).wrapping_mul(u64::from(block.width));
        let distance = load(data, bit) & low_bits(u32::from(block.width));
        let mut code = [distance
            .wrapping_add(block.intercept)
            .wrapping_add(rise(block.slope.wrapping_mul(u64::from(place))))];
        self.stats.codes_of_raw(&mut code);
        let [code] = code;
        Ok(code)
    }

    /// Decodes the codes of rows from `start`, all within one block.
    fn decode_in_block(&self, start: u32, out: &mut [u64]) {
        self.raw_in_block(start, out);
        self.stats.codes_of_raw(out);
    }

    /// Decodes the raw values of rows from `start`, all within one block.
    fn raw_in_block(&self, start: u32, out: &mut [u64]) {
        let Some(block) = self.blocks.get(index(start / BLOCK_ROWS)) else {
            return;
        };
        let first = start % BLOCK_ROWS;
        let skip = index(first % 8);
        let group = index(first / 8).saturating_mul(usize::from(block.width));
        let data = self
            .data
            .get(block.at.saturating_add(group)..)
            .unwrap_or_default();
        if skip == 0 {
            unpack(data, block.width, out);
        } else {
            let mut head = [0; GROUP_ROWS];
            unpack(data, block.width, &mut head);
            let head_len = GROUP_ROWS.saturating_sub(skip).min(out.len());
            let (of_head, rest) = out.split_at_mut_checked(head_len).unwrap_or_default();
            for (out, distance) in of_head.iter_mut().zip(head.into_iter().skip(skip)) {
                *out = distance;
            }
            unpack(
                data.get(usize::from(block.width)..).unwrap_or_default(),
                block.width,
                rest,
            );
        }
        // Adds the line from `first` on. The product of slope and position grows by one slope for
        // each row, modulo 2^64.
        let mut product = block.slope.wrapping_mul(u64::from(first));
        for out in out.iter_mut() {
            *out = out
                .wrapping_add(block.intercept)
                .wrapping_add(rise(product));
            product = product.wrapping_add(block.slope);
        }
    }

    /// Decodes the codes of listed rows, all within one block.
    fn gather_in_block(&self, rows: &[u32], out: &mut [u64]) -> io::Result<()> {
        let first = rows.first().copied().unwrap_or_default();
        let found = self.block_of(first);
        let (block, data) = found.ok_or_else(|| no_such_rows(self.num_rows()))?;
        let before = first.saturating_sub(first % BLOCK_ROWS);
        let in_block = self.num_rows().saturating_sub(before).min(BLOCK_ROWS);
        // At most one block's rows at a time, even if a list repeats rows.
        let mut places = [0u32; BLOCK_ROWS as usize];
        for (rows, out) in rows.chunks(places.len()).zip(out.chunks_mut(places.len())) {
            let places = places.get_mut(..rows.len()).unwrap_or_default();
            for (place, row) in places.iter_mut().zip(rows) {
                *place = row % BLOCK_ROWS;
            }
            if !gather(data, block.width, in_block, places, out) {
                return Err(no_such_rows(self.num_rows()));
            }
            for (place, out) in places.iter().zip(out.iter_mut()) {
                let product = block.slope.wrapping_mul(u64::from(*place));
                *out = out
                    .wrapping_add(block.intercept)
                    .wrapping_add(rise(product));
            }
            self.stats.codes_of_raw(out);
        }
        Ok(())
    }

    /// Returns the block of a row, and exactly the bytes of its distances.
    fn block_of(&self, row: u32) -> Option<(&Block, &[u8])> {
        let ord = index(row / BLOCK_ROWS);
        let block = self.blocks.get(ord)?;
        let end = self
            .blocks
            .get(ord.saturating_add(1))
            .map_or(self.data.len(), |next| next.at);
        Some((block, self.data.get(block.at..end)?))
    }
}

/// Adds to the count of a raw value. One outside of `counts` is damage, and is ignored.
fn add(counts: &mut [u64], raw: u64, number: u64) {
    let place = usize::try_from(raw).unwrap_or(usize::MAX);
    if let Some(count) = counts.get_mut(place) {
        *count = count.saturating_add(number);
    }
}

/// Returns the rise of a line: bits 32 to 63 of the product of its slope and a position, as a
/// signed number.
#[inline(always)]
fn rise(product: u64) -> u64 {
    // Flipping the sign bit and subtracting it extends the sign in steps that processors can
    // vectorize; many lack a signed 64-bit shift.
    const SIGN: u64 = 1 << 31;
    ((product >> 32) ^ SIGN).wrapping_sub(SIGN)
}

impl fmt::Debug for LinearValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LinearValues({:?})", self.stats)
    }
}

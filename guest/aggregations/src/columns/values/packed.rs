//! Values packed at one width.

use std::fmt;
use std::io;
use std::ops::Range;

use tantivy::directory::OwnedBytes;

use super::{count_rows, index, no_such_rows};
use crate::columns::kernels::{
    Code, GROUP_ROWS, MAX_PLANES, Tally, count_bytes, count_narrow, gather, load, low_bits, select,
    unpack, within,
};
use crate::columns::layout::{Stats, damaged, packed_len_bytes};

/// Maximum width of raw values that can be counted: 2^16 counts.
pub(crate) const MAX_COUNTED_WIDTH: u8 = 16;

/// Number of rows unpacked before further processing, so that they stay in the L1 cache.
const BLOCK_ROWS: usize = 1024;

/// Values packed at one width: the code of a row is `raw_min + raw_gcd * raw`.
#[derive(Clone)]
pub(crate) struct PackedValues {
    /// Bytes of exactly all rows.
    data: OwnedBytes,
    width: u8,
    stats: Stats,
}

impl PackedValues {
    pub(crate) fn open(stats: Stats, data: OwnedBytes) -> io::Result<Self> {
        let width = stats.width();
        let len = packed_len_bytes(stats.num_rows, width).filter(|len| *len <= data.len());
        let len = len.ok_or_else(|| damaged("it has fewer values than rows"))?;
        let data = data.slice(0..len);
        Ok(Self { data, width, stats })
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

    /// Returns the number of bits of a raw value: 0 to 56, or 64.
    pub(crate) fn raw_width(&self) -> u8 {
        self.width
    }

    /// Returns the code of the raw value 0.
    pub(crate) fn raw_min(&self) -> u64 {
        self.stats.min
    }

    /// Returns the distance between the codes of consecutive raw values. Never 0.
    pub(crate) fn raw_gcd(&self) -> u64 {
        self.stats.gcd
    }

    /// Returns the raw value of the largest code according to the column's head; it has the common
    /// width.
    pub(crate) fn raw_max(&self) -> u64 {
        self.stats.max_raw
    }

    /// See [`Values::get`](super::Values::get).
    ///
    /// # Errors
    /// `InvalidInput` if the row does not exist.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> io::Result<u64> {
        if row >= self.num_rows() {
            return Err(no_such_rows(self.num_rows()));
        }
        let bit = u64::from(row).wrapping_mul(u64::from(self.width));
        let mut code = [load(&self.data, bit) & low_bits(u32::from(self.width))];
        self.stats.codes_of_raw(&mut code);
        let [code] = code;
        Ok(code)
    }

    /// See [`Values::decode`](super::Values::decode).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn decode(&self, rows: Range<u32>, out: &mut Vec<u64>) -> io::Result<()> {
        out.resize(count_rows(&rows, self.num_rows())?, 0);
        self.for_blocks(rows.start, out, |codes| self.stats.codes_of_raw(codes));
        Ok(())
    }

    /// See [`Values::gather`](super::Values::gather).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn gather(&self, rows: &[u32], out: &mut Vec<u64>) -> io::Result<()> {
        out.resize(rows.len(), 0);
        for (rows, out) in rows.chunks(BLOCK_ROWS).zip(out.chunks_mut(BLOCK_ROWS)) {
            self.gather_raw(rows, out)?;
            self.stats.codes_of_raw(out);
        }
        Ok(())
    }

    /// Replaces `out` by the raw values of a range of rows.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist, or if raw values are wider than 32 bits.
    pub(crate) fn decode_raw_u32(&self, rows: Range<u32>, out: &mut Vec<u32>) -> io::Result<()> {
        self.check_width(u32::BITS)?;
        out.resize(count_rows(&rows, self.num_rows())?, 0);
        self.for_blocks(rows.start, out, |_| ());
        Ok(())
    }

    /// Selects the rows of an existing range whose raw values are at most `span` above `least`; see
    /// [`Values::select`](super::Values::select). Raw values have at most 32 bits.
    pub(super) fn select_narrow(&self, start: u32, len: usize, range: [u32; 2], words: &mut [u64]) {
        let [least, span] = range;
        // The last rows may not fill a word.
        let whole = words.get_mut(..len / 64).unwrap_or_default();
        let num_done = select(self.bytes_from(start), self.width, start % 8, range, whole);
        let words = words.get_mut(num_done..).unwrap_or_default();
        let num_done = num_done.saturating_mul(64);
        let start = start.saturating_add(u32::try_from(num_done).unwrap_or(u32::MAX));
        let len = len.saturating_sub(num_done);
        let mut block = [0u32; BLOCK_ROWS];
        let mut words = words.chunks_mut(BLOCK_ROWS / 64);
        self.for_rows(start, len, &mut block, |codes| {
            within(codes, least, span, words.next().unwrap_or_default());
        });
    }

    /// Replaces `out` by the raw values of listed rows. Ascending lists are fast; any order is
    /// correct.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist, or if raw values are wider than 32 bits.
    pub(crate) fn gather_raw_u32(&self, rows: &[u32], out: &mut Vec<u32>) -> io::Result<()> {
        self.check_width(u32::BITS)?;
        out.resize(rows.len(), 0);
        self.gather_raw(rows, out)
    }

    /// Adds to `counts[raw]` the number of rows of a range with each raw value, saturating at
    /// `u64::MAX`.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist, if raw values are wider than [`MAX_COUNTED_WIDTH`],
    /// or if `counts` has no entry for [`raw_max`](Self::raw_max). `InvalidData` if a row has a
    /// value outside of `counts`, which only damage causes; other rows may have been counted then.
    pub(crate) fn count_raw(&self, rows: Range<u32>, counts: &mut [u64]) -> io::Result<()> {
        let len = count_rows(&rows, self.num_rows())?;
        self.check_counts(counts)?;
        let num_rows = u32::try_from(len).unwrap_or(u32::MAX);
        if self.width == 0 {
            if let Some(count) = counts.first_mut() {
                *count = count.saturating_add(u64::from(num_rows));
            }
            return Ok(());
        }
        if self.width <= MAX_PLANES {
            return self.count_narrow(rows.start, num_rows, counts);
        }
        // Rows before the first whole byte, and those after the fast loops, are unpacked.
        let head = (rows.start.wrapping_neg() % 8).min(num_rows);
        let is_inside = self.count_unpacked(rows.start, index(head), counts);
        let from = rows.start.saturating_add(head);
        let left = num_rows.saturating_sub(head);
        let (num_done, is_rest_inside) =
            count_bytes(self.bytes_from(from), self.width, left, counts);
        let is_inside = is_inside && is_rest_inside;
        let from = from.saturating_add(num_done);
        let left = index(left.saturating_sub(num_done));
        let is_rest_inside = self.count_unpacked(from, left, counts);
        self.counted(is_inside && is_rest_inside)
    }

    /// Adds to `counts[raw]` the number of listed rows with each raw value, saturating at
    /// `u64::MAX`. Ascending lists are fast; any order is correct, and repeated rows count
    /// repeatedly.
    ///
    /// # Errors
    /// As [`count_raw`](Self::count_raw).
    pub(crate) fn count_raw_at(&self, rows: &[u32], counts: &mut [u64]) -> io::Result<()> {
        self.check_counts(counts)?;
        let mut tally = Tally::new(counts, self.width, rows.len());
        let mut block = [0u32; BLOCK_ROWS];
        for rows in rows.chunks(BLOCK_ROWS) {
            let codes = block.get_mut(..rows.len()).unwrap_or_default();
            self.gather_raw(rows, codes)?;
            tally.add(codes);
        }
        self.counted(tally.finish())
    }

    /// Counts values of at most [`MAX_PLANES`] bits.
    fn count_narrow(&self, start: u32, num_rows: u32, counts: &mut [u64]) -> io::Result<()> {
        let data = self.bytes_from(start);
        let found = count_narrow(data, self.width, start % 8, num_rows);
        let mut is_inside = true;
        for (raw, number) in found.iter().enumerate() {
            match counts.get_mut(raw) {
                Some(count) => *count = count.saturating_add(*number),
                None => is_inside &= *number == 0,
            }
        }
        self.counted(is_inside)
    }

    /// Counts values after unpacking them. Returns `false` if some are outside of `counts`.
    fn count_unpacked(&self, start: u32, len: usize, counts: &mut [u64]) -> bool {
        if len == 0 {
            return true;
        }
        let mut tally = Tally::new(counts, self.width, len);
        let mut block = [0u32; BLOCK_ROWS];
        self.for_rows(start, len, &mut block, |codes| tally.add(codes));
        tally.finish()
    }

    /// Unpacks the rows from `start` that fit `out`, in blocks that are passed to `then` while they
    /// are in the cache.
    fn for_blocks<T: Code>(&self, start: u32, out: &mut [T], mut then: impl FnMut(&mut [T])) {
        let mut from = start;
        for block in out.chunks_mut(BLOCK_ROWS) {
            self.unpack_rows(from, block);
            then(block);
            from = from.saturating_add(u32::try_from(block.len()).unwrap_or(u32::MAX));
        }
    }

    /// Unpacks `len` rows from `start`, one block at a time.
    fn for_rows(&self, start: u32, len: usize, block: &mut [u32], mut then: impl FnMut(&[u32])) {
        let (mut from, mut left) = (start, len);
        while left > 0 && !block.is_empty() {
            let now = left.min(block.len());
            let codes = block.get_mut(..now).unwrap_or_default();
            self.unpack_rows(from, codes);
            then(codes);
            left = left.saturating_sub(now);
            from = from.saturating_add(u32::try_from(now).unwrap_or(u32::MAX));
        }
    }

    /// Unpacks the rows from `start` that fit `out`; all of them must exist.
    fn unpack_rows<T: Code>(&self, start: u32, out: &mut [T]) {
        let skip = index(start % 8);
        if skip == 0 {
            unpack(self.bytes_from(start), self.width, out);
            return;
        }
        let mut first = [T::default(); GROUP_ROWS];
        unpack(self.bytes_from(start), self.width, &mut first);
        let head_len = GROUP_ROWS.saturating_sub(skip).min(out.len());
        let (head, rest) = out.split_at_mut_checked(head_len).unwrap_or_default();
        for (out, code) in head.iter_mut().zip(first.into_iter().skip(skip)) {
            *out = code;
        }
        if !rest.is_empty() {
            unpack(self.bytes_from(start.saturating_add(8)), self.width, rest);
        }
    }

    /// Returns the bytes from the group of eight rows that contains `row`.
    fn bytes_from(&self, row: u32) -> &[u8] {
        let byte = u64::from(row / 8).saturating_mul(u64::from(self.width));
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        self.data.get(byte..).unwrap_or_default()
    }

    fn gather_raw<T: Code>(&self, rows: &[u32], out: &mut [T]) -> io::Result<()> {
        if gather(&self.data, self.width, self.num_rows(), rows, out) {
            Ok(())
        } else {
            Err(no_such_rows(self.num_rows()))
        }
    }

    fn check_width(&self, at_most: u32) -> io::Result<()> {
        if u32::from(self.width) <= at_most {
            return Ok(());
        }
        let message = format!(
            "raw values of {} bits are asked for as {at_most}",
            self.width
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    fn check_counts(&self, counts: &[u64]) -> io::Result<()> {
        self.check_width(u32::from(MAX_COUNTED_WIDTH))?;
        if usize::try_from(self.stats.max_raw).is_ok_and(|max| max < counts.len()) {
            return Ok(());
        }
        let message = format!(
            "{} counts are too few for codes up to {}",
            counts.len(),
            self.stats.max_raw
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    fn counted(&self, inside: bool) -> io::Result<()> {
        if inside {
            Ok(())
        } else {
            Err(damaged("it has values beyond its greatest"))
        }
    }
}

impl fmt::Debug for PackedValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "PackedValues({} bits, {:?})",
            self.width, self.stats
        )
    }
}

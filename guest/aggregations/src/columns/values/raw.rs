//! Raw values: codes without their minimum and divisor. If there are few distinct ones, they are
//! small enough to be counted.

use std::io;
use std::ops::Range;

use super::{MAX_COUNTED_WIDTH, Values};

/// Number of rows decoded at once.
const ROWS_AT_ONCE: u32 = 4096;

impl Values {
    /// Returns the code of the raw value 0.
    pub(crate) fn raw_min(&self) -> u64 {
        match self {
            Self::Packed(packed) => packed.raw_min(),
            _ => self.min(),
        }
    }

    /// Returns the distance between the codes of consecutive raw values. Never 0.
    pub(crate) fn raw_gcd(&self) -> u64 {
        match self {
            Self::Packed(packed) => packed.raw_gcd(),
            Self::Linear(linear) => linear.raw_gcd().max(1),
            Self::Other(_) => 1,
        }
    }

    /// Returns the exclusive upper bound of all raw values, if it fits.
    pub(crate) fn num_raw(&self) -> Option<u64> {
        if let Self::Packed(packed) = self {
            return packed.raw_max().checked_add(1);
        }
        let width = self.max().checked_sub(self.min())?;
        (width / self.raw_gcd()).checked_add(1)
    }

    /// Returns the number of raw values, if they are few enough to be counted in a table.
    pub(crate) fn num_counted(&self) -> Option<usize> {
        let num_raw = self.num_raw()?;
        let is_counted = num_raw <= 1 << MAX_COUNTED_WIDTH;
        usize::try_from(num_raw).ok().filter(|_| is_counted)
    }

    /// Converts codes to raw values.
    pub(crate) fn to_raw(&self, codes: &mut [u64]) {
        let (min, gcd) = (self.raw_min(), self.raw_gcd());
        match gcd {
            1 if min == 0 => {}
            1 => codes
                .iter_mut()
                .for_each(|code| *code = code.wrapping_sub(min)),
            _ => codes
                .iter_mut()
                .for_each(|code| *code = code.wrapping_sub(min) / gcd),
        }
    }

    /// Replaces `out` by the raw values of a range of rows, if they can be counted.
    ///
    /// # Errors
    /// As [`Self::count_raw`].
    pub(crate) fn decode_raw(&self, rows: Range<u32>, out: &mut Vec<u32>) -> io::Result<()> {
        match self {
            Self::Packed(packed) if packed.raw_width() <= MAX_COUNTED_WIDTH => {
                packed.decode_raw_u32(rows, out)
            }
            _ => {
                let mut codes = Vec::new();
                self.decode(rows, &mut codes)?;
                self.narrow(&mut codes, out);
                Ok(())
            }
        }
    }

    /// Replaces `out` by the raw values of listed rows, as [`Self::decode_raw`].
    ///
    /// # Errors
    /// As [`Self::count_raw`].
    pub(crate) fn gather_raw(&self, rows: &[u32], out: &mut Vec<u32>) -> io::Result<()> {
        match self {
            Self::Packed(packed) if packed.raw_width() <= MAX_COUNTED_WIDTH => {
                packed.gather_raw_u32(rows, out)
            }
            _ => {
                let mut codes = Vec::new();
                self.gather(rows, &mut codes)?;
                self.narrow(&mut codes, out);
                Ok(())
            }
        }
    }

    fn narrow(&self, codes: &mut [u64], out: &mut Vec<u32>) {
        self.to_raw(codes);
        out.clear();
        let narrow = |raw: &u64| u32::try_from(*raw).unwrap_or(u32::MAX);
        out.extend(codes.iter().map(narrow));
    }

    /// Adds to `counts[raw]` the number of rows of a range with each raw value. `counts` must have
    /// an entry for each.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist; `InvalidData` for values that only damage causes.
    pub(crate) fn count_raw(&self, rows: Range<u32>, counts: &mut [u64]) -> io::Result<()> {
        match self {
            Self::Packed(packed) if packed.raw_width() <= MAX_COUNTED_WIDTH => {
                packed.count_raw(rows, counts)
            }
            Self::Linear(linear) => linear.count_raw(rows, counts),
            _ => {
                let mut codes = Vec::new();
                let mut from = rows.start;
                while from < rows.end {
                    let next = from.saturating_add(ROWS_AT_ONCE).min(rows.end);
                    self.decode(from..next, &mut codes)?;
                    self.count_codes(&mut codes, counts);
                    from = next;
                }
                Ok(())
            }
        }
    }

    /// Counts listed rows, as [`Self::count_raw`].
    ///
    /// # Errors
    /// As [`Self::count_raw`].
    pub(crate) fn count_raw_at(&self, rows: &[u32], counts: &mut [u64]) -> io::Result<()> {
        match self {
            Self::Packed(packed) if packed.raw_width() <= MAX_COUNTED_WIDTH => {
                packed.count_raw_at(rows, counts)
            }
            _ => {
                let mut codes = Vec::new();
                for rows in rows.chunks(ROWS_AT_ONCE as usize) {
                    self.gather(rows, &mut codes)?;
                    self.count_codes(&mut codes, counts);
                }
                Ok(())
            }
        }
    }

    fn count_codes(&self, codes: &mut [u64], counts: &mut [u64]) {
        self.to_raw(codes);
        for raw in codes {
            let place = usize::try_from(*raw).unwrap_or(usize::MAX);
            if let Some(count) = counts.get_mut(place) {
                *count = count.saturating_add(1);
            }
        }
    }
}

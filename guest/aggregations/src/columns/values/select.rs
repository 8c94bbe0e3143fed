//! Which rows have codes within a range.

use std::io;
use std::ops::{Range, RangeInclusive};

use super::{PackedValues, Values, count_rows};
use crate::columns::kernels::within;

/// Rows that are decoded together; whole words of bits.
const ROWS_AT_ONCE: u32 = 1024;

impl Values {
    /// Says which rows of a range have codes within `wanted`: replaces `words` by a bit for each row, that of the
    /// first being the lowest of the first word.
    ///
    /// # Errors
    /// `InvalidInput` if rows of the range do not exist.
    pub(crate) fn select(
        &self,
        rows: Range<u32>,
        wanted: &RangeInclusive<u64>,
        words: &mut Vec<u64>,
    ) -> io::Result<()> {
        let len = count_rows(&rows, self.num_rows())?;
        words.clear();
        words.resize(len.div_ceil(64), 0);
        let (least, greatest) = (*wanted.start(), *wanted.end());
        let Some(span) = greatest.checked_sub(least) else {
            return Ok(());
        };
        if let Self::Packed(packed) = self
            && packed.raw_width() <= 32
        {
            if let Some(range) = raw_range(packed, least, greatest) {
                packed.select_narrow(rows.start, len, range, words);
            }
            return Ok(());
        }
        let mut codes = Vec::new();
        let mut from = rows.start;
        for words in words.chunks_mut(ROWS_AT_ONCE as usize / 64) {
            let next = from.saturating_add(ROWS_AT_ONCE).min(rows.end);
            self.decode(from..next, &mut codes)?;
            within(&codes, least, span, words);
            from = next;
        }
        Ok(())
    }
}

/// The raw values whose codes are in a range: the least, and how far the greatest is above it. `None` if none is.
fn raw_range(packed: &PackedValues, least: u64, greatest: u64) -> Option<[u32; 2]> {
    let (min, gcd) = (packed.raw_min(), packed.raw_gcd());
    let least = least.saturating_sub(min).div_ceil(gcd);
    let greatest = greatest.checked_sub(min)? / gcd;
    // Values of 32 bits are none above; those below are all of which there are more.
    let least = u32::try_from(least).ok()?;
    let greatest = u32::try_from(greatest).unwrap_or(u32::MAX);
    Some([least, greatest.checked_sub(least)?])
}

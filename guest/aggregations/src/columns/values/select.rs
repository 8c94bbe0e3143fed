//! Selection of rows with codes within a range.

use std::io;
use std::ops::{Range, RangeInclusive};

use super::{PackedValues, Values, count_rows};
use crate::columns::kernels::within;

/// Number of rows decoded at once; a multiple of a word's bits.
const ROWS_AT_ONCE: u32 = 1024;

impl Values {
    /// Replaces `words` by one bit for each row of a range: whether its code is within `wanted`.
    /// The lowest bit of the first word is that of the first row.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
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

/// Returns the raw values whose codes are in a range, as the smallest one and the distance to the
/// largest; `None` if there are none.
fn raw_range(packed: &PackedValues, least: u64, greatest: u64) -> Option<[u32; 2]> {
    let (min, gcd) = (packed.raw_min(), packed.raw_gcd());
    let least = least.saturating_sub(min).div_ceil(gcd);
    let greatest = greatest.checked_sub(min)? / gcd;
    // No raw value exceeds 32 bits, so a larger upper bound includes all.
    let least = u32::try_from(least).ok()?;
    let greatest = u32::try_from(greatest).unwrap_or(u32::MAX);
    Some([least, greatest.checked_sub(least)?])
}

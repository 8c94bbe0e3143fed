//! The head of a column's values: which codec, and the numbers from which codes are made.

use std::io;

use super::{Cursor, damaged};

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// `(code - min) / gcd`, all of one width.
    Packed,
    /// One line, and the distance of each value from it.
    Linear,
    /// Blocks of 512 rows, each with a line and a width of its own.
    BlockwiseLinear,
}

/// What stands before the values, whatever the codec: `code = min + gcd * raw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stats {
    pub(crate) min: u64,
    pub(crate) gcd: u64,
    /// The raw value of the greatest code.
    pub(crate) max_raw: u64,
    /// The greatest code.
    pub(crate) max: u64,
    pub(crate) num_rows: u32,
}

impl Codec {
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> io::Result<Self> {
        match cursor.u8()? {
            0 => Ok(Self::Packed),
            1 => Ok(Self::Linear),
            2 => Ok(Self::BlockwiseLinear),
            _ => Err(damaged("its codec is unknown")),
        }
    }
}

impl Stats {
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> io::Result<Self> {
        let (min, gcd, max_raw) = (cursor.vint()?, cursor.vint()?, cursor.vint()?);
        let num_rows = cursor.vint_u32()?;
        if gcd == 0 {
            return Err(damaged("its divisor is 0"));
        }
        let max = gcd
            .checked_mul(max_raw)
            .and_then(|amplitude| min.checked_add(amplitude));
        let max = max.ok_or_else(|| damaged("its greatest value is out of range"))?;
        Ok(Self {
            min,
            gcd,
            max_raw,
            max,
            num_rows,
        })
    }

    /// Bits for each raw value: what the greatest takes, but 64 from 57 on, so that eight bytes from where
    /// a value begins hold all of it.
    pub(crate) fn width(&self) -> u8 {
        let bits = u64::BITS.saturating_sub(self.max_raw.leading_zeros());
        u8::try_from(bits)
            .ok()
            .filter(|bits| *bits <= 56)
            .unwrap_or(64)
    }

    /// Replaces raw values by their codes. Damaged ones may wrap or lose bits, and are then as wrong as
    /// they were.
    #[inline]
    pub(crate) fn codes_of_raw(&self, raw: &mut [u64]) {
        const HALF: u64 = 0xFFFF_FFFF;
        let (min, gcd) = (self.min, self.gcd);
        if gcd == 1 {
            if min != 0 {
                raw.iter_mut().for_each(|raw| *raw = min.wrapping_add(*raw));
            }
        } else if gcd <= HALF && self.max_raw <= HALF {
            // Products of 32 by 32 bits are one instruction for two or four of them; those of 64 bits are
            // not.
            let gcd = gcd & HALF;
            raw.iter_mut()
                .for_each(|raw| *raw = min.wrapping_add(gcd.wrapping_mul(*raw & HALF)));
        } else {
            raw.iter_mut()
                .for_each(|raw| *raw = min.wrapping_add(gcd.wrapping_mul(*raw)));
        }
    }
}

/// The bytes that `num_rows` values of `width` bits take; `None` if they cannot be addressed.
pub(crate) fn packed_len_bytes(num_rows: u32, width: u8) -> Option<usize> {
    let bits = u64::from(num_rows).checked_mul(u64::from(width))?;
    usize::try_from(bits.div_ceil(8)).ok()
}

/// A width that an unpacker takes.
pub(crate) fn check_width(width: u8) -> io::Result<u8> {
    if width <= 56 || width == 64 {
        Ok(width)
    } else {
        Err(damaged("it has values of a width that is never written"))
    }
}

/// Looks at what follows the head of values along one line.
pub(crate) fn check_linear(mut cursor: Cursor<'_>, num_rows: u32) -> io::Result<()> {
    let (_slope, _intercept) = (cursor.vint()?, cursor.vint()?);
    let width = check_width(cursor.u8()?)?;
    match packed_len_bytes(num_rows, width) {
        Some(len) if len <= cursor.len() => Ok(()),
        _ => Err(damaged("it has fewer values than rows")),
    }
}

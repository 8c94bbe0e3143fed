//! Head of a column's values: the codec, and the numbers that codes derive from.

use std::io;

use super::{Cursor, damaged};

/// Encoding of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// `(code - min) / gcd`, all of one width.
    Packed,
    /// One line, and the distance of each value from it.
    Linear,
    /// Blocks of 512 rows, each with its own line and width.
    BlockwiseLinear,
}

/// Numbers before the values, for every codec: `code = min + gcd * raw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stats {
    pub(crate) min: u64,
    pub(crate) gcd: u64,
    /// Raw value of the largest code.
    pub(crate) max_raw: u64,
    /// Largest code.
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

    /// Returns the number of bits of each raw value: as many as the largest needs, but 64 from 57
    /// on, so that eight bytes from the start of a value contain all of it.
    pub(crate) fn width(&self) -> u8 {
        let bits = u64::BITS.saturating_sub(self.max_raw.leading_zeros());
        u8::try_from(bits)
            .ok()
            .filter(|bits| *bits <= 56)
            .unwrap_or(64)
    }

    /// Replaces raw values by their codes. Damaged values may wrap or lose bits, and stay wrong.
    #[inline]
    pub(crate) fn codes_of_raw(&self, raw: &mut [u64]) {
        const HALF: u64 = 0xFFFF_FFFF;
        let (min, gcd) = (self.min, self.gcd);
        if gcd == 1 {
            if min != 0 {
                raw.iter_mut().for_each(|raw| *raw = min.wrapping_add(*raw));
            }
        } else if gcd <= HALF && self.max_raw <= HALF {
            // Products of 32-bit numbers are single instructions for two or four of them; those of
            // 64-bit numbers are not.
            let gcd = gcd & HALF;
            raw.iter_mut()
                .for_each(|raw| *raw = min.wrapping_add(gcd.wrapping_mul(*raw & HALF)));
        } else {
            raw.iter_mut()
                .for_each(|raw| *raw = min.wrapping_add(gcd.wrapping_mul(*raw)));
        }
    }
}

/// Returns the number of bytes of `num_rows` values of `width` bits, or `None` if it exceeds the
/// address space.
pub(crate) fn packed_len_bytes(num_rows: u32, width: u8) -> Option<usize> {
    let bits = u64::from(num_rows).checked_mul(u64::from(width))?;
    usize::try_from(bits.div_ceil(8)).ok()
}

/// Checks that the unpacker supports a width.
pub(crate) fn check_width(width: u8) -> io::Result<u8> {
    if width <= 56 || width == 64 {
        Ok(width)
    } else {
        Err(damaged("it has values of a width that is never written"))
    }
}

/// Validates the data after the head of values along one line.
pub(crate) fn check_linear(mut cursor: Cursor<'_>, num_rows: u32) -> io::Result<()> {
    let (_slope, _intercept) = (cursor.vint()?, cursor.vint()?);
    let width = check_width(cursor.u8()?)?;
    match packed_len_bytes(num_rows, width) {
        Some(len) if len <= cursor.len() => Ok(()),
        _ => Err(damaged("it has fewer values than rows")),
    }
}

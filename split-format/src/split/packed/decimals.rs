//! Words of a column of floating-point numbers, as whole numbers.
//!
//! tantivy maps a number to 64 bits that are ordered as numbers are, and packs what these are above the column's least, divided
//! by what all of them are multiples of, in words of equally many bits. Of numbers such as 52.5162 hardly a bit of a word says
//! nothing, so that words of 64 bits are the rule. Digits take less: 525162 has 20.

use crate::FormatError;
use crate::codec::bits::{BitWriter, bits_at, num_bytes_of};
use crate::codec::{Reader, Writer};
use crate::version::FILE_TABLE;

/// How a column packs its words: the number of a word is the one that `base + gcd * word` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// The column's least value.
    pub base: u64,
    /// What the others are above it are multiples of this.
    pub gcd: u64,
    /// Bits of a word, 1 to 64.
    pub width: u32,
}

/// Powers of ten that are exact, and by which a division is rounded once.
const POWERS: [f64; 16] = [
    1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];
/// Whole numbers up to this are exact.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;
const SIGN: u64 = 1 << 63;

fn number_of(mapped: u64) -> f64 {
    f64::from_bits(match mapped & SIGN {
        0 => !mapped,
        _ => mapped ^ SIGN,
    })
}

fn mapped_of(number: f64) -> u64 {
    let bits = number.to_bits();
    match bits & SIGN {
        0 => bits ^ SIGN,
        _ => !bits,
    }
}

/// Returns the number of `whole` with the point moved. The division is correctly rounded, as reading decimal digits is.
#[allow(
    clippy::cast_precision_loss,
    reason = "a writer takes whole numbers that are exact; of others every reader makes the same"
)]
fn decimal(whole: i64, power: f64) -> f64 {
    whole as f64 / power
}

/// Returns the digits of a number as a whole number, if they say it exactly.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the number is whole and below 2^53"
)]
fn whole_of(number: f64, power: f64) -> Option<i64> {
    let whole = (number * power).round();
    if whole.is_nan() || whole.abs() > MAX_WHOLE {
        return None;
    }
    let whole = whole as i64;
    (decimal(whole, power).to_bits() == number.to_bits()).then_some(whole)
}

/// Returns the fewest digits behind the point with which all numbers are exact, and the whole numbers.
fn wholes_of(numbers: &[f64]) -> Option<(usize, Vec<i64>)> {
    let mut scale = 0;
    for number in numbers {
        let left = POWERS.iter().skip(scale);
        scale += left
            .take_while(|power| whole_of(*number, **power).is_none())
            .count();
    }
    let power = *POWERS.get(scale)?;
    let wholes: Option<Vec<i64>> = numbers.iter().map(|n| whole_of(*n, power)).collect();
    Some((scale, wholes?))
}

/// Packs `num` words, if that makes them shorter.
pub(super) fn pack(plain: &[u8], words: Words, num: u64) -> Option<Vec<u8>> {
    let mapped = |place: u64| {
        let word = bits_at(plain, place, words.width)?;
        Some(number_of(
            words.base.wrapping_add(words.gcd.wrapping_mul(word)),
        ))
    };
    let numbers: Option<Vec<f64>> = (0..num).map(mapped).collect();
    let (scale, wholes) = wholes_of(&numbers?)?;
    let least = wholes.iter().copied().min()?;
    let most = wholes.iter().copied().max()?;
    let width = u64::BITS - most.wrapping_sub(least).cast_unsigned().leading_zeros();
    let mut out = Writer::default();
    out.varint(u64::from(words.width));
    out.varint(words.base);
    out.varint(words.gcd);
    out.varint(scale as u64);
    out.varint_signed(least);
    out.varint(u64::from(width));
    out.varint(num);
    let mut bits = BitWriter::default();
    for whole in wholes {
        bits.push(whole.wrapping_sub(least).cast_unsigned(), width);
    }
    out.raw(&bits.into_bytes());
    let packed = out.into_bytes();
    let is_exact = || unpack(&packed, plain.len() as u64).is_ok_and(|back| back == plain);
    (packed.len() < plain.len() && is_exact()).then_some(packed)
}

/// Returns the words as the column has them.
pub(super) fn unpack(packed: &[u8], plain_len: u64) -> Result<Vec<u8>, FormatError> {
    let mut reader = Reader::new(FILE_TABLE.name, packed);
    let wrong = || FormatError::new(FILE_TABLE.name, "packed words of a column are damaged");
    let width_of = |width: u64, max: u32| u32::try_from(width).ok().filter(|width| *width <= max);
    let words = Words {
        width: width_of(reader.varint()?, 64)
            .filter(|width| *width > 0)
            .ok_or_else(wrong)?,
        base: reader.varint()?,
        gcd: reader.varint()?,
    };
    let scale = usize::try_from(reader.varint()?).map_err(|_| wrong())?;
    let power = *POWERS.get(scale).ok_or_else(wrong)?;
    let least = reader.varint_signed()?;
    let width = width_of(reader.varint()?, 64).ok_or_else(wrong)?;
    let num = reader.varint()?;
    let is_whole = num_bytes_of(num, words.width).map(|len| len as u64) == Some(plain_len);
    let bits_len = num_bytes_of(num, width).ok_or_else(wrong)?;
    if !is_whole || words.gcd == 0 || bits_len != reader.remaining() {
        return Err(wrong());
    }
    let bits = reader.raw(bits_len)?;
    let mask = u64::MAX >> (u64::BITS - words.width);
    let word = |place: u64| {
        let whole = least.wrapping_add(bits_at_fast(bits, place, width)?.cast_signed());
        let above = mapped_of(decimal(whole, power)).wrapping_sub(words.base);
        Some(match words.gcd {
            1 => above,
            gcd => above / gcd,
        })
    };
    if words.width == u64::BITS {
        let mut out = Vec::with_capacity(usize::try_from(plain_len).map_err(|_| wrong())?);
        for place in 0..num {
            out.extend_from_slice(&word(place).ok_or_else(wrong)?.to_le_bytes());
        }
        return Ok(out);
    }
    let mut out = BitWriter::default();
    for place in 0..num {
        out.push(word(place).ok_or_else(wrong)? & mask, words.width);
    }
    Ok(out.into_bytes())
}

/// As [`bits_at`], with one load where eight bytes are there and hold the number.
fn bits_at_fast(bytes: &[u8], place: u64, width: u32) -> Option<u64> {
    let bit = place.checked_mul(u64::from(width))?;
    let from = usize::try_from(bit / 8).ok()?;
    let shift = bit % 8;
    match bytes.get(from..).and_then(<[u8]>::first_chunk) {
        Some(eight) if width > 0 && width <= 56 => {
            Some(u64::from_le_bytes(*eight) >> shift & (u64::MAX >> (u64::BITS - width)))
        }
        _ => bits_at(bytes, place, width),
    }
}

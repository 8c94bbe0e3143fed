//! Serialization of sums.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::super::bounded::Bounded;
use super::ExactSum;
use super::magnitude::DIGIT_BITS;

/// Number of digits below one: the smallest product is 2^-2148.
const PLACES_BELOW: i32 = 68;

/// Maximum number of digits when decoding: up to 2^2048 for products, 2^64 for repetitions, and
/// more than enough for any number of terms.
const PLACES: i32 = 160;
const MAX_BYTES: usize = 4 * 160;

/// Serialized sum: the place of the lowest digit with the sign, and the digits as little-endian
/// bytes without trailing zeros. Zero is `(0, [])`.
#[derive(Serialize)]
struct Written {
    place: u16,
    bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct Read {
    place: u16,
    bytes: Bounded<u8, MAX_BYTES>,
}

impl Serialize for ExactSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (negative, total) = self.total();
        if total.is_zero() {
            return Written {
                place: 0,
                bytes: Vec::new(),
            }
            .serialize(serializer);
        }
        let mut bytes: Vec<u8> = total
            .digits()
            .iter()
            .flat_map(|digit| digit.to_le_bytes())
            .collect();
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        let above_lowest =
            u16::try_from(total.place().saturating_add(PLACES_BELOW)).unwrap_or(u16::MAX >> 1);
        Written {
            place: above_lowest << 1 | u16::from(negative),
            bytes,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExactSum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read {
            place,
            bytes: Bounded(bytes),
        } = Read::deserialize(deserializer)?;
        let above_lowest = i32::from(place >> 1);
        let digits = bytes.chunks(4).map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |digit: u32, byte| digit << 8 | u32::from(*byte))
        });
        let digits: Vec<u32> = digits.collect();
        let len = i32::try_from(digits.len()).unwrap_or(i32::MAX);
        let canonical = match digits.first() {
            None => place == 0,
            Some(first) => *first != 0 && bytes.last() != Some(&0),
        };
        if !canonical || above_lowest.saturating_add(len) > PLACES {
            return Err(D::Error::custom("a sum that is not written as sums are"));
        }
        let mut sum = Self::default();
        // Four digits for each term, so that a short sum uses `near` again.
        for (at, term) in (0_i32..).zip(digits.chunks(4)) {
            let bits = term
                .iter()
                .rev()
                .fold(0, |bits, digit| bits << 32 | u128::from(*digit));
            let exponent = (above_lowest - PLACES_BELOW + 4 * at) * DIGIT_BITS;
            sum.add_term(place & 1 != 0, bits, exponent);
        }
        Ok(sum)
    }
}

//! Centroids in the index: rotated, as small whole numbers with a scale for each centroid.
//!
//! ```text
//!   f32 scale · rotated dimensions × 8 bits, signed
//!   f32 scale · rotated dimensions × 4 bits, signed, the first of two in the lower half of a byte
//! ```
//!
//! Codes are relative to what is stored here, so that rounding costs no accuracy of theirs.

use crate::FormatError;
use crate::version::VECTORS_NAME;

/// Number of bits that a centroid's number can have at most.
pub(super) const MAX_CENTROID_BITS: u32 = 8;

const SCALE_LEN: usize = 4;

/// Returns the length of a centroid in bytes.
pub(super) fn len(rotated_dims: usize, bits: u32) -> usize {
    let numbers = match bits {
        4 => rotated_dims / 2,
        _ => rotated_dims,
    };
    SCALE_LEN.saturating_add(numbers)
}

/// Checks that the numbers of centroids are finite.
pub(super) fn check(bytes: &[u8], rotated_dims: usize, bits: u32) -> Result<(), FormatError> {
    for bytes in bytes.chunks_exact(len(rotated_dims, bits)) {
        // Times -128, it is finite, too.
        if !(scale_of(bytes) * 128.0).is_finite() {
            return Err(FormatError::new(
                VECTORS_NAME,
                "the scale of a centroid is not finite",
            ));
        }
    }
    Ok(())
}

fn scale_of(bytes: &[u8]) -> f32 {
    let scale = bytes.first_chunk().copied().unwrap_or_default();
    f32::from_le_bytes(scale)
}

/// Returns the numbers of a centroid.
pub(super) fn read(bytes: &[u8], rotated_dims: usize, bits: u32) -> Vec<f32> {
    let scale = scale_of(bytes);
    let bytes = bytes.get(SCALE_LEN..).unwrap_or_default().iter();
    let number = |number: i8| f32::from(number) * scale;
    match bits {
        4 => {
            let mut numbers = vec![0.0; rotated_dims];
            let pairs = numbers.as_chunks_mut::<2>().0.iter_mut();
            for (pair, byte) in pairs.zip(bytes) {
                *pair = [byte << 4, *byte].map(|byte| number(byte.cast_signed() >> 4));
            }
            numbers
        }
        _ => bytes.map(|byte| number(byte.cast_signed())).collect(),
    }
}

/// Appends a rotated centroid.
pub(super) fn write(out: &mut Vec<u8>, numbers: &[f32], bits: u32) {
    let greatest = if bits == 4 { 7.0 } else { 127.0 };
    let largest = numbers
        .iter()
        .fold(0f32, |largest, number| largest.max(number.abs()));
    let scale = largest / greatest;
    out.extend_from_slice(&scale.to_le_bytes());
    let bytes = numbers.iter().map(|number| {
        let whole = if scale > 0.0 { number / scale } else { 0.0 };
        rounded(whole.clamp(-greatest, greatest)).cast_unsigned()
    });
    let bytes: Vec<u8> = bytes.collect();
    if bits == 4 {
        let pairs = bytes.chunks(2).map(|pair| match pair {
            [low, high] => low & 15 | high << 4,
            [low] => low & 15,
            _ => 0,
        });
        out.extend(pairs);
    } else {
        out.extend(bytes);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a number from -127 to 127, or 0 for what is not a number"
)]
fn rounded(number: f32) -> i8 {
    number.round_ties_even() as i8
}

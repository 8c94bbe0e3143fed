//! Comparison of 16 rows at a time, with WebAssembly SIMD.
#![expect(
    unsafe_code,
    reason = "vectors are loaded from where rows begin, which are not places of an array"
)]

use std::arch::wasm32::{
    i8x16_bitmask, i8x16_narrow_i16x8, i16x8_narrow_i32x4, u8x16_swizzle, u16x8_le, u16x8_sub,
    u32x4_le, u32x4_sub, v128, v128_and, v128_load,
};

use super::VECTOR_LEN;
use super::lanes::{Lanes, Rows};

/// Implements [`select`](super::select); `data` begins with the byte of the first row.
pub(super) fn select(data: &[u8], rows: &Rows, words: &mut [u64]) -> usize {
    match rows.is_narrow {
        true => each_word::<true>(data, rows, words),
        false => each_word::<false>(data, rows, words),
    }
}

#[inline(never)]
fn each_word<const IS_NARROW: bool>(data: &[u8], rows: &Rows, words: &mut [u64]) -> usize {
    let even = Vectors::new(&rows.even);
    let odd = Vectors::new(&rows.odd);
    let (width, odd_byte) = (rows.width, rows.odd_byte);
    let mut num_done = 0;
    let mut rest = data;
    for word in words {
        if rest.len() < rows.num_bytes_read() {
            break;
        }
        // The bits of 16 rows.
        let sixteen = |from: usize| {
            let (first, second) = if IS_NARROW {
                let second = from + width;
                (even.within_16(rest, from), even.within_16(rest, second))
            } else {
                let behind = from + width;
                let first = even.within_32(rest, from);
                let second = odd.within_32(rest, from + odd_byte);
                let third = even.within_32(rest, behind);
                let fourth = odd.within_32(rest, behind + odd_byte);
                (
                    i16x8_narrow_i32x4(first, second),
                    i16x8_narrow_i32x4(third, fourth),
                )
            };
            u64::from(i8x16_bitmask(i8x16_narrow_i16x8(first, second)))
        };
        *word = sixteen(0)
            | sixteen(2 * width) << 16
            | sixteen(4 * width) << 32
            | sixteen(6 * width) << 48;
        rest = rest.get(8 * width..).unwrap_or_default();
        num_done += 1;
    }
    num_done
}

/// [`Lanes`] as vectors.
#[derive(Clone, Copy)]
struct Vectors {
    places: v128,
    mask: v128,
    least: v128,
    span: v128,
}

impl Vectors {
    #[inline(always)]
    fn new(lanes: &Lanes) -> Self {
        Self {
            places: load(&lanes.places, 0),
            mask: load(&lanes.mask, 0),
            least: load(&lanes.least, 0),
            span: load(&lanes.span, 0),
        }
    }

    /// Loads the rows at a byte offset into their lanes, without their neighbours.
    #[inline(always)]
    fn rows_at(self, bytes: &[u8], at: usize) -> v128 {
        v128_and(u8x16_swizzle(load(bytes, at), self.places), self.mask)
    }

    /// Sets all bits of the 16-bit lanes whose rows are within the range.
    #[inline(always)]
    fn within_16(self, bytes: &[u8], at: usize) -> v128 {
        u16x8_le(u16x8_sub(self.rows_at(bytes, at), self.least), self.span)
    }

    /// Sets all bits of the 32-bit lanes whose rows are within the range.
    #[inline(always)]
    fn within_32(self, bytes: &[u8], at: usize) -> v128 {
        u32x4_le(u32x4_sub(self.rows_at(bytes, at), self.least), self.span)
    }
}

/// Loads 16 bytes from offset `at`.
#[inline(always)]
fn load(bytes: &[u8], at: usize) -> v128 {
    debug_assert!(at + VECTOR_LEN <= bytes.len());
    // SAFETY: there are 16 bytes from `at`. Constants have exactly 16. For rows, `each_word` has
    // checked that there are eight times the width and 16 more bytes, and `at` is at most 7 widths
    // plus `odd_byte`, the length of 4 rows, which begin and end within one width: it is used for
    // rows of 10 bits and more, of which 4 are at most half a width of bytes, and a byte.
    unsafe { v128_load(bytes.as_ptr().add(at).cast()) }
}

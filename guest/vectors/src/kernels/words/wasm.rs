//! Eight words in a vector of WebAssembly.
#![expect(
    unsafe_code,
    reason = "sixteen bytes as a vector: put together lane by lane, some become four loads"
)]

use std::arch::wasm32::{
    i32x4_add, i32x4_dot_i16x8, i32x4_splat, u16x8_shr, u16x8_splat, v128, v128_and,
};

use super::Words;

/// Eight words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eight(v128);

impl Words for Eight {
    type Sums = v128;

    #[inline(always)]
    fn splat(word: u16) -> Self {
        Self(u16x8_splat(word))
    }

    #[inline(always)]
    fn read(bytes: [u8; 16]) -> Self {
        // SAFETY: both types have 16 bytes, and any bits are valid in either; WebAssembly is
        // little-endian.
        Self(unsafe { std::mem::transmute::<[u8; 16], v128>(bytes) })
    }

    #[inline(always)]
    fn numbers(numbers: [i16; 8]) -> Self {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        Self(unsafe { std::mem::transmute::<[i16; 8], v128>(numbers) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(v128_and(self.0, other.0))
    }

    #[inline(always)]
    fn shr<const BITS: u16>(self) -> Self {
        Self(u16x8_shr(self.0, BITS.into()))
    }

    #[inline(always)]
    fn no_sums() -> v128 {
        i32x4_splat(0)
    }

    #[inline(always)]
    fn multiply_add(self, other: Self, sums: v128) -> v128 {
        i32x4_add(sums, i32x4_dot_i16x8(self.0, other.0))
    }

    #[inline(always)]
    fn total(sums: v128) -> i32 {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        let sums = unsafe { std::mem::transmute::<v128, [i32; 4]>(sums) };
        sums.into_iter().fold(0, i32::wrapping_add)
    }
}

//! Four words in a vector of WebAssembly.
#![expect(
    unsafe_code,
    reason = "sixteen bytes as a vector: put together lane by lane, some become four loads"
)]

use std::arch::wasm32::{
    i32x4_shuffle, u32x4_add, u32x4_shl, u32x4_shr, u32x4_splat, v128, v128_and, v128_or,
};

use super::Lanes;

/// Four words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four(v128);

impl Lanes<4> for Four {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self(u32x4_splat(word))
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        let bytes = bytes.first_chunk::<16>().copied().unwrap_or_default();
        // SAFETY: both types have 16 bytes, and any bits are valid in either; WebAssembly is
        // little-endian.
        Self(unsafe { std::mem::transmute::<[u8; 16], v128>(bytes) })
    }

    #[inline(always)]
    fn from_words(words: [u32; 4]) -> Self {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        Self(unsafe { std::mem::transmute::<[u32; 4], v128>(words) })
    }

    #[inline(always)]
    fn into_words(self) -> [u32; 4] {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        unsafe { std::mem::transmute::<v128, [u32; 4]>(self.0) }
    }

    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        Self(u32x4_shl(self.0, bits))
    }

    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        Self(u32x4_shr(self.0, bits))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(v128_and(self.0, other.0))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(v128_or(self.0, other.0))
    }

    #[inline(always)]
    fn wrapping_add(self, other: Self) -> Self {
        Self(u32x4_add(self.0, other.0))
    }

    #[inline(always)]
    fn running_sum(self, before: Self) -> Self {
        let zeros = u32x4_splat(0);
        let pairs = u32x4_add(self.0, i32x4_shuffle::<0, 4, 5, 6>(zeros, self.0));
        let sums = u32x4_add(pairs, i32x4_shuffle::<0, 1, 4, 5>(zeros, pairs));
        Self(u32x4_add(
            sums,
            i32x4_shuffle::<3, 3, 3, 3>(before.0, before.0),
        ))
    }
}

//! Four words in a vector of x86-64.
#![expect(
    unsafe_code,
    reason = "functions of SSE2, which every processor of x86-64 has"
)]

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_cvtsi32_si128, _mm_or_si128, _mm_set1_epi32,
    _mm_shuffle_epi32, _mm_sll_epi32, _mm_slli_si128, _mm_srl_epi32,
};

use super::Lanes;

/// Four words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four(__m128i);

/// Converts a number of bits to a shift count.
#[inline(always)]
fn count(bits: u32) -> __m128i {
    // SAFETY: x86-64 has SSE2, the only requirement.
    unsafe { _mm_cvtsi32_si128(bits.cast_signed()) }
}

impl Lanes<4> for Four {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        let bytes = bytes.first_chunk::<16>().copied().unwrap_or_default();
        // SAFETY: both types have 16 bytes, and any bits are valid in either; x86-64 is
        // little-endian.
        Self(unsafe { std::mem::transmute::<[u8; 16], __m128i>(bytes) })
    }

    #[inline(always)]
    fn from_words(words: [u32; 4]) -> Self {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        Self(unsafe { std::mem::transmute::<[u32; 4], __m128i>(words) })
    }

    #[inline(always)]
    fn into_words(self) -> [u32; 4] {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        unsafe { std::mem::transmute::<__m128i, [u32; 4]>(self.0) }
    }

    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_sll_epi32(self.0, count(bits)) })
    }

    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_srl_epi32(self.0, count(bits)) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_and_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn wrapping_add(self, other: Self) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn running_sum(self, before: Self) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement of these.
        unsafe {
            let pairs = _mm_add_epi32(self.0, _mm_slli_si128::<4>(self.0));
            let sums = _mm_add_epi32(pairs, _mm_slli_si128::<8>(pairs));
            Self(_mm_add_epi32(
                sums,
                _mm_shuffle_epi32::<0b11_11_11_11>(before.0),
            ))
        }
    }
}

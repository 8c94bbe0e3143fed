//! Eight words in a vector of x86-64.
#![expect(
    unsafe_code,
    reason = "functions of SSE2, which every processor of x86-64 has"
)]

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_cvtsi32_si128, _mm_madd_epi16, _mm_set1_epi16,
    _mm_srl_epi16,
};

use super::Words;

/// Eight words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eight(__m128i);

impl Words for Eight {
    type Sums = __m128i;

    #[inline(always)]
    fn splat(word: u16) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_set1_epi16(word.cast_signed()) })
    }

    #[inline(always)]
    fn read(bytes: [u8; 16]) -> Self {
        // SAFETY: both types have 16 bytes, and any bits are valid in either; x86-64 is
        // little-endian.
        Self(unsafe { std::mem::transmute::<[u8; 16], __m128i>(bytes) })
    }

    #[inline(always)]
    fn numbers(numbers: [i16; 8]) -> Self {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        Self(unsafe { std::mem::transmute::<[i16; 8], __m128i>(numbers) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement.
        Self(unsafe { _mm_and_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn shr<const BITS: u16>(self) -> Self {
        // SAFETY: x86-64 has SSE2, the only requirement of both.
        Self(unsafe { _mm_srl_epi16(self.0, _mm_cvtsi32_si128(BITS.into())) })
    }

    #[inline(always)]
    fn no_sums() -> __m128i {
        // SAFETY: x86-64 has SSE2, the only requirement.
        unsafe { _mm_cvtsi32_si128(0) }
    }

    #[inline(always)]
    fn multiply_add(self, other: Self, sums: __m128i) -> __m128i {
        // SAFETY: x86-64 has SSE2, the only requirement of both.
        unsafe { _mm_add_epi32(sums, _mm_madd_epi16(self.0, other.0)) }
    }

    #[inline(always)]
    fn total(sums: __m128i) -> i32 {
        // SAFETY: both types have 16 bytes, and any bits are valid in either.
        let sums = unsafe { std::mem::transmute::<__m128i, [i32; 4]>(sums) };
        sums.into_iter().fold(0, i32::wrapping_add)
    }
}

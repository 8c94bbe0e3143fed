//! Words processed together: one, or four in a vector.
//!
//! `Four` behaves alike on every processor, with one file for each kind of vector. Arrays would not
//! be vectorized: compilers turn the joining of two words into a rotation, which vectors lack.

#[cfg(any(
    test,
    not(any(
        target_arch = "x86_64",
        all(target_arch = "wasm32", target_feature = "simd128")
    ))
))]
mod arrays;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
pub(crate) use arrays::Four;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::Four;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use wasm::Four;

#[cfg(test)]
pub(crate) use arrays::Four as FourInArrays;

/// `L` words of 32 bits, processed together.
pub(crate) trait Lanes<const L: usize>: Copy {
    /// Returns `L` equal words.
    fn splat(word: u32) -> Self;

    /// Reads the first words of bytes, little-endian; zeros if there are too few bytes.
    fn read(bytes: &[u8]) -> Self;

    fn from_words(words: [u32; L]) -> Self;

    fn into_words(self) -> [u32; L];

    /// Shifts each word left by `bits`, which is less than 32.
    fn shl(self, bits: u32) -> Self;

    /// Shifts each word right by `bits`, which is less than 32.
    fn shr(self, bits: u32) -> Self;

    fn and(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    fn wrapping_add(self, other: Self) -> Self;

    /// Adds up the lanes: each becomes the sum of itself, those before it, and the last lane of
    /// `before`.
    fn running_sum(self, before: Self) -> Self;
}

impl Lanes<1> for u32 {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        word
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        bytes
            .first_chunk()
            .map_or(0, |word| Self::from_le_bytes(*word))
    }

    #[inline(always)]
    fn from_words([word]: [u32; 1]) -> Self {
        word
    }

    #[inline(always)]
    fn into_words(self) -> [u32; 1] {
        [self]
    }

    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        self.wrapping_shl(bits)
    }

    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        self.wrapping_shr(bits)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }

    #[inline(always)]
    fn wrapping_add(self, other: Self) -> Self {
        Self::wrapping_add(self, other)
    }

    #[inline(always)]
    fn running_sum(self, before: Self) -> Self {
        Self::wrapping_add(self, before)
    }
}

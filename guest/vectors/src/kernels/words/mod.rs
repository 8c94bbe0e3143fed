//! Eight words of 16 bits, processed together, with one file for each kind of vector.

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
pub(super) use arrays::Eight;
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Eight;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use wasm::Eight;

#[cfg(test)]
pub(super) use arrays::Eight as EightInArrays;

/// Eight words of 16 bits.
pub(super) trait Words: Copy {
    /// Four sums of 32 bits.
    type Sums: Copy;

    /// Returns eight equal words.
    fn splat(word: u16) -> Self;

    /// Reads little-endian words.
    fn read(bytes: [u8; 16]) -> Self;

    /// Takes signed numbers.
    fn numbers(numbers: [i16; 8]) -> Self;

    fn and(self, other: Self) -> Self;

    /// Shifts each word right.
    fn shr<const BITS: u16>(self) -> Self;

    fn no_sums() -> Self::Sums;

    /// Multiplies signed words, and adds the products of two neighbours each to their sum, modulo 2^32.
    fn multiply_add(self, other: Self, sums: Self::Sums) -> Self::Sums;

    /// Returns the sum of the sums, modulo 2^32.
    fn total(sums: Self::Sums) -> i32;
}

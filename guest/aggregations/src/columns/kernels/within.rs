//! Selects codes within a range, as bits.

/// Number of codes in one word of bits.
const WORD_CODES: usize = 64;

/// Type of codes that are compared.
pub(crate) trait Compared: Copy + Default {
    /// Sets bit `i` if `codes[i]` is at most `span` above `least`. Bits past the codes are
    /// arbitrary.
    fn bits(codes: &[Self; WORD_CODES], least: Self, span: Self) -> u64;
}

/// Sets bit `i % 64` of `words[i / 64]` if `codes[i]` is at most `span` above `least`, and clears
/// all others. Stops at the end of the shorter slice.
#[inline(never)]
pub(crate) fn within<T: Compared>(codes: &[T], least: T, span: T, words: &mut [u64]) {
    let (whole, rest) = codes.as_chunks::<WORD_CODES>();
    let mut words = words.iter_mut();
    for (codes, word) in whole.iter().zip(words.by_ref()) {
        *word = T::bits(codes, least, span);
    }
    if let Some(word) = words.next() {
        let mut last = [T::default(); WORD_CODES];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        let num_bits = u32::try_from(rest.len()).unwrap_or(0);
        *word = T::bits(&last, least, span) & super::low_bits(num_bits);
    }
    words.for_each(|word| *word = 0);
}

impl Compared for u64 {
    #[inline(always)]
    fn bits(codes: &[Self; WORD_CODES], least: Self, span: Self) -> u64 {
        bits_of_flags(codes, |code| code.wrapping_sub(least) <= span)
    }
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
impl Compared for u32 {
    #[inline(always)]
    fn bits(codes: &[Self; WORD_CODES], least: Self, span: Self) -> u64 {
        bits_of_flags(codes, |code| code.wrapping_sub(least) <= span)
    }
}

/// WebAssembly SIMD has an instruction that gathers one bit from each of 16 bytes.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl Compared for u32 {
    #[inline(always)]
    fn bits(codes: &[Self; WORD_CODES], least: Self, span: Self) -> u64 {
        use std::arch::wasm32::{
            i8x16_bitmask, i8x16_narrow_i16x8, i16x8_narrow_i32x4, u32x4, u32x4_le, u32x4_splat,
            u32x4_sub,
        };
        let (least, span) = (u32x4_splat(least), u32x4_splat(span));
        let inside = |codes: &[u32; 4]| {
            let [a, b, c, d] = *codes;
            u32x4_le(u32x4_sub(u32x4(a, b, c, d), least), span)
        };
        let mut bits = 0;
        for (place, sixteen) in codes.as_chunks::<16>().0.iter().enumerate() {
            if let [a, b, c, d] = sixteen.as_chunks::<4>().0 {
                let low = i16x8_narrow_i32x4(inside(a), inside(b));
                let high = i16x8_narrow_i32x4(inside(c), inside(d));
                bits |= u64::from(i8x16_bitmask(i8x16_narrow_i16x8(low, high))) << (16 * place);
            }
        }
        bits
    }
}

/// Collects flags as bytes of 0 and 1, which compilers vectorize, and then gathers one bit from
/// each.
#[inline(always)]
fn bits_of_flags<T: Copy>(codes: &[T; WORD_CODES], is_within: impl Fn(T) -> bool) -> u64 {
    /// Moves the lowest bit of byte `i` to bit `56 + i`, without collisions.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    // `map` would not always be inlined, which would prevent vectorization.
    let mut flags = [0u8; WORD_CODES];
    for (flag, code) in flags.iter_mut().zip(codes) {
        *flag = u8::from(is_within(*code));
    }
    let mut bits = 0;
    for (place, flags) in flags.as_chunks().0.iter().enumerate() {
        bits |= (u64::from_le_bytes(*flags).wrapping_mul(GATHER) >> 56) << (8 * place);
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes the expected words, code by code.
    fn expected(is_within: impl Iterator<Item = bool>, num_words: usize) -> Vec<u64> {
        let mut words = vec![0u64; num_words];
        for (place, is_within) in is_within.enumerate().take(num_words * 64) {
            words[place / 64] |= u64::from(is_within) << (place % 64);
        }
        words
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bits_are_what_comparing_one_by_one_says(
            codes in proptest::collection::vec(any::<u64>(), 0..300),
            width in 0u32..=64,
            (least, span) in (any::<u64>(), any::<u64>()),
            num_words in 0usize..7,
        ) {
            let mask = super::super::low_bits(width);
            let codes: Vec<u64> = codes.iter().map(|code| code & mask).collect();
            let (least, span) = (least & mask, span & mask);
            let mut words = vec![u64::MAX; num_words];
            within(&codes, least, span, &mut words);
            let is_within = codes.iter().map(|code| code.wrapping_sub(least) <= span);
            prop_assert_eq!(&words, &expected(is_within, num_words));

            let narrow: Vec<u32> = codes.iter().map(|code| *code as u32).collect();
            let (least, span) = (least as u32, span as u32);
            within(&narrow, least, span, &mut words);
            let is_within = narrow.iter().map(|code| code.wrapping_sub(least) <= span);
            prop_assert_eq!(&words, &expected(is_within, num_words));
        }
    }
}

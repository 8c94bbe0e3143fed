//! Comparison of 32 rows at a time, on processors with AVX2.
#![expect(
    unsafe_code,
    reason = "vectors are loaded from where rows begin, which are not places of an array"
)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_castsi128_si256, _mm256_cmpeq_epi16, _mm256_cmpeq_epi32, _mm256_inserti128_si256,
    _mm256_min_epu16, _mm256_min_epu32, _mm256_movemask_epi8, _mm256_packs_epi16,
    _mm256_packs_epi32, _mm256_shuffle_epi8, _mm256_sub_epi16, _mm256_sub_epi32,
};

use super::VECTOR_LEN;
use super::lanes::{Lanes, Rows};

/// Implements [`select`](super::select); `data` begins with the byte of the first row.
#[target_feature(enable = "avx2")]
pub(super) fn select(data: &[u8], rows: &Rows, words: &mut [u64]) -> usize {
    match rows.is_narrow {
        true => each_word::<true>(data, rows, words),
        false => each_word::<false>(data, rows, words),
    }
}

#[target_feature(enable = "avx2")]
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
        let mut halves = [0u32; 2];
        for (half, bits) in halves.iter_mut().enumerate() {
            let from = 4 * width * half;
            // Packing 16-bit lanes into bytes interleaves halves of vectors, which puts the rows in
            // order again.
            *bits = if IS_NARROW {
                let first = even.within_16(rest, from, from + 2 * width);
                let second = even.within_16(rest, from + width, from + 3 * width);
                bits_of_words(first, second)
            } else {
                let behind = from + width;
                let first = even.within_32(rest, from, from + 2 * width);
                let second = odd.within_32(rest, from + odd_byte, from + 2 * width + odd_byte);
                let third = even.within_32(rest, behind, behind + 2 * width);
                let fourth = odd.within_32(rest, behind + odd_byte, behind + 2 * width + odd_byte);
                bits_of_words(
                    _mm256_packs_epi32(first, second),
                    _mm256_packs_epi32(third, fourth),
                )
            };
        }
        let [low, high] = halves.map(u64::from);
        *word = low | high << 32;
        rest = rest.get(8 * width..).unwrap_or_default();
        num_done += 1;
    }
    num_done
}

/// Returns one bit for each 16-bit lane, whose bits are all equal: first those of the lower halves
/// of both vectors, then those of the upper halves.
#[target_feature(enable = "avx2")]
fn bits_of_words(first: __m256i, second: __m256i) -> u32 {
    _mm256_movemask_epi8(_mm256_packs_epi16(first, second)).cast_unsigned()
}

/// [`Lanes`] in both halves of vectors.
#[derive(Clone, Copy)]
struct Vectors {
    places: __m256i,
    mask: __m256i,
    least: __m256i,
    span: __m256i,
}

impl Vectors {
    #[target_feature(enable = "avx2")]
    fn new(lanes: &Lanes) -> Self {
        Self {
            places: both_halves(&lanes.places),
            mask: both_halves(&lanes.mask),
            least: both_halves(&lanes.least),
            span: both_halves(&lanes.span),
        }
    }

    /// Loads the rows at two byte offsets into their lanes, without their neighbours.
    #[target_feature(enable = "avx2")]
    fn rows_at(self, bytes: &[u8], low: usize, high: usize) -> __m256i {
        let (low, high) = (load(bytes, low), load(bytes, high));
        let loaded = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
        _mm256_and_si256(_mm256_shuffle_epi8(loaded, self.places), self.mask)
    }

    /// Sets all bits of the 16-bit lanes whose rows are within the range.
    #[target_feature(enable = "avx2")]
    fn within_16(self, bytes: &[u8], low: usize, high: usize) -> __m256i {
        let above = _mm256_sub_epi16(self.rows_at(bytes, low, high), self.least);
        _mm256_cmpeq_epi16(_mm256_min_epu16(above, self.span), above)
    }

    /// Sets all bits of the 32-bit lanes whose rows are within the range.
    #[target_feature(enable = "avx2")]
    fn within_32(self, bytes: &[u8], low: usize, high: usize) -> __m256i {
        let above = _mm256_sub_epi32(self.rows_at(bytes, low, high), self.least);
        _mm256_cmpeq_epi32(_mm256_min_epu32(above, self.span), above)
    }
}

#[target_feature(enable = "avx2")]
fn both_halves(bytes: &[u8; VECTOR_LEN]) -> __m256i {
    _mm256_broadcastsi128_si256(load(bytes, 0))
}

/// Loads 16 bytes from offset `at`.
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> __m128i {
    debug_assert!(at + VECTOR_LEN <= bytes.len());
    // SAFETY: there are 16 bytes from `at`. Constants have exactly 16. For rows, `each_word` has
    // checked that there are eight times the width and 16 more bytes, and `at` is at most 7 widths
    // plus `odd_byte`, the length of 4 rows, which begin and end within one width: it is used for
    // rows of 10 bits and more, of which 4 are at most half a width of bytes, and a byte.
    unsafe { _mm_loadu_si128(bytes.as_ptr().add(at).cast()) }
}

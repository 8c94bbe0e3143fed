//! The loops over vectors and codes, in one file for each kind of processor.
//!
//! Sums of floating-point numbers are in 16 lanes: element `i` belongs to lane `i % 16`. A lane adds
//! its elements in their order, and the lanes are folded in halves: 8 onto 8, 4 onto 4, 2 onto 2, and
//! the last two. All other sums are of whole numbers, whose order does not matter.

#[cfg(any(test, not(all(target_arch = "wasm32", target_feature = "simd128"))))]
mod plain;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

use words::{Eight, Words};

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use plain as implementation;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use wasm as implementation;

#[cfg(test)]
mod tests;

/// Number of lanes of a floating-point sum.
const NUM_LANES: usize = 16;

/// Returns the sum of the products of two vectors, in the order of sums of this crate. Of vectors of
/// different lengths the shorter one decides.
pub fn dot(one: &[f32], other: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(sum) = x86::dot(one, other) {
        return sum;
    }
    implementation::dot(one, other)
}

/// Returns the sum of the squared differences of two vectors, in the order of sums of this crate.
pub fn distance(one: &[f32], other: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(sum) = x86::distance(one, other) {
        return sum;
    }
    implementation::distance(one, other)
}

/// Returns the sum of the products of two vectors of signed bytes, of up to 65,536 dimensions.
pub fn dot_bytes(one: &[u8], other: &[u8]) -> i32 {
    implementation::dot_bytes(one, other)
}

/// Returns the sum of the squared differences of two vectors of signed bytes, of up to 32,768 dimensions.
pub fn squared_distance_bytes(one: &[u8], other: &[u8]) -> i32 {
    implementation::squared_distance_bytes(one, other)
}

/// Returns the number of bits in which two vectors of bits differ.
pub fn hamming(one: &[u8], other: &[u8]) -> u32 {
    implementation::hamming(one, other)
}

/// Returns the row with the smallest distance to a vector, the first of several; `None` if there is no row. Rows follow
/// each other, each as long as the vector; `half_squares` has half of each row's inner product with itself.
pub fn closest(vector: &[f32], rows: &[f32], half_squares: &[f32]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(found) = x86::closest(vector, rows, half_squares) {
        return found;
    }
    closest_by(vector, rows, half_squares, |vector, rows| {
        rows.map(|row| implementation::dot(vector, row))
    })
}

/// Number of rows that are multiplied at once.
const NUM_ROWS: usize = 4;

/// Implements [`closest`] with a function for the products of a vector with several rows, some of which may be empty.
#[inline(always)]
fn closest_by(
    vector: &[f32],
    rows: &[f32],
    half_squares: &[f32],
    products: impl Fn(&[f32], [&[f32]; NUM_ROWS]) -> [f32; NUM_ROWS],
) -> Option<usize> {
    let len = vector.len().max(1);
    let blocks = rows.chunks(len.saturating_mul(NUM_ROWS));
    let mut best = None;
    for (block, (rows, half_squares)) in blocks.zip(half_squares.chunks(NUM_ROWS)).enumerate() {
        let mut rows = rows.chunks_exact(len);
        let num_rows = rows.len();
        let rows = std::array::from_fn(|_| rows.next().unwrap_or_default());
        let products = products(vector, rows).into_iter().zip(half_squares);
        for (row, (product, half_square)) in products.enumerate().take(num_rows) {
            // The smallest `‖row‖² / 2 - ⟨vector, row⟩`, which is half of what distances differ in.
            let closeness = product - half_square;
            if best.is_none_or(|(_, most)| closeness > most) {
                best = Some((block * NUM_ROWS + row, closeness));
            }
        }
    }
    best.map(|(place, _)| place)
}

/// Multiplies a query with codes of `BITS` bits a dimension: `out[i]` becomes the sum over all dimensions of the number of
/// code `i` times the number of the query.
///
/// A code has `code_len` bytes, in words of 16 bits: `16 / BITS` numbers each, lowest bits first. `query` has the numbers
/// that belong to 8 words, field by field, as [`arrange`] makes it.
#[inline(always)]
fn multiply_by<const BITS: u16, W: Words>(
    codes: &[u8],
    code_len: usize,
    query: &[[i16; 8]],
    out: &mut [i32],
) {
    let mask = W::splat((1 << BITS) - 1);
    let num_fields = usize::from(16 / BITS);
    for (code, out) in codes.chunks_exact(code_len.max(1)).zip(out) {
        let (blocks, rest) = code.as_chunks::<16>();
        let mut last = [[0; 16]];
        for (byte, found) in last.as_flattened_mut().iter_mut().zip(rest) {
            *byte = *found;
        }
        let blocks = blocks.iter().chain(&last);
        let mut sums = W::no_sums();
        for (block, query) in blocks.zip(query.chunks_exact(num_fields)) {
            let mut words = W::read(*block);
            for numbers in query {
                sums = words.and(mask).multiply_add(W::numbers(*numbers), sums);
                words = words.shr::<BITS>();
            }
        }
        *out = W::total(sums);
    }
}

/// Multiplies a query with codes of 1, 2 or 4 bits.
pub(crate) fn multiply(
    codes: &[u8],
    code_len: usize,
    bits: u32,
    query: &[[i16; 8]],
    out: &mut [i32],
) {
    match bits {
        1 => multiply_by::<1, Eight>(codes, code_len, query, out),
        2 => multiply_by::<2, Eight>(codes, code_len, query, out),
        _ => multiply_by::<4, Eight>(codes, code_len, query, out),
    }
}

/// Puts the numbers of a query into the order in which codes of a width are multiplied: of each 8 words the numbers of the
/// lowest fields, then those of the next, with zeros for dimensions that are missing.
pub(crate) fn arrange(numbers: &[i16], bits: u32) -> Vec<[i16; 8]> {
    let num_fields = match bits {
        1 => 16,
        2 => 8,
        _ => 4,
    };
    let blocks = numbers.chunks(8 * num_fields);
    let arranged = blocks.flat_map(|block| {
        (0..num_fields).map(move |field| {
            let mut words = [0; 8];
            for (word, numbers) in words.iter_mut().zip(block.chunks(num_fields)) {
                *word = numbers.get(field).copied().unwrap_or(0);
            }
            words
        })
    });
    arranged.collect()
}

/// Adds up the lanes of a floating-point sum.
#[cfg(any(test, not(all(target_arch = "wasm32", target_feature = "simd128"))))]
#[inline(always)]
fn fold(lanes: [f32; NUM_LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = lanes;
    let [a, b, c, d, e, f, g, h] = [a + i, b + j, c + k, d + l, e + m, f + n, g + o, h + p];
    let [a, b, c, d] = [a + e, b + f, c + g, d + h];
    (a + c) + (b + d)
}

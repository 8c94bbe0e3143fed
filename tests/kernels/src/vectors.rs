//! Loops over vectors, whose sums have the same bits everywhere.

use canter_vectors::{
    ClusterQuery, CodeWidth, Codes, Rotation, Space, distance, dot, dot_bytes, hamming,
    squared_distance_bytes,
};

/// Maximum number of dimensions.
const MAX_DIMS: usize = 4_096;

/// Number of bytes of a code's corrections.
const CORRECTIONS_LEN: usize = 8;

/// Returns numbers of very different sizes, at most `len`.
fn floats(data: &[u8], len: usize) -> Vec<f32> {
    let words = data.as_chunks::<4>().0.iter().take(len);
    words
        .map(|[a, b, c, exponent]| {
            let mantissa = i32::from_le_bytes([0, *a, *b, *c]) >> 8;
            mantissa as f32 * f32::powi(2.0, i32::from(exponent % 40) - 30)
        })
        .collect()
}

fn bits(numbers: impl IntoIterator<Item = f32>) -> Vec<u64> {
    let numbers = numbers.into_iter();
    numbers.map(|number| number.to_bits().into()).collect()
}

/// Compares the first vector of `dims` dimensions with all others.
pub(crate) fn float_vectors(data: &[u8], dims: usize) -> Vec<u64> {
    let dims = dims.clamp(1, MAX_DIMS);
    let numbers = floats(data, usize::MAX);
    let Some((query, others)) = numbers.split_at_checked(dims) else {
        return bits([dot(&numbers, &numbers)]);
    };
    let others = others.chunks(dims);
    bits(others.flat_map(|other| [dot(query, other), distance(query, other)]))
}

/// Compares the first vector of `dims` bytes with all others.
pub(crate) fn byte_vectors(data: &[u8], dims: usize) -> Vec<u64> {
    let dims = dims.clamp(1, MAX_DIMS);
    let query = data.get(..dims).unwrap_or(data);
    let others = data.chunks(dims);
    let results = others.flat_map(|other| {
        let inner = dot_bytes(query, other).cast_unsigned();
        let square = squared_distance_bytes(query, other).cast_unsigned();
        [inner, square, hamming(query, other)].map(u64::from)
    });
    results.collect()
}

/// Rotates a vector of `dims` dimensions.
pub(crate) fn rotate(data: &[u8], dims: usize, seed: u64) -> Vec<u64> {
    let dims = dims.clamp(1, MAX_DIMS);
    bits(Rotation::new(seed, dims).rotate(&floats(data, dims)))
}

/// Estimates how close codes are to a query, of `dims` dimensions rounded up to a multiple of 64.
pub(crate) fn estimate(data: &[u8], dims: usize, width: u8) -> Vec<u64> {
    let dims = Rotation::num_dims_of(dims.min(MAX_DIMS));
    let width = CodeWidth::of_bits(width.into()).unwrap_or(CodeWidth::One);
    let mut query = floats(data, dims);
    query.resize(dims, 0.5);
    let centroid: Vec<f32> = query.iter().rev().map(|number| number * 0.75).collect();
    let corrections = data.len() / (CORRECTIONS_LEN + width.code_len(dims)) * CORRECTIONS_LEN;
    let (corrections, codes) = data.split_at(corrections);
    let corrections = floats(corrections, usize::MAX);
    let corrections = corrections.into_iter().flat_map(f32::to_le_bytes);
    let codes = Codes {
        codes,
        corrections: &corrections.collect::<Vec<u8>>(),
    };
    let spaces = [Space::Distance, Space::Product].into_iter();
    bits(
        spaces
            .flat_map(|space| ClusterQuery::new(&query, &centroid, width, space).closeness(codes)),
    )
}

//! The plain loops with instructions that not every processor of x86-64 has. Their results are the same: no
//! sum changes its order, and nothing is fused.
#![expect(
    unsafe_code,
    reason = "a function for a feature may be called where the feature was found"
)]

use super::{NUM_LANES, NUM_ROWS, closest_by, fold, plain};

/// Implements [`dot`](super::dot), if the processor can.
pub(super) fn dot(one: &[f32], other: &[f32]) -> Option<f32> {
    std::arch::is_x86_feature_detected!("avx2").then(|| {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        unsafe { wide_dot(one, other) }
    })
}

#[target_feature(enable = "avx2")]
fn wide_dot(one: &[f32], other: &[f32]) -> f32 {
    plain::dot(one, other)
}

/// Implements [`distance`](super::distance), if the processor can.
pub(super) fn distance(one: &[f32], other: &[f32]) -> Option<f32> {
    std::arch::is_x86_feature_detected!("avx2").then(|| {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        unsafe { wide_distance(one, other) }
    })
}

#[target_feature(enable = "avx2")]
fn wide_distance(one: &[f32], other: &[f32]) -> f32 {
    plain::distance(one, other)
}

/// Implements [`closest`](super::closest), if the processor can.
pub(super) fn closest(vector: &[f32], rows: &[f32], half_squares: &[f32]) -> Option<Option<usize>> {
    std::arch::is_x86_feature_detected!("avx2").then(|| {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        unsafe { wide_closest(vector, rows, half_squares) }
    })
}

#[target_feature(enable = "avx2")]
fn wide_closest(vector: &[f32], rows: &[f32], half_squares: &[f32]) -> Option<usize> {
    closest_by(vector, rows, half_squares, products)
}

/// Multiplies a vector with several rows at once: an addition need not wait for the one before it, which is to another sum.
#[inline(always)]
fn products(vector: &[f32], rows: [&[f32]; NUM_ROWS]) -> [f32; NUM_ROWS] {
    let (blocks, rest) = vector.as_chunks::<NUM_LANES>();
    let rows = rows.map(<[f32]>::as_chunks::<NUM_LANES>);
    let mut sums = [[0f32; NUM_LANES]; NUM_ROWS];
    for (place, block) in blocks.iter().enumerate() {
        for (lanes, (row, _)) in sums.iter_mut().zip(&rows) {
            let row = row.get(place).unwrap_or(&[0.0; NUM_LANES]);
            for ((lane, one), other) in lanes.iter_mut().zip(block).zip(row) {
                *lane += one * other;
            }
        }
    }
    for (lanes, (_, row_rest)) in sums.iter_mut().zip(&rows) {
        for ((lane, one), other) in lanes.iter_mut().zip(rest).zip(*row_rest) {
            *lane += one * other;
        }
    }
    sums.map(fold)
}

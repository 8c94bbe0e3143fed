//! The plain loops with instructions that not every processor of x86-64 has. Their results are the same: no
//! sum changes its order, and nothing is fused.
#![expect(
    unsafe_code,
    reason = "a function for a feature may be called where the feature was found"
)]

use super::{closest_by, plain};

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
    closest_by(vector, rows, half_squares, plain::dot)
}

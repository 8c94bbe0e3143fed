//! A query at one cluster.

use super::{CodeWidth, ROUNDING, Space};
use crate::kernels::{arrange, multiply};

/// Codes of a cluster with their corrections.
#[derive(Clone, Copy, Debug)]
pub struct Codes<'a> {
    /// Codes, one after the other.
    pub codes: &'a [u8],
    /// Factor and offset of each code, as little-endian floating-point numbers.
    pub corrections: &'a [u8],
}

/// Length of a code's corrections in bytes.
const CORRECTIONS_LEN: usize = 8;

/// Greatest number of a query, so that rounding adds an error that is small beside that of codes. Products with codes of
/// 4,096 dimensions stay far below 2^31.
const GREATEST: f32 = 1_023.0;

/// A rotated query minus the centroid of a cluster, in whole numbers.
#[derive(Clone, Debug)]
pub struct ClusterQuery {
    width: CodeWidth,
    /// Its numbers, as codes of the width are multiplied.
    numbers: Vec<[i16; 8]>,
    /// Number of dimensions.
    num_dims: usize,
    /// Sum of its numbers.
    sum: i32,
    /// Half of what a number 1 stands for.
    half_step: f32,
    /// Closeness of the centroid.
    base: f32,
}

impl ClusterQuery {
    /// Prepares a rotated query for the cluster of a rotated centroid.
    pub fn new(query: &[f32], centroid: &[f32], width: CodeWidth, space: Space) -> Self {
        let both = query.iter().zip(centroid);
        let residual: Vec<f32> = both.map(|(query, centroid)| query - centroid).collect();
        let largest = residual
            .iter()
            .fold(0f32, |largest, number| largest.max(number.abs()));
        let scale = match largest > 0.0 {
            true => GREATEST / largest,
            false => 0.0,
        };
        let numbers: Vec<i16> = residual
            .iter()
            .map(|number| rounded(number * scale))
            .collect();
        Self {
            width,
            numbers: arrange(&numbers, width.bits()),
            num_dims: numbers.len(),
            sum: numbers.iter().map(|number| i32::from(*number)).sum(),
            half_step: largest / GREATEST / 2.0,
            base: space.closeness(query, centroid),
        }
    }

    /// Estimates the closeness of each code. Damaged corrections may give infinities, but no value that
    /// is not a number.
    pub fn closeness(&self, codes: Codes<'_>) -> Vec<f32> {
        let corrections = codes.corrections.as_chunks::<CORRECTIONS_LEN>().0;
        let mut products = vec![0; corrections.len()];
        multiply(
            codes.codes,
            self.width.code_len(self.num_dims),
            self.width.bits(),
            &self.numbers,
            &mut products,
        );
        let both = products.into_iter().zip(corrections);
        both.map(|(product, corrections)| self.corrected(product, *corrections))
            .collect()
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "an estimate; the conversion rounds alike everywhere"
    )]
    fn corrected(&self, product: i32, corrections: [u8; CORRECTIONS_LEN]) -> f32 {
        let [a, b, c, d, e, f, g, h] = corrections;
        let factor = f32::from_le_bytes([a, b, c, d]);
        let offset = f32::from_le_bytes([e, f, g, h]);
        let greatest = i32::from(self.width.greatest());
        let inner = product
            .wrapping_mul(2)
            .wrapping_sub(self.sum.wrapping_mul(greatest));
        let closeness = self.base + offset + factor * (self.half_step * inner as f32);
        match closeness.is_nan() {
            true => f32::NEG_INFINITY,
            false => closeness,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the number is at most 1,023 by its scale"
)]
fn rounded(number: f32) -> i16 {
    ((number + ROUNDING) - ROUNDING) as i16
}

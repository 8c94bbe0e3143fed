//! Loops over arrays, which compilers make vectors of where the processor has them. The reference for
//! tests.

use super::{NUM_LANES, fold};

/// Applies `step` to each lane and the numbers that belong to it.
#[inline(always)]
fn in_lanes(one: &[f32], other: &[f32], step: impl Fn(f32, f32) -> f32) -> f32 {
    let len = one.len().min(other.len());
    let one = one.get(..len).unwrap_or_default();
    let other = other.get(..len).unwrap_or_default();
    let (one, one_rest) = one.as_chunks::<NUM_LANES>();
    let (other, other_rest) = other.as_chunks::<NUM_LANES>();
    let mut lanes = [0f32; NUM_LANES];
    for (one, other) in one.iter().zip(other) {
        for ((lane, one), other) in lanes.iter_mut().zip(one).zip(other) {
            *lane += step(*one, *other);
        }
    }
    for ((lane, one), other) in lanes.iter_mut().zip(one_rest).zip(other_rest) {
        *lane += step(*one, *other);
    }
    fold(lanes)
}

#[inline(always)]
pub(super) fn dot(one: &[f32], other: &[f32]) -> f32 {
    in_lanes(one, other, |one, other| one * other)
}

#[inline(always)]
pub(super) fn distance(one: &[f32], other: &[f32]) -> f32 {
    in_lanes(one, other, |one, other| (one - other) * (one - other))
}

pub(super) fn dot_bytes(one: &[u8], other: &[u8]) -> i32 {
    let both = one.iter().zip(other);
    both.map(|(one, other)| i32::from(one.cast_signed()) * i32::from(other.cast_signed()))
        .fold(0, i32::wrapping_add)
}

pub(super) fn squared_distance_bytes(one: &[u8], other: &[u8]) -> i32 {
    let both = one.iter().zip(other);
    both.map(|(one, other)| i32::from(one.cast_signed()) - i32::from(other.cast_signed()))
        .fold(0, |sum: i32, difference| {
            sum.wrapping_add(difference * difference)
        })
}

pub(super) fn hamming(one: &[u8], other: &[u8]) -> u32 {
    let len = one.len().min(other.len());
    let (one, one_rest) = one.get(..len).unwrap_or_default().as_chunks::<8>();
    let (other, other_rest) = other.get(..len).unwrap_or_default().as_chunks::<8>();
    let words = one
        .iter()
        .zip(other)
        .map(|(one, other)| (u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other)).count_ones());
    let rest = one_rest.iter().zip(other_rest);
    let rest = rest.map(|(one, other)| (one ^ other).count_ones());
    words.chain(rest).fold(0, u32::wrapping_add)
}

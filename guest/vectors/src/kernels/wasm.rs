//! Vectors of WebAssembly.
#![expect(
    unsafe_code,
    reason = "sixteen bytes as a vector: put together lane by lane, some become four loads"
)]

use std::arch::wasm32::{
    f32x4_add, f32x4_extract_lane, f32x4_mul, f32x4_splat, f32x4_sub, i8x16_popcnt,
    i16x8_extend_high_i8x16, i16x8_extend_low_i8x16, i16x8_sub, i32x4_add, i32x4_dot_i16x8,
    i32x4_extract_lane, i32x4_splat, u16x8_extadd_pairwise_u8x16, u32x4_extadd_pairwise_u16x8,
    v128, v128_xor,
};

use super::NUM_LANES;

/// Number of vectors of a floating-point sum.
const NUM_SUMS: usize = NUM_LANES / 4;

#[inline(always)]
fn floats(numbers: [f32; 4]) -> v128 {
    // SAFETY: both types have 16 bytes, and any bits are valid in either.
    unsafe { std::mem::transmute::<[f32; 4], v128>(numbers) }
}

#[inline(always)]
fn bytes(bytes: [u8; 16]) -> v128 {
    // SAFETY: both types have 16 bytes, and any bits are valid in either; WebAssembly is
    // little-endian.
    unsafe { std::mem::transmute::<[u8; 16], v128>(bytes) }
}

#[inline(always)]
fn add_floats(
    sums: &mut [v128; NUM_SUMS],
    one: &[f32; NUM_LANES],
    other: &[f32; NUM_LANES],
    step: impl Fn(v128, v128) -> v128,
) {
    let (one, _) = one.as_chunks::<4>();
    let (other, _) = other.as_chunks::<4>();
    for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
        *sum = f32x4_add(*sum, step(floats(*one), floats(*other)));
    }
}

/// Returns the beginning of an array, padded with zeros.
#[inline(always)]
fn padded<T: Copy + Default, const N: usize>(rest: &[T]) -> [T; N] {
    let mut padded = [T::default(); N];
    for (place, value) in padded.iter_mut().zip(rest) {
        *place = *value;
    }
    padded
}

/// Applies `step`, which gives 0 for two zeros, and adds up the results.
#[inline(always)]
fn in_lanes(one: &[f32], other: &[f32], step: impl Fn(v128, v128) -> v128) -> f32 {
    let len = one.len().min(other.len());
    let (one, one_rest) = one.get(..len).unwrap_or_default().as_chunks::<NUM_LANES>();
    let (other, other_rest) = other
        .get(..len)
        .unwrap_or_default()
        .as_chunks::<NUM_LANES>();
    let mut sums = [f32x4_splat(0.0); NUM_SUMS];
    for (one, other) in one.iter().zip(other) {
        add_floats(&mut sums, one, other, &step);
    }
    if !one_rest.is_empty() {
        // A lane is never -0, so that adding 0 changes nothing.
        add_floats(&mut sums, &padded(one_rest), &padded(other_rest), &step);
    }
    let [first, second, third, fourth] = sums;
    let sums = f32x4_add(f32x4_add(first, third), f32x4_add(second, fourth));
    (f32x4_extract_lane::<0>(sums) + f32x4_extract_lane::<2>(sums))
        + (f32x4_extract_lane::<1>(sums) + f32x4_extract_lane::<3>(sums))
}

pub(super) fn dot(one: &[f32], other: &[f32]) -> f32 {
    in_lanes(one, other, |one, other| f32x4_mul(one, other))
}

pub(super) fn distance(one: &[f32], other: &[f32]) -> f32 {
    in_lanes(one, other, |one, other| {
        let difference = f32x4_sub(one, other);
        f32x4_mul(difference, difference)
    })
}

/// Adds up whole numbers that `step` makes of 16 bytes; it gives zeros for zeros.
#[inline(always)]
fn over_bytes(one: &[u8], other: &[u8], step: impl Fn(v128, v128) -> v128) -> i32 {
    let len = one.len().min(other.len());
    let (one, one_rest) = one.get(..len).unwrap_or_default().as_chunks::<16>();
    let (other, other_rest) = other.get(..len).unwrap_or_default().as_chunks::<16>();
    let mut sums = i32x4_splat(0);
    for (one, other) in one.iter().zip(other) {
        sums = i32x4_add(sums, step(bytes(*one), bytes(*other)));
    }
    if !one_rest.is_empty() {
        let rest = step(bytes(padded(one_rest)), bytes(padded(other_rest)));
        sums = i32x4_add(sums, rest);
    }
    sum_of(sums)
}

#[inline(always)]
fn sum_of(sums: v128) -> i32 {
    i32x4_extract_lane::<0>(sums)
        .wrapping_add(i32x4_extract_lane::<1>(sums))
        .wrapping_add(i32x4_extract_lane::<2>(sums))
        .wrapping_add(i32x4_extract_lane::<3>(sums))
}

pub(super) fn dot_bytes(one: &[u8], other: &[u8]) -> i32 {
    over_bytes(one, other, |one, other| {
        let low = i32x4_dot_i16x8(i16x8_extend_low_i8x16(one), i16x8_extend_low_i8x16(other));
        let high = i32x4_dot_i16x8(i16x8_extend_high_i8x16(one), i16x8_extend_high_i8x16(other));
        i32x4_add(low, high)
    })
}

pub(super) fn squared_distance_bytes(one: &[u8], other: &[u8]) -> i32 {
    over_bytes(one, other, |one, other| {
        let low = i16x8_sub(i16x8_extend_low_i8x16(one), i16x8_extend_low_i8x16(other));
        let high = i16x8_sub(i16x8_extend_high_i8x16(one), i16x8_extend_high_i8x16(other));
        i32x4_add(i32x4_dot_i16x8(low, low), i32x4_dot_i16x8(high, high))
    })
}

/// Adds up 16 bytes in groups of four.
#[inline(always)]
fn widened(counts: v128) -> v128 {
    u32x4_extadd_pairwise_u16x8(u16x8_extadd_pairwise_u8x16(counts))
}

pub(super) fn hamming(one: &[u8], other: &[u8]) -> u32 {
    let step = |one, other| widened(i8x16_popcnt(v128_xor(one, other)));
    over_bytes(one, other, step).cast_unsigned()
}

//! Selects packed rows within a range, as bits, without unpacking them.
//!
//! A vector loads rows as they are stored, and gets one row into each lane without aligning it to
//! the start of its lane; the bounds are shifted once instead. Rows are loaded, distributed to
//! lanes, masked and compared, eight or more with each instruction. Rows must fit a lane wherever
//! in a byte they begin. Other widths, the end of the bytes, and processors without these
//! instructions are left to [`unpack`](super::unpack) and [`within`](super::within).
//!
//! ```text
//!   bytes of a column    ╎ neighbour │ row │ neighbour ╎ …     16 of them for each vector
//!   lane of 16 or 32 bit ╎     0     │ row │     0     ╎       least and span at the same place of theirs
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
mod lanes;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;

#[cfg(all(
    test,
    any(
        target_arch = "x86_64",
        all(target_arch = "wasm32", target_feature = "simd128")
    )
))]
mod tests;

/// Maximum width of rows that fit a 16-bit lane wherever in a byte they begin.
const MAX_WIDTH_16: u8 = 9;

/// Maximum width of rows that fit a 32-bit lane wherever in a byte they begin.
const MAX_WIDTH_32: u8 = 25;

/// Number of bytes loaded into a vector.
const VECTOR_LEN: usize = 16;

/// Sets bit `i % 64` of `words[i / 64]` if row `skip + i` of `data` is at most `span` above
/// `least`, and clears all others. Returns the number of words written: all that the bytes suffice
/// for, or 0. `skip` is less than eight, and the sum of `least` and `span` is less than 2^32.
pub(crate) fn select(
    data: &[u8],
    width: u8,
    skip: u32,
    [least, span]: [u32; 2],
    words: &mut [u64],
) -> usize {
    if width == 0 || width > MAX_WIDTH_32 {
        return 0;
    }
    let greatest = u32::MAX.checked_shr(32 - u32::from(width)).unwrap_or(0);
    let Some(most) = greatest.checked_sub(least) else {
        // No row is that large.
        words.fill(0);
        return words.len();
    };
    let lane_len = if width <= MAX_WIDTH_16 { 2 } else { 4 };
    let rows = lanes::Rows::new(width, skip, [least, span.min(most)], lane_len);
    let data = data.get(rows.first_byte..).unwrap_or_default();
    select_rows(data, &rows, words)
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "a function for a feature may be called where the feature was found"
)]
fn select_rows(data: &[u8], rows: &lanes::Rows, words: &mut [u64]) -> usize {
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement of the function.
        return unsafe { avx2::select(data, rows, words) };
    }
    0
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn select_rows(data: &[u8], rows: &lanes::Rows, words: &mut [u64]) -> usize {
    wasm::select(data, rows, words)
}

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
fn select_rows(_: &[u8], _: &lanes::Rows, _: &mut [u64]) -> usize {
    0
}

//! Unpacking of listed rows.

use super::{Code, load, low_bits};

/// Unpacks the rows of a list into `out`, which has the length of the list. `data` begins at row 0
/// and is no longer than the bytes of `num_rows` rows of `width` bits; `width` is at most
/// `T::BITS`. Returns `false` without any effect if a row is not below `num_rows`.
pub(crate) fn gather<T: Code>(
    data: &[u8],
    width: u8,
    num_rows: u32,
    rows: &[u32],
    out: &mut [T],
) -> bool {
    // All rows are checked first, so that no product below overflows.
    if rows.iter().fold(0, |max, row| max.max(*row)) >= num_rows && !rows.is_empty() {
        return false;
    }
    if width == 0 {
        out.fill(T::default());
        return true;
    }
    let mask = low_bits(u32::from(width));
    for (out, row) in out.iter_mut().zip(rows) {
        let bit = u64::from(*row).wrapping_mul(u64::from(width));
        *out = T::low(load(data, bit) & mask);
    }
    true
}

//! Unpacking of consecutive rows.
//!
//! Each width has its own loop, so that shifts, masks and the number of bytes to load are
//! constants: eight rows take eight loads, shifts, ands and stores, and one comparison with the end
//! of the bytes. Remaining rows, and those at the end of the bytes, use one loop for all widths:
//! the loops of the widths are many, and so must be short.

use super::{Code, load, low_bits};

/// Number of rows that are whole bytes at every width.
pub(crate) const GROUP_ROWS: usize = 8;

/// Number of bytes that a group may load past its own.
const SLACK: usize = 8;

/// Unpacks as many rows as `out` holds, from the first bit of `data`. `width` is at most `T::BITS`.
/// Rows past the end of `data` become zeros; callers compare lengths before.
#[inline(never)]
pub(crate) fn unpack<T: Code>(data: &[u8], width: u8, out: &mut [T]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                $($width if $width <= T::BITS => unpack_groups::<$width, T>(data, out),)*
                _ => 0,
            }
        };
    }
    let num_done = by_width!(
        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 64
    );
    if width == 0 {
        out.fill(T::default());
        return;
    }
    let mask = low_bits(u32::from(width));
    for (row, out) in out.iter_mut().enumerate().skip(num_done) {
        let row = u64::try_from(row).unwrap_or(u64::MAX);
        *out = T::low(load(data, row.wrapping_mul(u64::from(width))) & mask);
    }
}

/// Unpacks groups of eight rows while their bytes and the slack are available. Returns the number
/// of rows.
#[inline(always)]
fn unpack_groups<const W: usize, T: Code>(data: &[u8], out: &mut [T]) -> usize {
    let mask = low_bits(u32::try_from(W).unwrap_or(64));
    let (mut rows_from, mut num_done) = (data, 0usize);
    for group in out.as_chunks_mut::<GROUP_ROWS>().0 {
        let Some(window) = rows_from.get(..W + SLACK) else {
            break;
        };
        for (ord, out) in group.iter_mut().enumerate() {
            let bit = ord * W;
            let word = window.get(bit / 8..).and_then(<[u8]>::first_chunk);
            let word = word.map_or(0, |bytes| u64::from_le_bytes(*bytes));
            *out = T::low((word >> (bit % 8)) & mask);
        }
        rows_from = rows_from.get(W..).unwrap_or_default();
        num_done = num_done.saturating_add(GROUP_ROWS);
    }
    num_done
}

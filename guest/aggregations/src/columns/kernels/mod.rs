//! Loops over packed values. They work on bytes, widths and output slices, without knowing columns.
//!
//! Row `i` of width `w` is the `w` bits from bit `i * w`, where bit 0 is the lowest of the first
//! byte. Eight rows are therefore `w` whole bytes, and 64 rows are `w` words: the loops advance by
//! one of these.
//!
//! Every kernel gets all bytes from its first row to the end of the column, not only those of its
//! rows: loads of eight bytes may read past the rows, and only the end of the column needs care.

mod bytes;
mod gather;
mod planes;
mod select;
mod tally;
mod unpack;
mod wide;
mod within;

pub(crate) use bytes::count_bytes;
pub(crate) use gather::gather;
pub(crate) use planes::{MAX_PLANES, count_narrow};
pub(crate) use select::select;
pub(crate) use tally::Tally;
pub(crate) use unpack::{GROUP_ROWS, unpack};
pub(crate) use within::within;

/// Output type of a kernel: packed values as numbers of 32 or 64 bits.
pub(crate) trait Code: Copy + Default {
    /// Maximum width of a packed value in bits.
    const BITS: u8;

    /// Returns the low bits of `raw`.
    fn low(raw: u64) -> Self;
}

impl Code for u64 {
    const BITS: u8 = 64;

    #[inline(always)]
    fn low(raw: u64) -> Self {
        raw
    }
}

impl Code for u32 {
    const BITS: u8 = 32;

    #[inline(always)]
    #[cfg_attr(
        not(test),
        expect(
            clippy::cast_possible_truncation,
            reason = "the low bits are what is asked for, and callers look at the width first"
        )
    )]
    fn low(raw: u64) -> Self {
        raw as u32
    }
}

/// Returns a mask of the lowest `width` bits; all bits for 64 and more.
#[inline(always)]
pub(crate) const fn low_bits(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// Returns at least 57 bits from `bit`, or 64 from the start of a byte, followed by zeros past the
/// end of `data`. The bytes of all rows are in memory, so `bit / 8` of an existing row fits an
/// address.
#[inline(always)]
pub(crate) fn load(data: &[u8], bit: u64) -> u64 {
    let word = data
        .windows(8)
        .nth((bit / 8) as usize)
        .and_then(<[u8]>::first_chunk);
    let word = word.map_or_else(|| load_end(data, bit), |bytes| u64::from_le_bytes(*bytes));
    word >> (bit % 8)
}

/// Returns the fewer than eight bytes at the end of `data`.
#[cold]
#[inline(never)]
fn load_end(data: &[u8], bit: u64) -> u64 {
    let from = usize::try_from(bit / 8).unwrap_or(usize::MAX);
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(data.get(from..).unwrap_or_default()) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

//! Numbers that differ little from their neighbours: groups, each with its own width.

use super::bits::{BitWriter, bits_at, num_bytes_of};
use super::{Reader, Writer};
use crate::FormatError;

/// Number of numbers written with the same width.
pub(crate) const GROUP_LEN: usize = 64;

/// Minimum number of bytes of a group: its smallest number and its width.
const MIN_NUM_BYTES: usize = 2;

/// Appends lists of equal length: the first group of each, then the second group of each, and so
/// on.
pub(crate) fn write_groups<const N: usize>(out: &mut Writer, lists: [&[u64]; N]) {
    let num = lists.first().map_or(0, |list| list.len());
    for from in (0..num).step_by(GROUP_LEN) {
        for list in lists {
            let rest = list.get(from..).unwrap_or_default();
            write_group(out, rest.get(..GROUP_LEN).unwrap_or(rest));
        }
    }
}

/// Reads `num` numbers of each list, index by index. No allocation exceeds what the bytes can
/// contain.
///
/// # Errors
/// The bytes end too early, or a number has more than 64 bits.
pub(crate) fn read_groups<const N: usize>(
    reader: &mut Reader<'_>,
    num: usize,
) -> Result<Vec<[u64; N]>, FormatError> {
    let least = num.div_ceil(GROUP_LEN).saturating_mul(N * MIN_NUM_BYTES);
    if least > reader.remaining() {
        return Err(reader.error(format!(
            "cut short: at least {least} more bytes are needed and {} are left",
            reader.remaining()
        )));
    }
    let mut numbers = vec![[0; N]; num];
    for group in numbers.chunks_mut(GROUP_LEN) {
        for list in 0..N {
            read_group(reader, group, list)?;
        }
    }
    Ok(numbers)
}

/// Writes the smallest number, and the differences of all from it with as few bits as the largest
/// needs.
fn write_group(out: &mut Writer, numbers: &[u64]) {
    let least = numbers.iter().min().copied().unwrap_or(0);
    let most = numbers.iter().max().copied().unwrap_or(0);
    let width = u64::BITS - (most - least).leading_zeros();
    out.varint(least);
    out.varint(u64::from(width));
    let mut bits = BitWriter::default();
    for number in numbers {
        bits.push(number - least, width);
    }
    out.raw(&bits.into_bytes());
}

fn read_group<const N: usize>(
    reader: &mut Reader<'_>,
    group: &mut [[u64; N]],
    list: usize,
) -> Result<(), FormatError> {
    let least = reader.varint()?;
    let width = reader.varint_u32()?;
    if width > u64::BITS {
        return Err(reader.error(format!("a number of {width} bits")));
    }
    let len = num_bytes_of(group.len() as u64, width).unwrap_or(usize::MAX);
    let bits = reader.raw(len)?;
    for (place, numbers) in (0..).zip(group) {
        let more = bits_at(bits, place, width).unwrap_or(u64::MAX);
        let number = least.checked_add(more);
        let number = number.ok_or_else(|| reader.error("a number is longer than 64 bits"))?;
        if let Some(place) = numbers.get_mut(list) {
            *place = number;
        }
    }
    Ok(())
}

//! Values of a column of IP addresses: validates their lengths before tantivy opens them.
//!
//! ```text
//! vint rows │ u8 1 │ codes, packed │ footer │ u32 length of the footer
//! footer:  u64 flags │ vint min, max, rows │ u8 width │ vint ranges │ (vint gap, vint length - 1) for each
//! ```
//!
//! Codes count the addresses of all ranges from 1; 0 stands for no address.

use std::io;

use super::{Cursor, check_width, damaged, packed_len_bytes};

/// Validates the values of a column of addresses, and returns their number.
pub(crate) fn check_addresses(bytes: &[u8]) -> io::Result<u32> {
    let mut cursor = Cursor::new(bytes);
    let num_rows = cursor.vint_u32()?;
    if cursor.u8()? != 1 {
        return Err(damaged("its codec is unknown"));
    }
    let footer_len = cursor.len_from_end()?;
    let mut footer = Cursor::new(cursor.bytes_from_end(footer_len)?);
    footer.bytes(8)?;
    let (min, max) = (footer.vint_u128()?, footer.vint_u128()?);
    let width = {
        let rows_again = footer.vint_u32()?;
        let width = check_width(footer.u8()?)?;
        if rows_again != num_rows {
            return Err(damaged("it has two different numbers of rows"));
        }
        width
    };
    let len = packed_len_bytes(num_rows, width);
    if width > 32 || len.is_none_or(|len| len > cursor.len()) {
        return Err(damaged("it has fewer values than rows"));
    }
    let (has_min, has_max) = check_ranges(&mut footer, min, max)?;
    if num_rows > 0 && !(has_min && has_max) {
        return Err(damaged(
            "its least or greatest address is in none of its ranges",
        ));
    }
    Ok(num_rows)
}

/// Checks that the ranges ascend and that their codes fit into 32 bits. Returns whether the ranges
/// contain `min` and `max`.
fn check_ranges(footer: &mut Cursor<'_>, min: u128, max: u128) -> io::Result<(bool, bool)> {
    let out_of_range = || damaged("its ranges of addresses are out of range");
    let num_ranges = footer.vint()?;
    let (mut address, mut codes, mut has_min, mut has_max) = (0u128, 1u32, false, false);
    // A range takes at least two bytes, so a false count cannot exceed the length of the bytes.
    for _ in 0..num_ranges {
        let first = address
            .checked_add(footer.vint_u128()?)
            .ok_or_else(out_of_range)?;
        let more = u32::try_from(footer.vint_u128()?).map_err(|_| out_of_range())?;
        let last = first
            .checked_add(u128::from(more))
            .ok_or_else(out_of_range)?;
        let end = codes
            .checked_add(more)
            .and_then(|codes| codes.checked_add(1));
        codes = end.ok_or_else(out_of_range)?;
        has_min |= (first..=last).contains(&min);
        has_max |= (first..=last).contains(&max);
        address = last;
    }
    Ok((has_min, has_max))
}

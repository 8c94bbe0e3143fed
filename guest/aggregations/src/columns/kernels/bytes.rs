//! Counts of codes of 5 to 8 bits, unpacked and counted in one loop.
//!
//! Eight rows of `w` bits are `w` bytes, one load. An addition in memory waits for an earlier one
//! at the same address, and consecutive codes are often equal, so each of the eight rows has a
//! table of its own.

use super::planes::MAX_PLANES;

/// Maximum width of codes that are counted in this way.
const MAX_BYTE_WIDTH: u8 = 8;

/// Number of rows in one load.
const GROUP_ROWS: usize = 8;

/// Number of groups counted in one iteration of the loop.
const GROUPS_AT_ONCE: u32 = 4;

/// Minimum number of rows for each code at which clearing and adding up the tables pays.
const ROWS_PER_CODE: u32 = 16;

/// Adds to `counts[code]` the occurrences of each code of `width` bits, from the first bit of
/// `data`. Returns the number of rows counted: a multiple of eight up to `num_rows`, or 0 if other
/// loops are faster for so few rows or this width. The flag is `false` if codes were outside of
/// `counts`.
pub(crate) fn count_bytes(
    data: &[u8],
    width: u8,
    num_rows: u32,
    counts: &mut [u64],
) -> (u32, bool) {
    if width <= MAX_PLANES || width > MAX_BYTE_WIDTH || num_rows >> width < ROWS_PER_CODE {
        return (0, true);
    }
    match width {
        5 => count::<5, 32>(data, num_rows, counts),
        6 => count::<6, 64>(data, num_rows, counts),
        7 => count::<7, 128>(data, num_rows, counts),
        _ => count::<8, 256>(data, num_rows, counts),
    }
}

/// Counts codes of `W` bits, of which there are `CODES` = 2^W. Never inlined: together with the
/// caller's values, a WebAssembly compiler would have no register left for the tables.
#[inline(never)]
fn count<const W: usize, const CODES: usize>(
    data: &[u8],
    num_rows: u32,
    counts: &mut [u64],
) -> (u32, bool) {
    // 32 bits suffice: there are fewer than 2^32 rows.
    let mut tables = [[0u32; CODES]; GROUP_ROWS];
    // Number of groups for which a whole word can be loaded.
    let num_words = data.len().checked_sub(8).map_or(0, |last| last / W + 1);
    let num_groups = (num_rows / 8).min(u32::try_from(num_words).unwrap_or(u32::MAX));
    let mut rest = data;
    // Several groups in one iteration, since guests check at its end whether they must stop.
    for _ in 0..num_groups / GROUPS_AT_ONCE {
        let Some(bytes) = rest.get(..3 * W + 8) else {
            break;
        };
        // Unrolled by hand, because not every compiler unrolls a loop here.
        let from = |byte: usize| bytes.get(byte..).unwrap_or_default();
        add::<W, CODES>(&mut tables, from(0));
        add::<W, CODES>(&mut tables, from(W));
        add::<W, CODES>(&mut tables, from(2 * W));
        add::<W, CODES>(&mut tables, from(3 * W));
        rest = rest.get(4 * W..).unwrap_or_default();
    }
    for _ in 0..num_groups % GROUPS_AT_ONCE {
        add::<W, CODES>(&mut tables, rest);
        rest = rest.get(W..).unwrap_or_default();
    }
    let num_done = num_groups.saturating_mul(8);
    let mut is_inside = true;
    for code in 0..CODES {
        let lanes = tables.iter().filter_map(|table| table.get(code));
        let sum: u64 = lanes.map(|count| u64::from(*count)).sum();
        match counts.get_mut(code) {
            Some(count) => *count = count.saturating_add(sum),
            None => is_inside &= sum == 0,
        }
    }
    (num_done, is_inside)
}

/// Counts eight rows at the start of a word.
#[inline(always)]
fn add<const W: usize, const CODES: usize>(tables: &mut [[u32; CODES]; GROUP_ROWS], bytes: &[u8]) {
    let Some(bytes) = bytes.first_chunk::<8>() else {
        return;
    };
    let mut word = u64::from_le_bytes(*bytes);
    for table in tables {
        let code = usize::try_from(word % CODES as u64).unwrap_or(0);
        if let Some(count) = table.get_mut(code) {
            *count = count.wrapping_add(1);
        }
        word >>= W;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::unpack;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn counting_as_it_unpacks_is_unpacking_and_then_counting(
            data in proptest::collection::vec(any::<u8>(), 0..6000),
            width in 0u8..=9,
            num_rows in 0u32..6000,
            num_places in 1usize..=256,
        ) {
            let mut counts = vec![0; num_places];
            let (num_done, is_inside) = count_bytes(&data, width, num_rows, &mut counts);
            prop_assert!(num_done <= num_rows && num_done % 8 == 0);
            let mut codes = vec![0u32; num_done as usize];
            unpack(&data, width, &mut codes);
            let (mut expected, mut all_inside) = (vec![0u64; num_places], true);
            for code in codes {
                match expected.get_mut(code as usize) {
                    Some(count) => *count += 1,
                    None => all_inside = false,
                }
            }
            prop_assert_eq!((counts, is_inside), (expected, all_inside));
            // Only the last rows, which no whole word follows, may be left over.
            let has_bytes = data.len() * 8 / usize::from(width.max(1)) >= num_rows as usize + 16;
            if (5..=8).contains(&width) && num_rows >> width >= ROWS_PER_CODE && has_bytes {
                prop_assert_eq!(num_done, num_rows / 8 * 8);
            }
        }
    }
}

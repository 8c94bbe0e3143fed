//! How often each code of 5 to 8 bits occurs, unpacked and counted in one go.
//!
//! Eight rows of `w` bits are `w` bytes, one load. Adding to a place in memory waits for the addition to it before,
//! and codes that follow each other are often the same, so each of the eight
//! rows has a table of its own.

use super::planes::MAX_PLANES;

/// The widest codes that are counted in this way.
const MAX_BYTE_WIDTH: u8 = 8;

/// Rows that are one load.
const GROUP_ROWS: usize = 8;

/// Such groups that are counted in one round of the loop.
const GROUPS_AT_ONCE: u32 = 4;

/// The fewest rows for each code that pay for clearing the tables and adding them up.
const ROWS_PER_CODE: u32 = 16;

/// Adds to `counts[code]` how often each code of `width` bits occurs, from the first bit of `data` on. How many
/// rows that were, at most `num_rows` and a multiple of eight: those before the end of the bytes, and none if other
/// loops are better at so few rows or at this width. `false` if codes occurred that `counts` has no place for.
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

/// `W` bits and `CODES` = 2^W codes. Never a part of its caller: with the caller's values beside its own, a compiler of
/// WebAssembly has no register left for where the tables are.
#[inline(never)]
fn count<const W: usize, const CODES: usize>(
    data: &[u8],
    num_rows: u32,
    counts: &mut [u64],
) -> (u32, bool) {
    // 32 bits suffice: there are fewer than 2^32 rows.
    let mut tables = [[0u32; CODES]; GROUP_ROWS];
    // Groups that a whole word can be loaded for.
    let num_words = data.len().checked_sub(8).map_or(0, |last| last / W + 1);
    let num_groups = (num_rows / 8).min(u32::try_from(num_words).unwrap_or(u32::MAX));
    let mut rest = data;
    // Several at once: guests look at the end of each round whether they shall stop.
    for _ in 0..num_groups / GROUPS_AT_ONCE {
        let Some(bytes) = rest.get(..3 * W + 8) else {
            break;
        };
        // Written out, because a loop in here is not unrolled everywhere.
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

/// Counts eight rows, which a word begins with.
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
            // Only the last rows may be left to others: those that no whole word follows.
            let has_bytes = data.len() * 8 / usize::from(width.max(1)) >= num_rows as usize + 16;
            if (5..=8).contains(&width) && num_rows >> width >= ROWS_PER_CODE && has_bytes {
                prop_assert_eq!(num_done, num_rows / 8 * 8);
            }
        }
    }
}

//! Comparison with a row-by-row loop for all widths, first rows, and numbers of bytes after the
//! rows.

use proptest::prelude::*;

use super::super::{load, low_bits};
use super::*;

/// Returns whether this machine supports the instructions.
fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}

fn check(
    data: &[u8],
    width: u8,
    skip: u32,
    range: [u32; 2],
    num_words: usize,
) -> Result<usize, TestCaseError> {
    const UNTOUCHED: u64 = 0x0123_4567_89ab_cdef;
    let mut words = vec![UNTOUCHED; num_words];
    let num_done = select(data, width, skip, range, &mut words);
    prop_assert!(num_done <= num_words);
    let mask = low_bits(width.into());
    for (place, word) in words.iter().enumerate() {
        let mut expected = 0;
        for ord in 0..64 {
            let row = u64::from(skip) + place as u64 * 64 + ord;
            let code = load(data, row * u64::from(width)) & mask;
            let is_within = (code as u32).wrapping_sub(range[0]) <= range[1];
            expected |= u64::from(is_within) << ord;
        }
        match place < num_done {
            true => prop_assert_eq!(*word, expected, "word {}", place),
            false => prop_assert_eq!(*word, UNTOUCHED),
        }
    }
    Ok(num_done)
}

/// Generates ranges: some with both ends up to the largest row, and arbitrary ones.
fn ranges(width: u8) -> impl Strategy<Value = [u32; 2]> {
    let greatest = u32::MAX.checked_shr(32 - u32::from(width)).unwrap_or(0);
    prop_oneof![
        (any::<u32>(), any::<u32>()).prop_map(move |(least, span)| {
            let least = least & greatest;
            [least, (span & greatest).min(greatest - least)]
        }),
        any::<[u32; 2]>().prop_map(|[least, span]| [least, span.min(u32::MAX - least)]),
        Just([0, u32::MAX]),
        Just([greatest, 0]),
        Just([0, 0]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn rows_within_a_range_are_those_that_compare_so_one_by_one(
        (data, num_words) in (proptest::collection::vec(any::<u8>(), 0..1000), 0usize..8),
        (width, range) in (0u8..=32).prop_flat_map(|width| (Just(width), ranges(width))),
        skip in 0u32..8,
    ) {
        check(&data, width, skip, range, num_words)?;
    }
}

#[test]
fn every_width_is_done_from_every_row_on_up_to_what_is_read_ahead() {
    let data: Vec<u8> = (0u32..900)
        .map(|ord| (ord.wrapping_mul(0x9e37_79b9) >> 13) as u8)
        .collect();
    for width in 1..=MAX_WIDTH_32 {
        let greatest = u32::MAX >> (32 - width);
        for skip in 0..8 {
            for range in [
                [greatest / 4, greatest / 2],
                [0, greatest / 3],
                [greatest, 0],
            ] {
                // From just enough bytes for three words up to just too few for the fourth.
                let from = usize::from(width) * skip as usize / 8;
                let three = from + usize::from(width) * 24 + VECTOR_LEN;
                for more in [0, 1, usize::from(width) * 8 - 1] {
                    let data = &data[..three + more];
                    let num_done = check(data, width, skip, range, 4).unwrap();
                    assert_eq!(num_done, if has_vectors() { 3 } else { 0 });
                }
                let data = &data[..three - 1];
                let num_done = check(data, width, skip, range, 4).unwrap();
                assert_eq!(num_done, if has_vectors() { 2 } else { 0 });
            }
        }
    }
}

//! Counting by planes: comparison with counting bit by bit.

use proptest::prelude::*;

use super::*;

/// Counts row by row and bit by bit.
fn counts_bit_by_bit(data: &[u8], width: usize, num_rows: usize) -> CodeCounts {
    let bit = |bit: usize| {
        data.get(bit / 8)
            .is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    };
    let mut counts = [0; 16];
    for row in 0..num_rows {
        let code: usize = (0..width)
            .map(|place| usize::from(bit(row * width + place)) << place)
            .sum();
        counts[code] += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn planes_count_what_counting_one_row_after_the_other_counts(
        data in proptest::collection::vec(any::<u8>(), 0..300),
        width in 1u8..=4,
        num_rows in 0u32..600,
    ) {
        let wanted = counts_bit_by_bit(&data, usize::from(width), num_rows as usize);
        prop_assert_eq!(count_planes(&data, width, num_rows), wanted);
        prop_assert_eq!(count_planes_here(&data, width, num_rows), wanted);
    }
}

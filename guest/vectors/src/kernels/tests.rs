//! Loops against sums in wider numbers, bit by bit, and in the order that the crate promises.

use proptest::prelude::*;

use super::words::EightInArrays;
use super::*;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Adds up numbers in the order of sums, one by one.
fn in_order(numbers: &[f32]) -> f32 {
    let mut lanes = [0f32; 16];
    for (ord, number) in numbers.iter().enumerate() {
        lanes[ord % 16] += number;
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
    }
    lanes[0]
}

fn floats() -> impl Strategy<Value = Vec<(f32, f32)>> {
    proptest::collection::vec((-1e3f32..1e3, -1e3f32..1e3), 0..200)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sums_are_in_the_order_that_is_promised(pairs in floats()) {
        let (one, other): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
        let products: Vec<f32> = pairs.iter().map(|(one, other)| one * other).collect();
        let squares: Vec<f32> = pairs.iter().map(|(one, other)| (one - other) * (one - other)).collect();
        prop_assert_eq!(dot(&one, &other).to_bits(), in_order(&products).to_bits());
        prop_assert_eq!(distance(&one, &other).to_bits(), in_order(&squares).to_bits());
        prop_assert_eq!(plain::dot(&one, &other).to_bits(), dot(&one, &other).to_bits());
        prop_assert_eq!(plain::distance(&one, &other).to_bits(), distance(&one, &other).to_bits());
        // The shorter vector decides.
        let half = one.len() / 2;
        prop_assert_eq!(dot(&one[..half], &other).to_bits(), in_order(&products[..half]).to_bits());
    }

    #[test]
    fn sums_of_whole_numbers_are_exact(pairs in proptest::collection::vec(any::<(u8, u8)>(), 0..300)) {
        let (one, other): (Vec<u8>, Vec<u8>) = pairs.iter().copied().unzip();
        let signed = |byte: &u8| i64::from(byte.cast_signed());
        let inner: i64 = one.iter().zip(&other).map(|(one, other)| signed(one) * signed(other)).sum();
        let square: i64 = one.iter().zip(&other).map(|(one, other)| (signed(one) - signed(other)).pow(2)).sum();
        let differ: u32 = one.iter().zip(&other).map(|(one, other)| (one ^ other).count_ones()).sum();
        prop_assert_eq!(i64::from(dot_bytes(&one, &other)), inner);
        prop_assert_eq!(i64::from(squared_distance_bytes(&one, &other)), square);
        prop_assert_eq!(hamming(&one, &other), differ);
    }

    #[test]
    fn the_closest_row_is_found(
        vector in proptest::collection::vec(-9i8..9, 24),
        rows in proptest::collection::vec(proptest::collection::vec(-9i8..9, 24), 0..20),
    ) {
        // Of small whole numbers, all sums are exact.
        let floats = |numbers: &[i8]| numbers.iter().copied().map(f32::from).collect::<Vec<f32>>();
        let vector = floats(&vector);
        let rows: Vec<Vec<f32>> = rows.iter().map(|row| floats(row)).collect();
        let half_squares: Vec<f32> = rows.iter().map(|row| dot(row, row) / 2.0).collect();
        let distances = rows.iter().map(|row| distance(&vector, row));
        let expected = distances.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        let expected = expected.map(|(place, _)| place);
        let flat = rows.concat();
        prop_assert_eq!(closest(&vector, &flat, &half_squares), expected);
        let plain = |vector: &[f32], rows: [&[f32]; NUM_ROWS]| rows.map(|row| plain::dot(vector, row));
        prop_assert_eq!(closest_by(&vector, &flat, &half_squares, plain), expected);
    }

    /// Whatever is multiplied at once, what is closest does not depend on the processor: with fewer rows than are multiplied at
    /// once, others stand beside them.
    #[test]
    fn the_same_row_is_closest_whatever_stands_beside_it(
        vector in proptest::collection::vec(-1f32..1.0, 37),
        rows in proptest::collection::vec(proptest::collection::vec(-1f32..1.0, 37), 1..14),
    ) {
        let half_squares: Vec<f32> = rows.iter().map(|row| dot(row, row) / 2.0).collect();
        let plain = |vector: &[f32], rows: [&[f32]; NUM_ROWS]| rows.map(|row| plain::dot(vector, row));
        let flat = rows.concat();
        let expected = closest_by(&vector, &flat, &half_squares, plain);
        prop_assert_eq!(closest(&vector, &flat, &half_squares), expected);
        // Rows that are equal but for rounding are told apart alike.
        let doubled = [flat.clone(), flat].concat();
        let half_squares = half_squares.repeat(2);
        prop_assert_eq!(closest(&vector, &doubled, &half_squares), expected);
    }

    #[test]
    fn codes_are_multiplied_as_the_numbers_that_they_are(
        (bits, numbers, codes) in (prop::sample::select(vec![1u32, 2, 4]), 1usize..9, 0usize..4).prop_flat_map(
            |(bits, num_blocks, num_codes)| {
                let numbers = proptest::collection::vec(-2_000i16..2_000, 64 * num_blocks);
                let codes = proptest::collection::vec(any::<u8>(), num_codes * 8 * num_blocks * bits as usize);
                (Just(bits), numbers, codes)
            },
        ),
    ) {
        let code_len = numbers.len() / 8 * bits as usize;
        let number_at = |code: &[u8], dimension: usize| {
            let bit = dimension * bits as usize;
            i32::from(code[bit / 8] >> (bit % 8)) & ((1 << bits) - 1)
        };
        let expected = codes.chunks(code_len).map(|code| {
            let products = numbers.iter().enumerate();
            products.map(|(dimension, number)| number_at(code, dimension) * i32::from(*number)).sum()
        });
        let expected: Vec<i32> = expected.collect();
        let query = arrange(&numbers, bits);
        let mut out = vec![7; expected.len()];
        multiply(&codes, code_len, bits, &query, &mut out);
        prop_assert_eq!(&out, &expected);
        // Without vectors, too.
        out.fill(7);
        match bits {
            1 => multiply_by::<1, EightInArrays>(&codes, code_len, &query, &mut out),
            2 => multiply_by::<2, EightInArrays>(&codes, code_len, &query, &mut out),
            _ => multiply_by::<4, EightInArrays>(&codes, code_len, &query, &mut out),
        }
        prop_assert_eq!(&out, &expected);
    }

    #[test]
    fn damaged_codes_are_no_panic(
        codes in proptest::collection::vec(any::<u8>(), 0..100),
        query in proptest::collection::vec(any::<[i16; 8]>(), 0..40),
        (bits, code_len, num_out) in (0u32..9, 0usize..50, 0usize..9),
    ) {
        multiply(&codes, code_len, bits, &query, &mut vec![0; num_out]);
    }
}

#[test]
fn the_largest_vectors_of_bytes_do_not_overflow() {
    let (least, greatest) = (vec![0x80; 4_096], vec![0x7f; 4_096]);
    assert_eq!(dot_bytes(&least, &least), 4_096 * 16_384);
    assert_eq!(squared_distance_bytes(&least, &greatest), 4_096 * 65_025);
}

//! What codes promise: rotations keep lengths, and estimates are unbiased and near.

use proptest::prelude::*;

use super::*;

const GOLDEN_ROTATION: u64 = 13222137595873232044;
const GOLDEN_SHORT_ROTATION: u64 = 8074821637734251520;
const GOLDEN_CODES: [(u64, u32, u32); 3] = [
    (4203881305395212194, 1116145729, 3238297600),
    (11537129881552256822, 1106588446, 3238297600),
    (17825178960741927004, 1093691616, 3238297600),
];

/// Random numbers with about a normal distribution.
fn normal(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    (0..len).map(|_| (0..12).map(|_| next()).sum()).collect()
}

fn unit(numbers: &[f32]) -> Vec<f32> {
    let length = dot(numbers, numbers).sqrt();
    numbers.iter().map(|number| number / length).collect()
}

fn minus(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter()
        .zip(other)
        .map(|(one, other)| one - other)
        .collect()
}

/// Estimates the closeness of a vector to a query with one code.
fn estimate(
    seed: u64,
    [vector, query, centroid]: [&[f32]; 3],
    width: CodeWidth,
    space: Space,
) -> f32 {
    let rotation = Rotation::new(seed, vector.len());
    let [vector, query, centroid] =
        [vector, query, centroid].map(|numbers| rotation.rotate(numbers));
    let mut code = Vec::new();
    let corrections =
        Encoder::new(width, space).encode(&minus(&vector, &centroid), &centroid, &mut code);
    assert_eq!(code.len(), width.code_len(rotation.num_dims()));
    let corrections = [
        corrections.factor.to_le_bytes(),
        corrections.offset.to_le_bytes(),
    ]
    .concat();
    let codes = Codes {
        codes: &code,
        corrections: &corrections,
    };
    ClusterQuery::new(&query, &centroid, width, space).closeness(codes)[0]
}

#[test]
fn a_rotation_keeps_lengths_and_inner_products() {
    for dims in [1, 7, 64, 96, 100, 128, 384, 768, 1_000, 1_536, 4_096] {
        let (one, other) = (normal(1, dims), normal(2, dims));
        let rotation = Rotation::new(42, dims);
        let (a, b) = (rotation.rotate(&one), rotation.rotate(&other));
        assert_eq!(a.len(), rotation.num_dims());
        let tolerance = 1e-5 * (dot(&one, &one) * dot(&other, &other)).sqrt();
        assert!(
            (dot(&a, &b) - dot(&one, &other)).abs() <= tolerance,
            "{dims} dimensions"
        );
        let back = rotation.rotate_back(&a);
        assert!(distance(&back[..dims], &one) < 1e-6 * dot(&one, &one));
        assert_ne!(Rotation::new(43, dims).rotate(&one), a);
        assert_eq!(Rotation::new(42, dims).rotate(&one), a);
    }
}

/// **Never change these:** splits have codes of rotated vectors.
#[test]
fn rotations_and_codes_never_change() {
    let bits = |numbers: &[f32]| {
        let numbers = numbers.iter();
        numbers.fold(0u64, |hash, number| {
            (hash ^ u64::from(number.to_bits())).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let vector: Vec<f32> = (0..100u8).map(|dim| f32::from(dim) - 40.5).collect();
    let rotated = Rotation::new(7, 100).rotate(&vector);
    assert_eq!(bits(&rotated), GOLDEN_ROTATION);
    assert_eq!(
        bits(&Rotation::new(7, 64).rotate(&vector[..64])),
        GOLDEN_SHORT_ROTATION
    );
    for (width, golden) in CodeWidth::ALL.into_iter().zip(GOLDEN_CODES) {
        let mut code = Vec::new();
        let centroid = vec![0.25; rotated.len()];
        let encoder = Encoder::new(width, Space::Product);
        let corrections = encoder.encode(&rotated, &centroid, &mut code);
        let hash = code.iter().fold(0u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let found = (
            hash,
            corrections.factor.to_bits(),
            corrections.offset.to_bits(),
        );
        assert_eq!(found, golden, "{width:?}");
    }
}

/// A vector with all of its length in one dimension is spread over all of them.
#[test]
fn a_rotation_spreads_what_is_in_few_dimensions() {
    for dims in [64, 96, 384, 1_000, 1_024] {
        for place in [0, dims / 2, dims - 1] {
            let mut vector = vec![0.0; dims];
            vector[place] = 1.0;
            let rotated = Rotation::new(7, dims).rotate(&vector);
            let expected = 1.0 / (rotated.len() as f32).sqrt();
            let largest = rotated
                .iter()
                .fold(0f32, |most, number| most.max(number.abs()));
            assert!(
                largest < 5.5 * expected,
                "{dims} dimensions: {largest} of {expected}"
            );
        }
    }
}

/// The mean over many seeds is the true value, and no single one is far from it.
#[test]
fn estimates_are_unbiased() {
    const NUM_SEEDS: u32 = 2_000;
    for dims in [64, 100, 384] {
        let (vector, query) = (unit(&normal(3, dims)), unit(&normal(4, dims)));
        // Correlated, as a query and its neighbours are.
        let query: Vec<f32> = query.iter().zip(&vector).map(|(a, b)| a + b).collect();
        let centroid: Vec<f32> = normal(5, dims).iter().map(|number| number / 60.0).collect();
        for width in CodeWidth::ALL {
            for space in [Space::Distance, Space::Product] {
                let truth = f64::from(match space {
                    Space::Distance => -distance(&vector, &query),
                    Space::Product => dot(&vector, &query),
                });
                let errors = (0..NUM_SEEDS).map(|seed| {
                    let found = estimate(seed.into(), [&vector, &query, &centroid], width, space);
                    f64::from(found) - truth
                });
                let errors: Vec<f64> = errors.collect();
                let mean = errors.iter().sum::<f64>() / f64::from(NUM_SEEDS);
                let variance =
                    errors.iter().map(|error| error * error).sum::<f64>() / f64::from(NUM_SEEDS);
                let standard_error = (variance / f64::from(NUM_SEEDS)).sqrt();
                assert!(
                    mean.abs() < 4.0 * standard_error,
                    "{dims} dimensions, {width:?}, {space:?}: mean error {mean}, standard error {standard_error}"
                );
            }
        }
    }
}

/// The deviation of an inner product of unit vectors is a constant of the width over the square root of the
/// number of dimensions.
#[test]
fn more_bits_estimate_better() {
    let dims = 384;
    let largest = [
        (CodeWidth::One, 0.85),
        (CodeWidth::Two, 0.42),
        (CodeWidth::Four, 0.14),
    ];
    for (width, largest) in largest {
        let mut sum = 0.0;
        for seed in 0..2_000 {
            let (vector, query) = (
                unit(&normal(seed, dims)),
                unit(&normal(seed + 100_000, dims)),
            );
            let centroid = vec![0.0; dims];
            let found = estimate(seed, [&vector, &query, &centroid], width, Space::Product);
            sum += (found - dot(&vector, &query)).powi(2);
        }
        let deviation = (sum / 2_000.0).sqrt() * (dims as f32).sqrt();
        assert!(deviation < largest, "{width:?}: {deviation}");
        assert!(deviation > largest / 2.0, "{width:?}: {deviation}");
    }
}

#[test]
fn a_vector_at_its_centroid_has_the_centroid_s_closeness() {
    let (vector, query) = (normal(1, 100), normal(2, 100));
    for width in CodeWidth::ALL {
        let found = estimate(9, [&vector, &query, &vector], width, Space::Distance);
        let truth = -distance(&vector, &query);
        assert!(
            (found - truth).abs() < 1e-3,
            "{width:?}: {found} instead of {truth}"
        );
    }
}

fn score(element: Element, similarity: Similarity, one: &[f32], other: &[f32]) -> f32 {
    let dims = if element == Element::Bit {
        8 * one.len()
    } else {
        one.len()
    };
    let stored = element.store(other, dims, similarity).unwrap();
    let query = ExactQuery::new(one, dims, element, similarity).unwrap();
    query.score(query.alike(&stored))
}

#[test]
fn scores_are_those_of_elasticsearch() {
    use Element::{Bit, Byte, Float};
    use Similarity::{Cosine, DotProduct, L2Norm, MaxInnerProduct};
    let cases: [(Element, Similarity, [&[f32]; 2], f32); 12] = [
        (Float, Cosine, [&[3.0, 4.0], &[6.0, 8.0]], 1.0),
        (Float, Cosine, [&[1.0, 0.0], &[0.0, 5.0]], 0.5),
        (Float, Cosine, [&[1.0, 0.0], &[-2.0, 0.0]], 0.0),
        (Float, DotProduct, [&[0.6, 0.8], &[1.0, 0.0]], 0.8),
        (Float, L2Norm, [&[1.0, 2.0], &[1.0, 4.0]], 0.2),
        (Float, MaxInnerProduct, [&[1.0, 2.0], &[3.0, 4.0]], 12.0),
        (Float, MaxInnerProduct, [&[1.0, 2.0], &[-3.0, 0.0]], 0.25),
        (
            Byte,
            DotProduct,
            [&[127.0, 1.0], &[127.0, 2.0]],
            0.5 + 16_131.0 / 65_536.0,
        ),
        (Byte, Cosine, [&[3.0, 4.0], &[-3.0, -4.0]], 0.0),
        (Byte, L2Norm, [&[-128.0, 0.0], &[-128.0, 1.0]], 0.5),
        (Byte, MaxInnerProduct, [&[2.0, 2.0], &[3.0, 4.0]], 15.0),
        (Bit, L2Norm, [&[127.0, -1.0], &[-1.0, 0.0]], 7.0 / 16.0),
    ];
    for (element, similarity, [one, other], expected) in cases {
        let found = score(element, similarity, one, other);
        assert!(
            (found - expected).abs() < 1e-6,
            "{element:?} {similarity:?} {one:?} {other:?}: {found}"
        );
        assert_eq!(found, score(element, similarity, other, one));
    }
}

#[test]
fn vectors_that_do_not_suit_are_refused_by_name() {
    use Element::{Bit, Byte, Float};
    use Similarity::{Cosine, DotProduct, L2Norm};
    let cases: [(Element, Similarity, &[f32], &str); 9] = [
        (Float, L2Norm, &[1.0], "1 dimensions, but the field has 2"),
        (
            Float,
            L2Norm,
            &[1.0, f32::NAN],
            "number 1 of the vector is not finite",
        ),
        (
            Float,
            L2Norm,
            &[f32::INFINITY, 1.0],
            "number 0 of the vector is not finite",
        ),
        (Float, Cosine, &[0.0, -0.0], "zeros has no direction"),
        (
            Float,
            DotProduct,
            &[1.0, 1.0],
            "dot_product is for vectors of length 1",
        ),
        (Float, Cosine, &[3e38, 3e38], "squared length"),
        (
            Byte,
            L2Norm,
            &[1.5, 1.0],
            "number 0 of the vector, 1.5, is no byte",
        ),
        (
            Byte,
            L2Norm,
            &[1.0, 128.0],
            "number 1 of the vector, 128, is no byte",
        ),
        (Bit, L2Norm, &[1.0], "8 dimensions, but the field has 2"),
    ];
    for (element, similarity, numbers, expected) in cases {
        let problem = element
            .store(numbers, 2, similarity)
            .unwrap_err()
            .to_string();
        assert!(problem.contains(expected), "{problem}");
    }
    // Zeros are as good as any other vector where directions do not matter.
    assert!(Float.store(&[0.0, 0.0], 2, L2Norm).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_as_codes_and_vectors_have_a_closeness(
        codes in proptest::collection::vec(any::<u8>(), 0..200),
        corrections in proptest::collection::vec(any::<u8>(), 0..100),
        query in proptest::collection::vec(proptest::num::f32::ANY, 64),
        centroid in proptest::collection::vec(proptest::num::f32::ANY, 64),
    ) {
        for width in CodeWidth::ALL {
            for space in [Space::Distance, Space::Product] {
                prop_assert!(!space.closeness(&query, &centroid).is_nan());
                let query = ClusterQuery::new(&query, &centroid, width, space);
                let found = query.closeness(Codes { codes: &codes, corrections: &corrections });
                prop_assert_eq!(found.len(), corrections.len() / 8);
                prop_assert!(found.iter().all(|closeness| !closeness.is_nan()));
            }
        }
    }

    #[test]
    fn stored_vectors_are_read_as_they_were(numbers in proptest::collection::vec(-128i8..=127, 1..50)) {
        let numbers: Vec<f32> = numbers.iter().copied().map(f32::from).collect();
        for element in [Element::Float, Element::Byte] {
            let stored = element.store(&numbers, numbers.len(), Similarity::L2Norm).unwrap();
            prop_assert_eq!(stored.len(), element.stored_len(numbers.len()));
            prop_assert_eq!(element.numbers(&stored), numbers.clone());
        }
        let stored = Element::Bit.store(&numbers, 8 * numbers.len(), Similarity::L2Norm).unwrap();
        let bits = Element::Bit.numbers(&stored);
        let bytes = bits.chunks(8).map(|bits| {
            let byte = bits.iter().fold(0u8, |byte, bit| byte << 1 | u8::from(*bit > 0.0));
            f32::from(byte.cast_signed())
        });
        prop_assert_eq!(bytes.collect::<Vec<_>>(), numbers);
    }
}

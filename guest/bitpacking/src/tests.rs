//! All widths and kinds of blocks: comparison with bit-by-bit code.

use proptest::prelude::*;

use super::*;
use crate::lanes::{Four, FourInArrays, Lanes};
use crate::unpack::{ROUNDS, unpack};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Packs numbers bit by bit: number `i` is in lane `i % lanes`, at `i / lanes` widths from its
/// start.
fn packed_bit_by_bit(numbers: &[u32], lanes: usize, width: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; numbers.len() * width / 8];
    for (ord, number) in numbers.iter().enumerate() {
        for bit in 0..width {
            let in_lane = ord / lanes * width + bit;
            let word = in_lane / 32 * lanes + ord % lanes;
            let set = (number >> bit & 1) as u8;
            bytes[word * 4 + in_lane % 32 / 8] |= set << (in_lane % 8);
        }
    }
    bytes
}

fn numbers(width: u32) -> impl Strategy<Value = Vec<u32>> {
    let greatest = u32::MAX.checked_shr(32 - width).unwrap_or(0);
    let numbers = proptest::collection::vec(any::<u32>(), 128);
    (numbers, any::<bool>()).prop_map(move |(mut numbers, at_most)| {
        numbers.iter_mut().for_each(|number| *number &= greatest);
        if at_most {
            numbers[77] = greatest;
            numbers[31] = greatest;
        }
        numbers
    })
}

fn width_and_numbers() -> impl Strategy<Value = (u8, Vec<u32>)> {
    (0u8..=32).prop_flat_map(|width| (Just(width), numbers(width.into())))
}

/// Checks packing and unpacking, with some bytes before and after the block.
fn check<P: BitPacker>(
    packer: P,
    lanes: usize,
    (width, numbers): &(u8, Vec<u32>),
    skip: usize,
) -> Result<(), TestCaseError> {
    let numbers = &numbers[..P::BLOCK_LEN];
    let expected = packed_bit_by_bit(numbers, lanes, (*width).into());
    prop_assert_eq!(expected.len(), P::compressed_block_size(*width));
    let mut bytes = vec![0xa5; skip + expected.len() + 3];
    prop_assert_eq!(
        packer.compress(numbers, &mut bytes[skip..], *width),
        expected.len()
    );
    prop_assert_eq!(&bytes[skip..skip + expected.len()], &expected);
    prop_assert_eq!(&bytes[skip + expected.len()..], &[0xa5; 3]);
    let mut found = vec![7; P::BLOCK_LEN + 2];
    prop_assert_eq!(
        packer.decompress(&bytes[skip..], &mut found, *width),
        expected.len()
    );
    prop_assert_eq!(&found[..P::BLOCK_LEN], numbers);
    prop_assert_eq!(&found[P::BLOCK_LEN..], &[7, 7]);
    prop_assert!(packer.num_bits(numbers) <= *width);
    Ok(())
}

/// Runs [`check`] on numbers given as differences.
fn check_sorted<P: BitPacker>(
    packer: P,
    lanes: usize,
    differences: &[u32],
    initial: Option<u32>,
) -> Result<(), TestCaseError> {
    let differences = &differences[..P::BLOCK_LEN];
    let width = packer.num_bits(differences);
    let expected = packed_bit_by_bit(differences, lanes, width.into());
    let (mut bytes, mut found) = (vec![0; expected.len()], vec![0; P::BLOCK_LEN]);
    // Sorted.
    let mut last = initial.unwrap_or(0);
    let sorted: Vec<u32> = differences
        .iter()
        .map(|difference| {
            last = last.wrapping_add(*difference);
            last
        })
        .collect();
    let before = initial.unwrap_or(0);
    prop_assert_eq!(packer.num_bits_sorted(before, &sorted), width);
    packer.compress_sorted(before, &sorted, &mut bytes, width);
    prop_assert_eq!(&bytes, &expected);
    packer.decompress_sorted(before, &bytes, &mut found, width);
    prop_assert_eq!(&found, &sorted);
    // Strictly sorted: without a previous number, the first is stored unchanged.
    let mut last = initial;
    let strictly: Vec<u32> = differences
        .iter()
        .map(|difference| {
            let next = last.map_or(*difference, |last| {
                last.wrapping_add(*difference).wrapping_add(1)
            });
            last = Some(next);
            next
        })
        .collect();
    prop_assert_eq!(packer.num_bits_strictly_sorted(initial, &strictly), width);
    packer.compress_strictly_sorted(initial, &strictly, &mut bytes, width);
    prop_assert_eq!(&bytes, &expected);
    packer.decompress_strictly_sorted(initial, &bytes, &mut found, width);
    prop_assert_eq!(&found, &strictly);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_are_packed_and_unpacked_as_the_format_says(block in width_and_numbers(), skip in 0usize..17) {
        check(BitPacker4x, 4, &block, skip)?;
        check(BitPacker1x, 1, &block, skip)?;
    }

    #[test]
    fn sorted_blocks_are_their_differences(
        (_, differences) in width_and_numbers(),
        initial in proptest::option::of(any::<u32>()),
    ) {
        check_sorted(BitPacker4x, 4, &differences, initial)?;
        check_sorted(BitPacker1x, 1, &differences, initial)?;
    }

    #[test]
    fn too_few_bytes_are_zeros_and_no_width_is_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        width in any::<u8>(),
        room in 0usize..140,
    ) {
        let mut found = vec![9; room];
        BitPacker4x.decompress(&bytes, &mut found, width);
        let expected = BitPacker4x::compressed_block_size(width);
        if bytes.len() < expected || width > 32 {
            let num_zeros = room.min(128);
            prop_assert!(found[..num_zeros].iter().all(|number| *number == 0));
        }
        BitPacker4x.decompress_strictly_sorted(Some(3), &bytes, &mut found, width);
        BitPacker1x.decompress(&bytes, &mut found, width);
        let mut short = vec![0; room];
        BitPacker4x.compress(&found, &mut short, width);
    }

    #[test]
    fn vectors_and_arrays_are_the_same(words: [u32; 4], others: [u32; 4], bits in 0u32..32) {
        let (a, b) = (Four::from_words(words), Four::from_words(others));
        let (c, d) = (FourInArrays::from_words(words), FourInArrays::from_words(others));
        prop_assert_eq!(a.into_words(), words);
        prop_assert_eq!(a.shl(bits).into_words(), c.shl(bits).into_words());
        prop_assert_eq!(a.shr(bits).into_words(), c.shr(bits).into_words());
        prop_assert_eq!(a.and(b).into_words(), c.and(d).into_words());
        prop_assert_eq!(a.or(b).into_words(), c.or(d).into_words());
        prop_assert_eq!(a.wrapping_add(b).into_words(), c.wrapping_add(d).into_words());
        prop_assert_eq!(a.running_sum(b).into_words(), c.running_sum(d).into_words());
        prop_assert_eq!(Four::splat(bits).into_words(), [bits; 4]);
    }

    #[test]
    fn every_width_is_unpacked_alike_by_vectors_and_by_arrays(
        bytes in proptest::collection::vec(any::<u8>(), 512),
    ) {
        for width in 0..=32 {
            let mut found = [[1; 4]; ROUNDS];
            let mut expected = [[2; 4]; ROUNDS];
            prop_assert!(unpack::<4, Four>(&bytes, width, &mut found));
            prop_assert!(unpack::<4, FourInArrays>(&bytes, width, &mut expected));
            prop_assert_eq!(found, expected);
        }
    }
}

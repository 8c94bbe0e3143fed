//! Block checksums: choice of the length, conversion of ranges, and detection of damage.

use proptest::prelude::*;

use super::{BlockChecksums, choose_block_len_log2};

fn body(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 % 251) as u8).collect()
}

#[test]
fn blocks_are_as_short_as_the_table_allows() {
    let check = |body_len: u64, expect: u32| assert_eq!(choose_block_len_log2(body_len), expect);
    check(0, 12);
    check(3072 << 12, 12);
    check((3072 << 12) + 1, 13);
    check(3072 << 13, 13);
    check(3072 << 24, 24);
    check(u64::MAX, 24);
}

#[test]
fn the_last_block_is_as_long_as_the_body_still_is() {
    for (len, num_blocks) in [(0, 0), (1, 1), (4096, 1), (4097, 2), (10_000, 3)] {
        let sums = BlockChecksums::of_body(&body(len));
        assert_eq!((sums.num_blocks(), sums.block_len()), (num_blocks, 4096));
        assert_eq!(sums.bytes_of(0..num_blocks), 0..len as u64);
    }
}

#[test]
fn a_wrong_block_is_named() {
    let mut bytes = body(10_000);
    let sums = BlockChecksums::of_body(&bytes);
    assert_eq!(sums.verify(0, &bytes), Ok(()));
    assert_eq!(sums.verify(1, &bytes[4096..]), Ok(()));
    assert_eq!(sums.verify(1, &bytes[4096..8192]), Ok(()));
    assert_eq!(sums.verify(0, &bytes[4096..]), Err(0), "another place");
    assert_eq!(sums.verify(2, &bytes[8192..9_999]), Err(2), "cut short");
    assert_eq!(sums.verify(3, b"past the end"), Err(3));
    bytes[5_000] ^= 1;
    assert_eq!(sums.verify(0, &bytes), Err(1));
}

#[test]
fn a_reader_refuses_another_number_of_checksums() {
    let sums = BlockChecksums::of_body(&body(10_000)).write();
    let check = |bytes: &[u8], problem: &str| {
        let error = BlockChecksums::open(bytes).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    };
    check(&sums[..sums.len() - 4], "does not fit");
    check(&[sums.as_slice(), &[0; 4]].concat(), "does not fit");
    for log2 in [0u32, 11, 25, 64, u32::MAX] {
        let mut bytes = sums.clone();
        bytes[..4].copy_from_slice(&log2.to_le_bytes());
        check(&bytes, "not allowed");
    }
    let mut bytes = sums.clone();
    bytes[4..12].fill(0xff);
    check(&bytes, "does not fit");
}

proptest! {
    #[test]
    fn round_trip(len in 0usize..40_000) {
        let sums = BlockChecksums::of_body(&body(len));
        prop_assert_eq!(BlockChecksums::open(&sums.write())?, sums);
    }

    #[test]
    fn the_blocks_of_a_range_cover_it_and_no_block_more(
        len in 1usize..40_000,
        start: prop::sample::Index,
        wanted_len in 0usize..20_000,
    ) {
        let bytes = body(len);
        let sums = BlockChecksums::of_body(&bytes);
        let start = start.index(len);
        let range = start as u64..(start + wanted_len).min(len) as u64;
        let blocks = sums.blocks_of(range.clone());
        let touched = |block: &u64| {
            let of_block = sums.bytes_of(*block..block + 1);
            of_block.start < range.end && range.start < of_block.end
        };
        let expect: Vec<u64> = (0..sums.num_blocks()).filter(touched).collect();
        let expect = if range.is_empty() { vec![] } else { expect };
        prop_assert_eq!(blocks.clone().collect::<Vec<_>>(), expect);

        let covered = sums.bytes_of(blocks.clone());
        let read = &bytes[covered.start as usize..covered.end as usize];
        prop_assert_eq!(sums.verify(blocks.start, read), Ok(()));
        prop_assert!(range.is_empty() || covered.start <= range.start && range.end <= covered.end);
    }

    #[test]
    fn every_flip_is_found_in_its_block(
        len in 1usize..20_000,
        at: prop::sample::Index,
        mask in 1u8..,
    ) {
        let mut bytes = body(len);
        let sums = BlockChecksums::of_body(&bytes);
        let at = at.index(len);
        bytes[at] ^= mask;
        prop_assert_eq!(sums.verify(0, &bytes), Err(at as u64 / 4096));
    }

    #[test]
    fn any_range_and_any_blocks_are_answered(start: u64, end: u64) {
        let sums = BlockChecksums::of_body(&body(9_000));
        let blocks = sums.blocks_of(start..end);
        prop_assert!(sums.bytes_of(blocks).end <= sums.body_len());
        prop_assert!(sums.bytes_of(start..end).end <= sums.body_len());
    }
}

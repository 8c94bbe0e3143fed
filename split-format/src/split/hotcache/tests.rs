//! Hotcache: merging of ranges compared with the bytes of the files, and invalid input.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::Hotcache;
use crate::FileTable;
use crate::codec::Writer;

const FILE_LENS: [u64; 3] = [64, 0, 300];

fn files() -> FileTable {
    FileTable::lay_out(["idx", "pos", "fast"].into_iter().zip(FILE_LENS))
}

/// Returns the byte at an offset of a file.
fn byte_at(file_ord: u32, at: u64) -> u8 {
    let [low, ..] = (u64::from(file_ord) * 101 + at * 7).to_le_bytes();
    low
}

fn hot(file_ord: u32, start: u64, len: u64) -> (u32, u64, Vec<u8>) {
    let bytes = (start..start + len).map(|at| byte_at(file_ord, at));
    (file_ord, start, bytes.collect())
}

fn places(cache: &Hotcache) -> Vec<(u32, u64, usize)> {
    cache
        .ranges()
        .iter()
        .map(|range| (range.file_ord, range.start, range.bytes.len()))
        .collect()
}

fn encoded(ranges: &[(u64, u64, u64)], bytes: &[u8]) -> Vec<u8> {
    let mut out = Writer::default();
    out.varint(ranges.len() as u64);
    for (file_ord, start, len) in ranges {
        out.varint(*file_ord);
        out.varint(*start);
        out.varint(*len);
    }
    out.raw(bytes);
    out.into_bytes()
}

#[test]
fn ranges_that_overlap_or_touch_become_one() {
    let check = |ranges: &[(u32, u64, u64)], expect: &[(u32, u64, usize)]| {
        let ranges = ranges
            .iter()
            .map(|(ord, start, len)| hot(*ord, *start, *len));
        assert_eq!(places(&Hotcache::from_ranges(ranges.collect())), expect);
    };
    check(&[], &[]);
    check(&[(0, 5, 0)], &[]);
    // Touching, overlapping, nested and equal ranges.
    check(&[(0, 0, 4), (0, 4, 4)], &[(0, 0, 8)]);
    check(&[(0, 2, 6), (0, 0, 4)], &[(0, 0, 8)]);
    check(&[(2, 0, 20), (2, 5, 5), (2, 18, 4)], &[(2, 0, 22)]);
    check(&[(0, 3, 3), (0, 3, 3)], &[(0, 3, 3)]);
    // A gap of one byte, and two files.
    check(&[(0, 0, 4), (0, 5, 4)], &[(0, 0, 4), (0, 5, 4)]);
    check(&[(2, 64, 4), (0, 60, 4)], &[(0, 60, 4), (2, 64, 4)]);
}

#[test]
fn a_reader_refuses_ranges_out_of_order_or_out_of_their_file() {
    let check = |ranges: &[(u64, u64, u64)], num_bytes: usize, problem: &str| {
        let error = Hotcache::open(&encoded(ranges, &vec![0; num_bytes]), &files()).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    };
    check(&[(0, 60, 5)], 5, "outside file 0");
    check(&[(1, 0, 1)], 1, "outside file 1");
    check(&[(3, 0, 1)], 1, "outside file 3");
    check(&[(u64::MAX, 0, 1)], 1, "32 bits");
    check(&[(0, u64::MAX, 2)], 2, "64 bits");
    check(&[(0, 4, 4), (0, 0, 4)], 8, "order");
    check(&[(0, 0, 4), (0, 3, 4)], 8, "order");
    check(&[(2, 0, 4), (0, 0, 4)], 8, "order");
    check(&[(0, 0, 4)], 3, "cut short");
    check(&[(0, 0, 4)], 5, "too many");
}

#[test]
fn an_empty_hotcache_is_fine() {
    let empty = Hotcache::default();
    assert_eq!(Hotcache::open(&empty.write(), &files()), Ok(empty));
}

proptest! {
    #[test]
    fn hot_bytes_are_the_files_bytes(
        wanted in prop::collection::vec(
            prop::sample::select(vec![0u32, 2]).prop_flat_map(|file_ord| {
                let file_len = FILE_LENS[file_ord as usize];
                (Just(file_ord), 0..file_len, 0..40u64).prop_map(move |(file_ord, start, len)| {
                    (file_ord, start, len.min(file_len - start))
                })
            }),
            0..30,
        ),
    ) {
        let cache = Hotcache::from_ranges(
            wanted.iter().map(|(ord, start, len)| hot(*ord, *start, *len)).collect(),
        );
        prop_assert_eq!(&Hotcache::open(&cache.write(), &files())?, &cache);

        let asked: BTreeSet<(u32, u64)> = wanted
            .iter()
            .flat_map(|(ord, start, len)| (*start..start + len).map(|at| (*ord, at)))
            .collect();
        let mut held = BTreeSet::new();
        let mut last_end = None;
        for range in cache.ranges() {
            prop_assert!(last_end < Some((range.file_ord, range.start)), "a gap stands between");
            prop_assert!(!range.bytes.is_empty());
            let bytes = &cache.bytes()[range.bytes.clone()];
            for (at, byte) in (range.start..).zip(bytes) {
                prop_assert_eq!(*byte, byte_at(range.file_ord, at));
                prop_assert!(held.insert((range.file_ord, at)));
            }
            last_end = Some((range.file_ord, range.start + bytes.len() as u64));
        }
        prop_assert_eq!(held, asked);
        prop_assert_eq!(cache.clone().into_bytes(), cache.bytes());
    }
}

//! Time index: comparison with scanning the timestamps, up to the ends of 64 bits.

use proptest::prelude::*;

use super::{MAX_BUCKETS, TimeIndex, WIDTHS_NS, choose_width_ns};
use crate::codec::Writer;

const DAY_NS: i64 = 86_400_000_000_000;

fn encoded(width_ns: i64, first_bucket: i64, steps: &[u64]) -> Vec<u8> {
    let mut out = Writer::default();
    out.varint_signed(width_ns);
    out.varint_signed(first_bucket);
    out.varint(steps.len() as u64);
    for step in steps {
        out.varint(*step);
    }
    out.into_bytes()
}

/// Generates sorted timestamps: close together, far apart, with many equal, or at the ends of 64
/// bits.
fn timestamps() -> impl Strategy<Value = Vec<i64>> {
    let around = prop_oneof![
        Just(0i64),
        Just(1_767_225_600_000_000_000),
        Just(-DAY_NS),
        Just(i64::MIN),
        Just(i64::MAX),
        any::<i64>(),
    ];
    let reach = prop::sample::select(vec![
        1i64,
        5_000_000,
        2_000_000_000,
        DAY_NS,
        5_000 * DAY_NS,
        100_000 * DAY_NS,
    ]);
    let near = (around, reach).prop_flat_map(|(around, reach)| {
        prop::collection::vec(
            (0..reach).prop_map(move |off| around.saturating_add(off)),
            1..200,
        )
    });
    prop_oneof![4 => near, 1 => prop::collection::vec(any::<i64>(), 1..50)].prop_map(|mut all| {
        all.sort_unstable();
        all
    })
}

#[test]
fn the_specification_s_example_holds() {
    let index = TimeIndex::of_sorted(&[0, 0, 1_000_000, 3_000_000]).unwrap();
    assert_eq!(
        index.write(),
        [0x80, 0x89, 0x7a, 0, 5, 0, 2, 1, 0, 1],
        "README, 4.4"
    );
    // At a bucket boundary, the answer is one document, and two bounds elsewhere.
    assert_eq!(index.first_doc_at_or_after(-1), 0..1);
    assert_eq!(index.first_doc_at_or_after(0), 0..1);
    assert_eq!(index.first_doc_at_or_after(1_000_000), 2..3);
    assert_eq!(index.first_doc_at_or_after(1_000_001), 2..4);
    assert_eq!(index.first_doc_at_or_after(2_000_000), 3..4);
    assert_eq!(index.first_doc_at_or_after(3_000_001), 3..5);
    assert_eq!(index.first_doc_at_or_after(4_000_000), 4..5);
    assert_eq!(index.first_doc_at_or_after(i64::MAX), 4..5);
    assert_eq!(index.bucket_of(1), 0..1_000_000);
    assert_eq!(index.bucket_of(3), 3_000_000..4_000_000);
}

#[test]
fn no_index_without_sorted_documents() {
    assert_eq!(TimeIndex::of_sorted(&[]), None);
    assert_eq!(TimeIndex::of_sorted(&[2, 1]), None);
}

#[test]
fn the_width_is_the_narrowest_that_fits() {
    let check = |first: i64, last: i64, expect: i64| {
        assert_eq!(choose_width_ns(first, last, MAX_BUCKETS), expect);
    };
    check(0, 0, 1_000_000);
    check(0, 1_023_999_999, 1_000_000);
    check(0, 1_024_000_000, 10_000_000);
    check(-1, 1_022_999_999, 1_000_000);
    check(-1, 1_023_000_000, 10_000_000);
    let widest = 100 * DAY_NS;
    check(-512 * widest, 512 * widest - 1, widest);
    check(-512 * widest, 512 * widest, i64::MAX / 512);
}

#[test]
fn the_widths_nest_and_the_fallback_covers_all_times() {
    for pair in WIDTHS_NS.windows(2) {
        assert_eq!(pair[1] % pair[0], 0);
    }
    // 1,024 for the time index, 256 for the rollup.
    for max_buckets in [MAX_BUCKETS, 256] {
        let width = choose_width_ns(i64::MIN, i64::MAX, max_buckets);
        let num_buckets = i64::MAX.div_euclid(width) - i64::MIN.div_euclid(width) + 1;
        assert_eq!(num_buckets, max_buckets + 2);
    }
}

#[test]
fn the_last_buckets_of_64_bits_end_where_they_should() {
    let index = TimeIndex::of_sorted(&[i64::MIN, i64::MIN + 1]).unwrap();
    assert_eq!(index.bucket_of(0), i64::MIN..-9_223_372_036_854_000_000);
    let index = TimeIndex::of_sorted(&[i64::MAX]).unwrap();
    assert_eq!(index.bucket_of(0), 9_223_372_036_854_000_000..i64::MAX);
}

#[test]
fn a_reader_refuses_what_is_no_time_index() {
    let check = |bytes: &[u8], problem: &str| {
        let error = TimeIndex::open(bytes).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    };
    check(&encoded(0, 0, &[0, 1]), "positive");
    check(&encoded(-1, 0, &[0, 1]), "positive");
    check(&encoded(1, 0, &[0]), "no bucket");
    check(&encoded(1, 0, &[1, 1]), "document 0");
    check(&encoded(1, 0, &[0, u64::from(u32::MAX)]), "32 bits");
    check(&encoded(1, 0, &[0, 1 << 31, 1 << 31]), "32 bits");
    check(&[encoded(1, 0, &[0, 1]), vec![0]].concat(), "too many");
    assert!(TimeIndex::open(&encoded(1, 0, &[0, u64::from(u32::MAX - 1)])).is_ok());
}

proptest! {
    #[test]
    fn round_trip(timestamps in timestamps()) {
        let index = TimeIndex::of_sorted(&timestamps).unwrap();
        prop_assert_eq!(index.num_docs() as usize, timestamps.len());
        prop_assert_eq!(TimeIndex::open(&index.write())?, index);
    }

    #[test]
    fn bounds_hold_the_first_document_at_or_after(
        timestamps in timestamps(),
        pick: prop::sample::Index,
        off in prop_oneof![-3i64..=3, -2_000_000i64..=2_000_000, any::<i64>()],
    ) {
        let index = TimeIndex::of_sorted(&timestamps).unwrap();
        let near = pick.get(&timestamps).saturating_add(off);
        let border = near.div_euclid(index.width_ns()).saturating_mul(index.width_ns());
        for time in [near, border, i64::MIN, i64::MAX] {
            let wanted = timestamps.iter().position(|ts| *ts >= time).unwrap_or(timestamps.len());
            let wanted = u32::try_from(wanted).unwrap();
            let got = index.first_doc_at_or_after(time);
            prop_assert!(got.contains(&wanted), "{time}: {wanted} is not in {got:?}");
            if time.rem_euclid(index.width_ns()) == 0 {
                prop_assert_eq!(got, wanted..wanted + 1, "a border is exact");
            } else {
                // Rounding loses nothing: the bounds are those of the time's own bucket.
                let bucket_of = |time: i64| time.div_euclid(index.width_ns());
                let before = timestamps.partition_point(|ts| bucket_of(*ts) < bucket_of(time));
                let through = timestamps.partition_point(|ts| bucket_of(*ts) <= bucket_of(time));
                prop_assert_eq!(got, u32::try_from(before)?..u32::try_from(through)? + 1);
            }
        }
    }

    #[test]
    fn a_document_s_time_is_in_its_bucket(timestamps in timestamps()) {
        let index = TimeIndex::of_sorted(&timestamps).unwrap();
        for (doc, time) in (0u32..).zip(&timestamps) {
            let bucket = index.bucket_of(doc);
            // The very last nanosecond cannot precede an exclusive end.
            prop_assert!(bucket.contains(time) || (*time == i64::MAX && bucket.end == i64::MAX));
            let width = i128::from(index.width_ns());
            let from = i128::from(*time).div_euclid(width) * width;
            let clamp = |time: i128| time.clamp(i64::MIN.into(), i64::MAX.into());
            prop_assert_eq!(i128::from(bucket.start), clamp(from));
            prop_assert_eq!(i128::from(bucket.end), clamp(from + width));
        }
    }
}

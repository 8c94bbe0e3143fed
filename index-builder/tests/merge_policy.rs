//! Tests of merge plans: merges are allowed, worth their cost, and come to an end.

use std::collections::BTreeSet;
use std::time::Duration;

use canter_doc_mapper::config::{IndexingSettings, MergePolicy};
use canter_index_builder::{MergeCandidate, MergeLimits, MergeOperation, plan_merges};
use canter_split_format::TimeRange;
use proptest::prelude::*;

const LIMITS: MergeLimits = MergeLimits {
    target_num_docs: 1_000_000,
    target_num_bytes: 1 << 30,
    max_num_docs: 2_000_000,
    max_num_bytes: 2 << 30,
};

fn stable_log(min_level_num_docs: u64, merge_factor: u64) -> MergePolicy {
    MergePolicy::StableLog {
        min_level_num_docs,
        merge_factor,
        max_merge_factor: merge_factor + 2,
        maturation_period: "48h".to_owned(),
    }
}

fn limit_merge(max_merge_ops: u64, merge_factor: u64) -> MergePolicy {
    MergePolicy::LimitMerge {
        max_merge_ops,
        merge_factor,
        max_merge_factor: merge_factor,
        maturation_period: "48h".to_owned(),
        max_finalize_merge_operations: 0,
        max_finalize_split_num_docs: None,
    }
}

/// Returns splits that follow each other in time, with these numbers of documents of 100 bytes each.
fn splits(sizes: &[u64]) -> Vec<MergeCandidate> {
    (0_i64..)
        .zip(sizes)
        .map(|(ord, num_docs)| MergeCandidate {
            id: format!("{ord:032x}"),
            time_range: Some(TimeRange {
                start_ns: ord * 10,
                end_ns: ord * 10 + 9,
            }),
            num_docs: *num_docs,
            num_bytes: num_docs * 100,
            num_merge_ops: 0,
            age: None,
        })
        .collect()
}

/// Returns the sizes that a plan merges, each list oldest first.
fn plan_sizes(policy: &MergePolicy, splits: &[MergeCandidate]) -> Vec<Vec<u64>> {
    let size_of = |id: &String| {
        splits
            .iter()
            .find(|split| split.id == *id)
            .unwrap()
            .num_docs
    };
    plan_merges(policy, &LIMITS, splits)
        .iter()
        .map(|operation| operation.split_ids.iter().map(size_of).collect())
        .collect()
}

#[test]
fn as_many_small_neighbours_as_the_factor_are_merged_and_fewer_wait() {
    let policy = stable_log(1_000, 3);
    assert!(plan_sizes(&policy, &splits(&[10, 20])).is_empty());
    let due = plan_sizes(&policy, &splits(&[10, 20, 30]));
    assert_eq!(due, [vec![10, 20, 30]]);
    // Up to two more at once.
    assert_eq!(plan_sizes(&policy, &splits(&[1; 5])), [vec![1; 5]]);
    assert_eq!(
        plan_sizes(&policy, &splits(&[1; 8])),
        [vec![1; 5], vec![1; 3]]
    );
}

#[test]
fn small_splits_do_not_wait_for_large_ones_and_leave_them_as_they_are() {
    let policy = stable_log(1_000, 3);
    let sizes = [500_000, 10, 20, 30, 400_000];
    assert_eq!(plan_sizes(&policy, &splits(&sizes)), [vec![10, 20, 30]]);
    let sizes = [500_000, 10, 20, 400_000];
    assert!(plan_sizes(&policy, &splits(&sizes)).is_empty());
}

#[test]
fn only_neighbours_are_merged() {
    let policy = stable_log(1_000, 3);
    let full = LIMITS.target_num_docs;
    for sizes in [[10, 20, full, 30, 40], [10, full, 20, full, 30]] {
        assert!(plan_sizes(&policy, &splits(&sizes)).is_empty());
    }
    // The order of the candidates does not matter.
    let mut mixed = splits(&[10, full, 20, 30, 40]);
    mixed.reverse();
    assert_eq!(plan_sizes(&policy, &mixed), [vec![20, 30, 40]]);
    // Splits without a time, as from before the index had a timestamp field.
    let mut timeless = splits(&[10, 20, 30, 40]);
    timeless[0].time_range = None;
    timeless[1].time_range = None;
    assert!(plan_sizes(&policy, &timeless).is_empty());
}

#[test]
fn full_splits_and_old_ones_are_left_alone() {
    let policy = stable_log(1_000, 2);
    let mut old = splits(&[10, 20, 30, 40]);
    old[0].age = Some(Duration::from_secs(48 * 3_600));
    old[1].age = Some(Duration::from_secs(48 * 3_600 - 1));
    assert_eq!(plan_sizes(&policy, &old), [vec![20, 30, 40]]);
    let mut heavy = splits(&[10, 20, 30, 40]);
    heavy[3].num_bytes = LIMITS.target_num_bytes;
    assert_eq!(plan_sizes(&policy, &heavy), [vec![10, 20, 30]]);
}

#[test]
fn what_would_be_too_large_is_merged_in_parts_that_are_not() {
    let policy = stable_log(1_000, 2);
    let sizes = [600_000; 8];
    // At level 4, ten neighbours are due, but eight are not.
    assert!(plan_sizes(&stable_log(1_000, 10), &splits(&sizes)).is_empty());
    let due = plan_sizes(&policy, &splits(&[600_000; 22]));
    assert!(!due.is_empty());
    assert!(due.iter().all(|sizes| sizes.len() == 2), "{due:?}");
    let tight = MergeLimits {
        max_num_docs: 1_000_000,
        ..LIMITS
    };
    assert!(plan_merges(&policy, &tight, &splits(&[600_000; 22])).is_empty());
}

#[test]
fn limit_merge_counts_merges() {
    let policy = limit_merge(2, 3);
    let mut some = splits(&[10, 20, 30]);
    let due = plan_merges(&policy, &LIMITS, &some);
    assert_eq!((due.len(), due[0].num_merge_ops), (1, 1));
    some[1].num_merge_ops = 2;
    assert!(plan_merges(&policy, &LIMITS, &some).is_empty());
}

#[test]
fn the_limits_of_an_index_are_its_target_and_twice_that() {
    let limits = MergeLimits::of(&IndexingSettings::default());
    assert_eq!(
        (limits.target_num_docs, limits.max_num_docs),
        (10_000_000, 20_000_000)
    );
    assert_eq!(limits.max_num_bytes, 2 * limits.target_num_bytes);
}

#[test]
fn no_merge_is_no_merge() {
    let many = splits(&[1; 100]);
    assert!(plan_merges(&MergePolicy::NoMerge, &LIMITS, &many).is_empty());
}

/// Applies a plan to the splits.
fn apply(splits: &mut Vec<MergeCandidate>, due: &[MergeOperation], merge_ord: &mut u64) {
    for operation in due {
        let is_input = |split: &MergeCandidate| operation.split_ids.contains(&split.id);
        let ranges = splits.iter().filter(|split| is_input(split));
        let ranges: Vec<TimeRange> = ranges.map(|split| split.time_range.unwrap()).collect();
        splits.retain(|split| !is_input(split));
        *merge_ord += 1;
        splits.push(MergeCandidate {
            id: format!("m{merge_ord}"),
            time_range: Some(TimeRange {
                start_ns: ranges.iter().map(|range| range.start_ns).min().unwrap(),
                end_ns: ranges.iter().map(|range| range.end_ns).max().unwrap(),
            }),
            num_docs: operation.num_docs,
            num_bytes: operation.num_bytes,
            num_merge_ops: operation.num_merge_ops,
            age: None,
        });
    }
}

/// Merges until nothing is due, and returns the number of documents written.
fn settle(policy: &MergePolicy, limits: &MergeLimits, splits: &mut Vec<MergeCandidate>) -> u64 {
    let mut num_written = 0;
    let mut merge_ord = 0;
    loop {
        let due = plan_merges(policy, limits, splits);
        if due.is_empty() {
            return num_written;
        }
        num_written += due.iter().map(|operation| operation.num_docs).sum::<u64>();
        apply(splits, &due, &mut merge_ord);
    }
}

#[test]
fn a_document_is_written_about_once_a_level_when_splits_come_one_by_one() {
    let policy = stable_log(1_000, 10);
    let mut live = Vec::new();
    let mut num_written = 0;
    let mut merge_ord = 0;
    let fresh = splits(&[500; 20_000]);
    let num_docs: u64 = fresh.iter().map(|split| split.num_docs).sum();
    for split in fresh {
        live.push(split);
        let due = plan_merges(&policy, &LIMITS, &live);
        num_written += due.iter().map(|operation| operation.num_docs).sum::<u64>();
        apply(&mut live, &due, &mut merge_ord);
    }
    // Four levels, each by a factor of ten, from 1,000 to one million.
    let times = num_written as f64 / num_docs as f64;
    assert!(times < 5.0, "{times}");
    assert!(live.len() < 50, "{}", live.len());
}

/// Generates splits of any sizes and times; they may overlap.
fn any_splits() -> impl Strategy<Value = Vec<MergeCandidate>> {
    let split = (0..1_500_000_u64, 0..7_u32, 0..1_000_i64, 0..200_i64);
    prop::collection::vec(split, 0..300).prop_map(|some| {
        let sizes: Vec<u64> = some
            .iter()
            .map(|(num, shift, _, _)| num >> (shift * 3))
            .collect();
        let mut splits = splits(&sizes);
        for (split, (_, _, start_ns, len)) in splits.iter_mut().zip(&some) {
            split.time_range = Some(TimeRange {
                start_ns: *start_ns,
                end_ns: start_ns + len,
            });
        }
        splits
    })
}

fn any_policy() -> impl Strategy<Value = MergePolicy> {
    prop_oneof![
        (0..200_000_u64, 2..12_u64).prop_map(|(min, factor)| stable_log(min, factor)),
        (1..5_u64, 2..12_u64).prop_map(|(max, factor)| limit_merge(max, factor)),
    ]
}

fn any_limits() -> impl Strategy<Value = MergeLimits> {
    (1..2_000_000_u64, 100..150_000_000_u64, 100..300_u64).prop_map(|(docs, bytes, percent)| {
        MergeLimits {
            target_num_docs: docs,
            target_num_bytes: bytes,
            max_num_docs: docs * percent / 100,
            max_num_bytes: bytes * percent / 100,
        }
    })
}

proptest! {
    #[test]
    fn every_split_is_merged_at_most_once_with_neighbours_and_never_beyond_the_maximum(
        splits in any_splits(), policy in any_policy(), limits in any_limits(),
    ) {
        let mut order: Vec<&MergeCandidate> = splits.iter().collect();
        order.sort_by_key(|split| {
            let range = split.time_range.unwrap();
            (range.end_ns, range.start_ns, split.id.clone())
        });
        let place_of = |id: &String| order.iter().position(|split| split.id == *id).unwrap();
        let mut seen = BTreeSet::new();
        for operation in plan_merges(&policy, &limits, &splits) {
            let places: Vec<usize> = operation.split_ids.iter().map(place_of).collect();
            prop_assert!(places.len() >= 2);
            prop_assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{places:?}");
            prop_assert!(places.iter().all(|place| seen.insert(*place)), "twice");
            let of_all = places.iter().map(|place| order[*place]);
            prop_assert_eq!(operation.num_docs, of_all.clone().map(|split| split.num_docs).sum::<u64>());
            prop_assert_eq!(operation.num_bytes, of_all.map(|split| split.num_bytes).sum::<u64>());
            prop_assert!(operation.num_docs <= limits.max_num_docs);
            prop_assert!(operation.num_bytes <= limits.max_num_bytes);
        }
    }

    #[test]
    fn merges_come_to_an_end_with_few_splits(
        splits in any_splits(), factor in 2..12_u64, min in 100..100_000_u64,
    ) {
        let mut live = splits;
        let total: u64 = live.iter().map(|split| split.num_docs).sum();
        let num_full_before = live.iter().filter(|split| split.num_docs >= LIMITS.target_num_docs);
        let num_full_before = num_full_before.count() as u64;
        settle(&stable_log(min, factor), &LIMITS, &mut live);
        prop_assert_eq!(live.iter().map(|split| split.num_docs).sum::<u64>(), total);
        // The number of other splits between full ones is limited.
        let num_levels = (LIMITS.target_num_docs / min).checked_ilog(factor).unwrap_or(0) as u64 + 2;
        let num_full = total / LIMITS.target_num_docs;
        let most = (num_full + 1) * (factor * num_levels) + num_full_before;
        prop_assert!(live.len() as u64 <= most, "{} > {most}", live.len());
    }
}

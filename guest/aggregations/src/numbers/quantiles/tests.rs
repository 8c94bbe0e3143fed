//! Quantiles: comparison with sorted lists.

use proptest::prelude::*;

use super::*;

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e4..1e4_f64,
        2 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
        2 => (-40..40_i32).prop_map(|value| f64::from(value) / 4.0),
        1 => 1e3..1.001e3_f64,
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f64::MAX), Just(-f64::MAX), Just(5e-324)],
    ]
}

fn few() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(
        (-30..30_i32).prop_map(|value| f64::from(value) / 7.0),
        1..300,
    )
}

fn sketch_of(values: &[f64]) -> QuantileSketch {
    let mut sketch = QuantileSketch::default();
    sketch.extend(values);
    sketch
}

fn bytes(sketch: &QuantileSketch) -> Vec<u8> {
    postcard::to_allocvec(sketch).unwrap()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn distinct(values: &[f64]) -> usize {
    let mut sorted = sorted(values);
    sorted.dedup();
    sorted.len()
}

fn interpolated(sorted: &[f64], q: f64) -> f64 {
    let rank = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    low + (high - low) * (rank - rank.floor())
}

/// Returns the larger of the two values next to a rank, regardless of signs: errors are shares of it.
fn scale(sorted: &[f64], q: f64) -> f64 {
    let rank = q * (sorted.len() - 1) as f64;
    sorted[rank.floor() as usize]
        .abs()
        .max(sorted[rank.ceil() as usize].abs())
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * (1.0 + left.abs())
}

/// Checks the stated error, with some tolerance for the rounding of the check itself.
fn within_error(answer: f64, truth: f64, scale: f64) -> bool {
    (answer / 2.0 - truth / 2.0).abs() <= scale / 512.0 * (1.0 + 1e-9) + 2_f64.powi(-1029)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn few_different_values_are_answered_exactly(values in few(), q in 0.0..=1.0_f64, at in -5.0..5.0_f64) {
        let (sketch, sorted) = (sketch_of(&values), sorted(&values));
        prop_assert!(sketch.is_exact());
        prop_assert!(close(sketch.quantile(q).unwrap(), interpolated(&sorted, q)));
        for point in [at, values[0]] {
            let up_to = sorted.iter().filter(|value| **value <= point).count();
            prop_assert!(close(sketch.rank(point).unwrap(), 100.0 * up_to as f64 / sorted.len() as f64));
        }
        let median = interpolated(&sorted, 0.5);
        let mut distances: Vec<f64> = sorted.iter().map(|value| (value - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        prop_assert!(close(sketch.median_absolute_deviation().unwrap(), interpolated(&distances, 0.5)));
        let [min, max, q1, q2, q3, lower, upper] = sketch.boxplot().unwrap();
        prop_assert_eq!((min, max), (sorted[0], sorted[sorted.len() - 1]));
        for (quartile, q) in [(q1, 0.25), (q2, 0.5), (q3, 0.75)] {
            prop_assert!(close(quartile, interpolated(&sorted, q)));
        }
        let reach = 1.5 * (q3 - q1);
        let is_near = |value: &f64| (q1 - reach..=q3 + reach).contains(value);
        prop_assert_eq!(Some(lower), sorted.iter().copied().find(is_near));
        prop_assert_eq!(Some(upper), sorted.iter().copied().rfind(is_near));
    }

    #[test]
    fn many_different_values_are_answered_within_the_stated_error(
        values in prop::collection::vec(value(), 200..1200), qs in prop::collection::vec(0.0..=1.0_f64, 8),
    ) {
        let (sketch, sorted) = (sketch_of(&values), sorted(&values));
        prop_assume!(distinct(&values) > MAX_EXACT);
        prop_assert!(!sketch.is_exact());
        let last = sorted.len() - 1;
        for (q, answer) in qs.iter().zip(sketch.quantiles(&qs)) {
            let truth = interpolated(&sorted, *q);
            // Infinite differences are interpolated in another way.
            prop_assume!(truth.is_finite());
            prop_assert!(within_error(answer.unwrap(), truth, scale(&sorted, *q)), "{answer:?} for {truth}");
        }
        prop_assert_eq!(sketch.quantile(0.0), Some(sorted[0]));
        prop_assert_eq!(sketch.quantile(1.0), Some(sorted[last]));
        prop_assert_eq!(sketch.count(), sorted.len() as u64);
    }

    #[test]
    fn ranks_are_off_by_less_than_a_bucket(
        values in prop::collection::vec(value(), 300..800),
        other in value(),
    ) {
        let sketch = sketch_of(&values);
        let n = values.len() as f64;
        for point in [values[0], other, sketch.min().unwrap(), sketch.max().unwrap()] {
            let truth = values.iter().filter(|value| **value <= point).count() as f64;
            let same = values.iter().filter(|value| bucket_of(**value) == bucket_of(point)).count() as f64;
            let rank = sketch.rank(point).unwrap();
            prop_assert!((rank / 100.0 * n - truth).abs() <= same + 1e-9);
        }
        prop_assert_eq!(sketch.rank(f64::INFINITY), Some(100.0));
        prop_assert_eq!(sketch.rank(f64::NEG_INFINITY), Some(0.0));
        prop_assert_eq!(sketch.rank(f64::NAN), None);
    }

    #[test]
    fn deviations_of_many_values_are_within_the_stated_error(
        values in prop::collection::vec(-1e4..1e4_f64, 200..900),
        shift in prop_oneof![Just(0.0), -1e5..1e5_f64],
    ) {
        let values: Vec<f64> = values.iter().map(|value| value + shift).collect();
        let (sketch, sorted) = (sketch_of(&values), sorted(&values));
        prop_assume!(distinct(&values) > MAX_EXACT);
        let median = interpolated(&sorted, 0.5);
        let mut distances: Vec<f64> = sorted.iter().map(|value| (value - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let (answer, truth) = (sketch.median_absolute_deviation().unwrap(), interpolated(&distances, 0.5));
        let (of_distances, of_values) = (scale(&distances, 0.5), scale(&sorted, 0.5));
        prop_assert!((answer - truth).abs() <= of_distances / 256.0 + of_values / 128.0 + 1e-6);
    }

    #[test]
    fn bytes_depend_neither_on_order_nor_on_division(
        values in prop_oneof![
            prop::collection::vec(value(), 0..400), prop::collection::vec(value(), 120..136), few(),
        ],
        keys in prop::collection::vec((any::<u32>(), 0..4_usize), 400),
        single in any::<bool>(),
    ) {
        let whole = sketch_of(&values);
        prop_assert_eq!(whole.is_exact(), distinct(&values) <= MAX_EXACT);
        let mut shuffled: Vec<_> = values.iter().zip(&keys).collect();
        shuffled.sort_by_key(|(_, key)| key.0);
        let mut parts = vec![Vec::new(); 4];
        shuffled.iter().for_each(|(value, (_, part))| parts[*part].push(**value));
        let parts: Vec<_> = parts.iter().map(|part| {
            let mut sketch = QuantileSketch::default();
            if single { part.iter().for_each(|value| sketch.add(*value)) } else { sketch.extend(part) }
            sketch
        }).collect();
        let mut merged: QuantileSketch = postcard::from_bytes(&bytes(&parts[3])).unwrap();
        merged.merge(&parts[1]);
        let mut others = parts[0].clone();
        others.merge(&postcard::from_bytes(&bytes(&parts[2])).unwrap());
        merged.merge(&others);
        prop_assert_eq!(bytes(&merged), bytes(&whole));
        let qs = [0.0, 0.01, 0.5, 0.99];
        prop_assert_eq!(merged.quantiles(&qs), whole.quantiles(&qs));
    }

    #[test]
    fn a_repeated_value_is_as_many_values(values in prop::collection::vec((value(), 0..5_u64), 0..300)) {
        let (mut repeated, mut single) = (QuantileSketch::default(), Vec::new());
        for (value, count) in &values {
            repeated.add_repeated(*value, *count);
            single.extend((0..*count).map(|_| *value));
        }
        prop_assert_eq!(bytes(&repeated), bytes(&sketch_of(&single)));
    }

    #[test]
    fn pages_hold_what_sorted_buckets_hold(values in prop::collection::vec(value(), 129..2000)) {
        let mut pages = sketch_of(&values);
        if let Form::Bucketed { buckets, .. } = &mut pages.form {
            buckets.pages();
        }
        let read: QuantileSketch = postcard::from_bytes(&bytes(&pages)).unwrap();
        let mut both = read.clone();
        both.merge(&pages);
        pages.merge(&read);
        prop_assert_eq!(bytes(&both), bytes(&pages));
        prop_assert_eq!(both.count(), 2 * values.len() as u64);
    }

    #[test]
    fn hostile_bytes_do_not_panic(input in prop::collection::vec(any::<u8>(), 0..80),
                                  values in prop::collection::vec(value(), 1..200),
                                  at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut damaged = bytes(&sketch_of(&values));
        let at = at.index(damaged.len());
        damaged[at] = byte;
        for input in [input, damaged] {
            if let Ok(sketch) = postcard::from_bytes::<QuantileSketch>(&input) {
                let mut twice = sketch.clone();
                twice.merge(&sketch);
                twice.extend(&values);
                let _ = (twice.quantile(0.3), twice.rank(1.0), twice.median_absolute_deviation(), twice.boxplot());
                let again: QuantileSketch = postcard::from_bytes(&bytes(&sketch)).unwrap();
                prop_assert_eq!(bytes(&again), bytes(&sketch));
            }
        }
    }
}

#[test]
fn the_129th_different_value_makes_buckets_and_repetitions_do_not() {
    let values: Vec<f64> = (0..128).map(f64::from).collect();
    let mut sketch = sketch_of(&values);
    sketch.extend(&values);
    assert!(sketch.is_exact());
    sketch.add(-0.0);
    assert!(sketch.is_exact());
    sketch.add(-1.0);
    assert!(!sketch.is_exact());
}

#[test]
fn values_that_are_not_finite_are_left_out() {
    let mut values = vec![f64::NAN, f64::INFINITY, 1.0, f64::NEG_INFINITY];
    assert_eq!(
        (sketch_of(&values).count(), sketch_of(&values).max()),
        (1, Some(1.0))
    );
    values.extend((0..1000).map(f64::from));
    values.push(f64::NAN);
    values.push(f64::INFINITY);
    let sketch = sketch_of(&values);
    assert_eq!((sketch.count(), sketch.max()), (1001, Some(999.0)));
}

#[test]
fn nothing_and_shares_out_of_range_have_no_answer() {
    let empty = QuantileSketch::default();
    assert_eq!(
        (
            empty.quantile(0.5),
            empty.rank(1.0),
            empty.median_absolute_deviation()
        ),
        (None, None, None)
    );
    let one = sketch_of(&[1.0]);
    assert_eq!(
        (
            one.quantile(-0.1),
            one.quantile(1.1),
            one.quantile(f64::NAN)
        ),
        (None, None, None)
    );
}

#[test]
fn interpolation_between_the_largest_numbers_does_not_overflow() {
    let sketch = sketch_of(&[-f64::MAX, f64::MAX]);
    assert_eq!(sketch.quantile(0.5), Some(0.0));
}

#[test]
fn a_long_list_is_not_made_room_for_on_its_word() {
    // A truncated sketch that claims 2^28 buckets.
    let mut claim = vec![1];
    claim.extend(1.0_f64.to_le_bytes());
    claim.extend(2.0_f64.to_le_bytes());
    claim.extend([0, 0x80, 0x80, 0x80, 0x80, 0x01]);
    assert!(postcard::from_bytes::<QuantileSketch>(&claim).is_err());
    // More values than the exact form ever has.
    let mut many = vec![0, 129, 1];
    for value in 0..129_u32 {
        many.extend(
            postcard::to_allocvec(&(f64::from(value).to_bits().swap_bytes(), 1_u64)).unwrap(),
        );
    }
    assert!(postcard::from_bytes::<QuantileSketch>(&many).is_err());
}

//! Rollups: comparison with counting the documents.

use proptest::prelude::*;

use super::Rollup;
use crate::codec::Writer;

fn names(num_keys: usize) -> Vec<String> {
    (0..num_keys).map(|ord| format!("key {ord:02}")).collect()
}

/// Generates documents in order of time, each with the ordinal of its value.
fn documents() -> impl Strategy<Value = (usize, Vec<(i64, Option<usize>)>)> {
    let reach = prop::sample::select(vec![1i64, 400_000_000, 3_600_000_000_000, i64::MAX]);
    (0..5usize, any::<i64>(), reach).prop_flat_map(|(num_keys, around, reach)| {
        let time = (0..reach).prop_map(move |off| around.saturating_add(off));
        let value = prop::option::of(0..num_keys.max(1))
            .prop_map(move |value| value.filter(|ord| *ord < num_keys));
        prop::collection::vec((time, value), 1..150).prop_map(move |mut documents| {
            documents.sort_unstable();
            (num_keys, documents)
        })
    })
}

fn encoded(width_ns: i64, num_docs: &[u64], keys: &[&str], counts: &[u64]) -> Vec<u8> {
    let mut out = Writer::default();
    out.varint_signed(width_ns);
    out.varint_signed(0);
    out.varint(num_docs.len() as u64);
    for count in num_docs {
        out.varint(*count);
    }
    out.varint(1);
    out.bytes(b"level");
    out.varint(keys.len() as u64);
    for key in keys {
        out.bytes(key.as_bytes());
    }
    for count in counts {
        out.varint(*count);
    }
    out.into_bytes()
}

#[test]
fn a_document_without_a_value_counts_in_its_bucket_only() {
    let mut rollup = Rollup::over(&[0, 0, 1_000_000, 2_000_000]).unwrap();
    rollup.add_field(
        "level",
        vec!["error".into(), "info".into()],
        [Some(1), None, Some(0), Some(1)],
    );
    assert_eq!(rollup.width_ns(), 1_000_000);
    assert_eq!(rollup.num_docs(), [2, 1, 1]);
    let level = rollup.field("level").unwrap();
    assert_eq!(level.counts_in(0..1), [0, 1]);
    assert_eq!(level.counts_in(1..3), [1, 1]);
    assert_eq!(level.counts_in(0..usize::MAX), [1, 2]);
    assert_eq!(level.counts_in(3..9), [0, 0]);
    assert!(rollup.field("host").is_none());
    assert!(Rollup::over(&[]).is_none());
}

#[test]
fn a_reader_refuses_what_is_no_rollup() {
    let check = |bytes: &[u8], problem: &str| {
        let error = Rollup::open(bytes).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    };
    let fine = encoded(1, &[1, 2], &["a", "b"], &[1, 0, 1, 1]);
    assert!(Rollup::open(&fine).is_ok());
    check(&encoded(0, &[1], &["a"], &[1]), "positive");
    check(&encoded(1, &[1 << 32], &["a"], &[1]), "32 bits");
    check(&encoded(1, &[1; 70_000], &[], &[]), "too many");
    check(&encoded(1, &[1, 2], &["a", "b"], &[1, 0, 1]), "cut short");
    check(&encoded(1, &[1], &["b", "a"], &[1, 0]), "not in order");
    check(&encoded(1, &[1], &["a", "a"], &[1, 0]), "not in order");
    check(&[fine, vec![0]].concat(), "too many");
}

proptest! {
    #[test]
    fn counts_are_those_of_a_plain_scan(
        (num_keys, documents) in documents(),
        from in 0usize..300,
        len in 0usize..300,
    ) {
        let times: Vec<i64> = documents.iter().map(|(time, _)| *time).collect();
        let mut rollup = Rollup::over(&times).unwrap();
        rollup.add_field("level", names(num_keys), documents.iter().map(|(_, value)| *value));
        rollup.add_field("host", vec!["only".into()], times.iter().map(|_| Some(0)));

        prop_assert_eq!(&Rollup::open(&rollup.write())?, &rollup);
        prop_assert!(rollup.num_docs().len() <= 258);

        let slot_of = |time: i64| {
            usize::try_from(time.div_euclid(rollup.width_ns()) - rollup.first_bucket()).unwrap()
        };
        for (slot, num_docs) in rollup.num_docs().iter().enumerate() {
            let wanted = times.iter().filter(|time| slot_of(**time) == slot).count();
            prop_assert_eq!(*num_docs as usize, wanted);
        }
        let buckets = from..from + len;
        let sums = rollup.field("level").unwrap().counts_in(buckets.clone());
        for (key, sum) in sums.iter().enumerate() {
            let wanted = documents
                .iter()
                .filter(|(time, value)| *value == Some(key) && buckets.contains(&slot_of(*time)))
                .count();
            prop_assert_eq!(*sum, wanted as u64);
        }
    }
}

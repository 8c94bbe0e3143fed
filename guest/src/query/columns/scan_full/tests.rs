//! Comparison of scans, in any order of steps, with a test of each value.

use proptest::prelude::*;
use tantivy::columnar::{ColumnarReader, ColumnarWriter, NumericalValue};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, SeekDangerResult};

use super::*;

fn column(values: &[u64]) -> FullColumn {
    let mut writer = ColumnarWriter::default();
    for (doc, value) in (0u32..).zip(values) {
        writer.record_numerical(doc, "value", NumericalValue::U64(*value));
    }
    let mut bytes = Vec::new();
    let num_docs = u32::try_from(values.len()).unwrap();
    writer.serialize(num_docs, None, &mut bytes).unwrap();
    let reader = ColumnarReader::open(bytes).unwrap();
    let handle = reader.read_columns("value").unwrap().remove(0);
    FullColumn::open(&handle).unwrap().unwrap()
}

/// Returns the code of a number, which is that of a signed one.
fn code(value: u64) -> u64 {
    value ^ 1 << 63
}

/// Generates values of which few, many or nearly all are wanted, in long and short runs.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let run = (0u64..40, 1usize..900);
    proptest::collection::vec(run, 1..60).prop_map(|runs| {
        let runs = runs.into_iter();
        runs.flat_map(|(value, len)| (0..len).map(move |place| (value + place as u64 % 7) % 41))
            .collect()
    })
}

/// Next operation on a scan.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance,
    Seek(u32),
    Danger(u32),
    Fill,
}

fn step() -> impl Strategy<Value = Step> {
    let leap = prop_oneof![1u32..4, 1u32..300, 1u32..5_000];
    prop_oneof![
        Just(Step::Advance),
        leap.clone().prop_map(Step::Seek),
        leap.prop_map(Step::Danger),
        Just(Step::Fill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_way_through_a_scan_meets_the_same_documents(
        values in values(),
        (low, high) in (0u64..41, 0u64..41),
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        let (low, high) = (low.min(high), low.max(high));
        let found = (0u32..).zip(&values).filter(|(_, value)| (low..=high).contains(*value));
        let expected: Vec<u32> = found.map(|(doc, _)| doc).collect();
        let from = |target: u32| {
            let place = expected.partition_point(|doc| *doc < target);
            expected.get(place).copied().unwrap_or(TERMINATED)
        };
        let column = column(&values);
        let is_signed = column.bounds().start() >> 63 == 1;
        let code = |value| if is_signed { code(value) } else { value };
        let mut scan = ScanFull::open(column, code(low)..=code(high), 1.0).unwrap();
        let mut doc = from(0);
        prop_assert_eq!(scan.doc(), doc);
        let mut steps = steps.into_iter();
        while doc != TERMINATED {
            match steps.next().unwrap_or(Step::Fill) {
                Step::Advance => {
                    doc = from(doc + 1);
                    prop_assert_eq!(scan.advance(), doc);
                }
                Step::Seek(leap) => {
                    doc = from(doc + leap);
                    prop_assert_eq!(scan.seek(doc.min(TERMINATED)), doc);
                }
                Step::Danger(leap) => {
                    // A scan that is not on a document is advanced until it is.
                    let mut target = doc + leap;
                    loop {
                        match scan.seek_danger(target) {
                            SeekDangerResult::Found => {
                                prop_assert_eq!(from(target), target);
                                break;
                            }
                            SeekDangerResult::SeekLowerBound(bound) => {
                                let next = from(target);
                                prop_assert!(next != target || target == TERMINATED);
                                prop_assert!(bound > target || target == TERMINATED);
                                prop_assert!(bound <= next);
                                target = bound;
                            }
                        }
                        if target >= TERMINATED {
                            break;
                        }
                    }
                    doc = target;
                }
                Step::Fill => {
                    let mut buffer = [0; COLLECT_BLOCK_BUFFER_LEN];
                    let len = scan.fill_buffer(&mut buffer);
                    let place = expected.partition_point(|other| *other < doc);
                    let end = expected.len().min(place + COLLECT_BLOCK_BUFFER_LEN);
                    prop_assert_eq!(&buffer[..len], &expected[place..end]);
                    doc = expected.get(end).copied().unwrap_or(TERMINATED);
                }
            }
            prop_assert_eq!(scan.doc(), doc);
        }
        prop_assert_eq!(scan.advance(), TERMINATED);
    }
}

//! Comparison with tantivy and with simple code, for all widths and kinds of columns.

use std::net::Ipv6Addr;

use proptest::prelude::*;
use tantivy::columnar::column_values::{
    CodecType, load_u64_based_column_values, serialize_u64_based_column_values,
};
use tantivy::columnar::{ColumnarReader, ColumnarWriter, DynamicColumnHandle, NumericalValue};
use tantivy_common::{DateTime, OwnedBytes};

use super::*;

mod damage;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Writes values with one codec.
fn written(codes: &[u64], codec: CodecType) -> Vec<u8> {
    let mut bytes = Vec::new();
    serialize_u64_based_column_values(&codes, &[codec], &mut bytes).unwrap();
    bytes
}

fn opened(bytes: Vec<u8>) -> Values {
    Values::open_values(OwnedBytes::new(bytes)).unwrap()
}

fn packed(codes: &[u64]) -> PackedValues {
    match opened(written(codes, CodecType::Bitpacked)) {
        Values::Packed(packed) => packed,
        other => panic!("{other:?} is not packed"),
    }
}

/// Generates at least three codes whose raw values have `width` bits and include 0 and the largest.
fn codes_of_width(width: u8) -> impl Strategy<Value = (Vec<u64>, u64, u64)> {
    let greatest = u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
    let least_gcd = if width == 64 { 1..=1u64 } else { 1..=7 };
    (
        proptest::collection::vec(any::<u64>(), 0..700),
        least_gcd,
        any::<u64>(),
    )
        .prop_map(move |(raw, gcd, min)| {
            let gcd =
                if greatest == 0 || u128::from(greatest) * u128::from(gcd) > u128::from(u64::MAX) {
                    1
                } else {
                    gcd
                };
            let min = min % (u64::MAX - greatest * gcd).saturating_add(1).max(1);
            let mut codes: Vec<u64> = raw.iter().map(|raw| min + (raw & greatest) * gcd).collect();
            codes.extend([min, min + greatest * gcd, min + greatest.min(1) * gcd]);
            (codes, min, gcd)
        })
}

fn width_and_codes() -> impl Strategy<Value = (u8, (Vec<u64>, u64, u64))> {
    (0u8..=57).prop_flat_map(|width| {
        let width = if width == 57 { 64 } else { width };
        (Just(width), codes_of_width(width))
    })
}

/// Returns a range of rows and an ascending list of rows.
fn range_and_list(len: usize, ends: (usize, usize), seed: &[bool]) -> (Range<u32>, Vec<u32>) {
    let (a, b) = (ends.0 % (len + 1), ends.1 % (len + 1));
    let range = a.min(b) as u32..a.max(b) as u32;
    let listed = (0..len as u32)
        .filter(|row| seed[*row as usize % seed.len()])
        .collect();
    (range, listed)
}

fn check_reading(
    values: &Values,
    codes: &[u64],
    range: Range<u32>,
    listed: &[u32],
) -> Result<(), TestCaseError> {
    let in_range = &codes[range.start as usize..range.end as usize];
    let at_list: Vec<u64> = listed.iter().map(|row| codes[*row as usize]).collect();
    check_select(values, in_range, range.clone())?;
    let mut out = vec![1, 2, 3];
    values.decode(range, &mut out).unwrap();
    prop_assert_eq!(&out, in_range);
    values.gather(listed, &mut out).unwrap();
    prop_assert_eq!(&out, &at_list);
    let alone = listed.iter().map(|row| values.get(*row).unwrap());
    prop_assert_eq!(alone.collect::<Vec<u64>>(), at_list);
    prop_assert!(values.get(values.num_rows()).is_err());
    Ok(())
}

fn check_select(values: &Values, in_range: &[u64], range: Range<u32>) -> Result<(), TestCaseError> {
    let some = |place: usize| in_range.get(place).copied().unwrap_or(5);
    let (low, high) = (some(0).min(some(1)), some(0).max(some(1)));
    let (inner, beyond) = (low.saturating_add(1), high.saturating_sub(1));
    let mut words = vec![7; 3];
    for wanted in [
        low..=high,
        inner..=beyond,
        0..=high,
        low..=u64::MAX,
        high..=low,
        std::ops::RangeInclusive::new(1, 0),
    ] {
        values.select(range.clone(), &wanted, &mut words).unwrap();
        prop_assert_eq!(words.len(), in_range.len().div_ceil(64));
        for place in 0..words.len() * 64 {
            let is_wanted = in_range
                .get(place)
                .is_some_and(|code| wanted.contains(code));
            prop_assert_eq!(
                words[place / 64] >> (place % 64) & 1 == 1,
                is_wanted,
                "{:?}",
                wanted
            );
        }
    }
    let behind = range.start..values.num_rows() + 1;
    prop_assert!(values.select(behind, &(0..=1), &mut words).is_err());
    Ok(())
}

fn check_raw(
    values: &PackedValues,
    codes: &[u64],
    range: Range<u32>,
    listed: &[u32],
) -> Result<(), TestCaseError> {
    let raw = |code: &u64| (code - values.raw_min()) / values.raw_gcd();
    let in_range: Vec<u64> = codes[range.start as usize..range.end as usize]
        .iter()
        .map(raw)
        .collect();
    let at_list: Vec<u64> = listed
        .iter()
        .map(|row| raw(&codes[*row as usize]))
        .collect();
    let narrow = |raw: &[u64]| raw.iter().map(|raw| *raw as u32).collect::<Vec<u32>>();
    let mut out = vec![7; 9];
    let decoded = values.decode_raw_u32(range.clone(), &mut out);
    prop_assert_eq!(decoded.is_ok(), values.raw_width() <= 32);
    if decoded.is_ok() {
        prop_assert_eq!(&out, &narrow(&in_range));
        values.gather_raw_u32(listed, &mut out).unwrap();
        prop_assert_eq!(&out, &narrow(&at_list));
    }
    let len = if values.raw_width() <= 16 {
        1 << values.raw_width()
    } else {
        1 << 16
    };
    let mut counts = vec![5; len];
    let counted = values.count_raw(range, &mut counts);
    prop_assert_eq!(counted.is_ok(), values.raw_width() <= 16);
    if counted.is_ok() {
        let mut wanted = vec![5; len];
        in_range.iter().for_each(|raw| wanted[*raw as usize] += 1);
        prop_assert!(counts == wanted);
        values.count_raw_at(listed, &mut counts).unwrap();
        at_list.iter().for_each(|raw| wanted[*raw as usize] += 1);
        prop_assert!(counts == wanted);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..config() })]

    #[test]
    fn packed_values_of_every_width_are_those_that_were_written(
        (width, (codes, min, gcd)) in width_and_codes(),
        ends in any::<(usize, usize)>(),
        seed in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        let values = packed(&codes);
        prop_assert_eq!(values.raw_width(), width);
        prop_assert_eq!((values.raw_min(), values.min()), (min, min));
        prop_assert_eq!(values.max(), *codes.iter().max().unwrap());
        prop_assert_eq!(values.num_rows() as usize, codes.len());
        if width > 0 {
            prop_assert_eq!(values.raw_gcd(), gcd);
        }
        let (range, listed) = range_and_list(codes.len(), ends, &seed);
        check_raw(&values, &codes, range.clone(), &listed)?;
        check_reading(&Values::Packed(values), &codes, range, &listed)?;
    }

    #[test]
    fn lines_and_tantivys_own_codec_are_read_as_tantivy_reads_them(
        steps in proptest::collection::vec(any::<u64>(), 1..1500),
        (bits, down, gcd) in (0u32..40, any::<bool>(), 1u64..1000),
        ends in any::<(usize, usize)>(),
        seed in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut sum = 0;
        let mut codes: Vec<u64> = steps
            .iter()
            .map(|step| {
                sum += step & ((1 << bits) - 1);
                sum * gcd
            })
            .collect();
        if down {
            codes.reverse();
        }
        let (range, listed) = range_and_list(codes.len(), ends, &seed);
        for codec in [CodecType::BlockwiseLinear, CodecType::Linear] {
            // The writer of a single line has none until it has seen 512 values.
            if codec == CodecType::Linear && codes.len() <= 512 {
                continue;
            }
            let bytes = written(&codes, codec);
            let theirs = load_u64_based_column_values::<u64>(OwnedBytes::new(bytes.clone())).unwrap();
            let values = opened(bytes);
            prop_assert_eq!(matches!(values, Values::Linear(_)), codec == CodecType::BlockwiseLinear);
            prop_assert_eq!((values.min(), values.max()), (theirs.min_value(), theirs.max_value()));
            check_reading(&values, &codes, range.clone(), &listed)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..config() })]

    #[test]
    fn few_values_are_counted_alike_in_every_codec(
        codes in proptest::collection::vec((0u64..3000, any::<bool>()), 1..6000),
        (width, gcd, min) in (1u32..=10, 1u64..5, 0u64..1000),
        ends in any::<(usize, usize)>(),
    ) {
        // Many blocks of one value, as in columns of texts with one dominant value.
        let raw = |(code, is_usual): &(u64, bool)| if *is_usual { 1 } else { code % (1 << width) };
        let codes: Vec<u64> = codes.iter().map(|code| min + gcd * raw(code)).collect();
        let (range, _) = range_and_list(codes.len(), ends, &[true]);
        for codec in [CodecType::Bitpacked, CodecType::BlockwiseLinear] {
            let values = opened(written(&codes, codec));
            let num_raw = values.num_counted().unwrap();
            let (mut counts, mut wanted) = (vec![5; num_raw], vec![5; num_raw]);
            values.count_raw(range.clone(), &mut counts).unwrap();
            for code in &codes[range.start as usize..range.end as usize] {
                wanted[((code - values.raw_min()) / values.raw_gcd()) as usize] += 1;
            }
            prop_assert_eq!(counts, wanted);
        }
    }
}

#[test]
fn lists_in_any_order_and_with_repeated_rows_are_read() {
    let codes: Vec<u64> = (0..2000u64).map(|row| row * row * 31 % 4093).collect();
    let rows = [1999, 0, 0, 700, 3, 1998, 700, 512, 511];
    let wanted: Vec<u64> = rows.iter().map(|row| codes[*row as usize]).collect();
    for codec in [
        CodecType::Bitpacked,
        CodecType::BlockwiseLinear,
        CodecType::Linear,
    ] {
        let mut out = Vec::new();
        opened(written(&codes, codec))
            .gather(&rows, &mut out)
            .unwrap();
        assert_eq!(out, wanted, "{codec:?}");
    }
}

#[test]
fn long_runs_are_counted_as_short_ones_are() {
    for width in 1..=16u32 {
        let codes: Vec<u64> = (0..300_000u64)
            .map(|row| {
                (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33).pow(2) >> 5 & ((1 << width) - 1)
            })
            .chain([0, 1, (1 << width) - 1])
            .collect();
        let values = packed(&codes);
        let mut wanted = vec![0u64; 1 << width];
        codes[5..]
            .iter()
            .for_each(|code| wanted[*code as usize] += 1);
        let mut counts = vec![0; 1 << width];
        values
            .count_raw(5..codes.len() as u32, &mut counts)
            .unwrap();
        assert!(counts == wanted, "width {width}");
        let rows: Vec<u32> = (5..codes.len() as u32).collect();
        let mut counts = vec![0; 1 << width];
        values.count_raw_at(&rows, &mut counts).unwrap();
        assert!(counts == wanted, "width {width}, listed");
    }
}

#[test]
fn rows_that_do_not_exist_are_an_error_and_reversed_ranges_are_empty() {
    let codes: Vec<u64> = (0..1000).map(|row| row % 13).collect();
    for codec in [
        CodecType::Bitpacked,
        CodecType::BlockwiseLinear,
        CodecType::Linear,
    ] {
        let values = opened(written(&codes, codec));
        let mut out = vec![1];
        assert!(values.decode(999..1001, &mut out).is_err());
        for rows in [&[1000][..], &[5, 1024], &[u32::MAX], &[0, 999, 1001]] {
            assert!(values.gather(rows, &mut out).is_err(), "{codec:?} {rows:?}");
        }
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
        values.decode(9..7, &mut out).unwrap();
        assert!(out.is_empty());
        values.gather(&[], &mut out).unwrap();
        values.decode(1000..1000, &mut out).unwrap();
    }
    let values = packed(&codes);
    let mut counts = vec![0; 13];
    assert!(values.count_raw(0..1001, &mut counts).is_err());
    assert!(values.count_raw_at(&[1000], &mut counts).is_err());
    assert!(values.count_raw(0..1000, &mut counts[..12]).is_err());
    values.count_raw(0..1000, &mut counts).unwrap();
    assert_eq!(counts.iter().sum::<u64>(), 1000);
}

#[test]
fn constant_columns_and_columns_without_rows_are_read() {
    for codes in [vec![], vec![9; 100]] {
        let values = packed(&codes);
        assert_eq!(values.raw_width(), 0);
        let mut out = vec![1];
        values.decode(0..codes.len() as u32, &mut out).unwrap();
        assert_eq!(out, codes);
        let mut counts = [0];
        values
            .count_raw(0..codes.len() as u32, &mut counts)
            .unwrap();
        assert_eq!(counts, [codes.len() as u64]);
    }
}

/// Values of a document, for all kinds of columns.
type Doc = Vec<(u64, bool)>;

/// Writes columns of all kinds, each with the documents' values in its own type.
fn columns_of(docs: &[Doc]) -> Vec<(String, DynamicColumnHandle)> {
    let mut writer = ColumnarWriter::default();
    for (doc, values) in (0..).zip(docs) {
        for (number, flag) in values {
            let signed = number.cast_signed();
            writer.record_numerical(doc, "u64", NumericalValue::U64(number | 1 << 63));
            writer.record_numerical(
                doc,
                "i64",
                NumericalValue::I64(-(signed >> 3).saturating_abs() - 1),
            );
            writer.record_numerical(
                doc,
                "f64",
                NumericalValue::F64(f64::from(*number as u32) + 0.5),
            );
            writer.record_bool(doc, "bool", *flag);
            writer.record_datetime(doc, "date", DateTime::from_timestamp_nanos(signed));
            writer.record_str(doc, "str", &format!("{}", number % 300));
            writer.record_bytes(doc, "bytes", &number.to_be_bytes()[..2]);
            writer.record_ip_addr(doc, "ip", Ipv6Addr::from(u128::from(number % 1000) << 40));
        }
    }
    let mut bytes = Vec::new();
    writer
        .serialize(docs.len() as u32, None, &mut bytes)
        .unwrap();
    ColumnarReader::open(bytes).unwrap().list_columns().unwrap()
}

fn docs(per_doc: Range<usize>) -> impl Strategy<Value = Vec<Doc>> {
    let number = (any::<u64>(), 0u32..60).prop_map(|(number, shift)| number >> shift);
    let doc = proptest::collection::vec((number, any::<bool>()), per_doc);
    proptest::collection::vec(doc, 0..300)
}

fn check_columns(docs: &[Doc], seed: &[bool]) -> Result<(), TestCaseError> {
    for (name, handle) in columns_of(docs) {
        let theirs = handle.open_u64_lenient().unwrap().unwrap();
        let (index, values) = Values::open(&handle).unwrap();
        prop_assert_eq!(
            index.get_cardinality(),
            theirs.index.get_cardinality(),
            "{}",
            name
        );
        for doc in 0..docs.len() as u32 {
            prop_assert_eq!(
                index.value_row_ids(doc),
                theirs.index.value_row_ids(doc),
                "{}",
                name
            );
        }
        prop_assert_eq!(values.num_rows(), theirs.values.num_vals());
        if values.num_rows() > 0 {
            prop_assert_eq!(values.min(), theirs.values.min_value(), "{}", name);
            prop_assert_eq!(values.max(), theirs.values.max_value(), "{}", name);
        }
        let codes: Vec<u64> = (0..values.num_rows())
            .map(|row| theirs.values.get_val(row))
            .collect();
        let (range, listed) = range_and_list(codes.len(), (codes.len() / 3, codes.len()), seed);
        check_reading(&values, &codes, range, &listed)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..config() })]

    #[test]
    fn full_columns_of_every_kind_are_read_as_tantivy_reads_them(
        docs in docs(1..2),
        seed in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        check_columns(&docs, &seed)?;
    }

    #[test]
    fn optional_columns_of_every_kind_are_read_as_tantivy_reads_them(
        docs in docs(0..2),
        seed in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        check_columns(&docs, &seed)?;
    }

    #[test]
    fn multivalued_columns_of_every_kind_are_read_as_tantivy_reads_them(
        docs in docs(0..5),
        seed in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        check_columns(&docs, &seed)?;
    }
}

#[test]
fn columns_with_dense_and_sparse_blocks_of_documents_are_opened() {
    let docs: Vec<Doc> = (0..200_000u64)
        .map(|doc| {
            if doc < 70_000 || doc % 97 == 0 {
                vec![(doc, true); doc as usize % 3]
            } else {
                vec![]
            }
        })
        .collect();
    check_columns(&docs, &[true, false, true]).unwrap();
}

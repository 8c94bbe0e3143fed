//! Stored documents: exact round trips, and errors for invalid bytes.

use proptest::prelude::*;
use tantivy::schema::{
    BytesOptions, DateOptions, IpAddrOptions, NumericOptions, STORED, SchemaBuilder, TextOptions,
};

use super::*;

fn schema() -> Schema {
    let mut schema = SchemaBuilder::default();
    schema.add_text_field("text", STORED);
    schema.add_u64_field("unsigned", STORED);
    schema.add_i64_field("signed", STORED);
    schema.add_f64_field("float", STORED);
    schema.add_bool_field("bool", STORED);
    schema.add_date_field("date", DateOptions::default().set_stored());
    schema.add_ip_addr_field("ip", IpAddrOptions::default().set_stored());
    schema.add_bytes_field("bytes", BytesOptions::default().set_stored());
    schema.add_text_field("not stored", TextOptions::default());
    schema.add_u64_field("not stored, either", NumericOptions::default().set_fast());
    schema.build()
}

fn field(number: u32) -> Field {
    Field::from_field_id(number)
}

fn written(document: &TantivyDocument) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_stored(document, &schema(), &mut bytes).unwrap();
    bytes
}

#[track_caller]
fn check(document: &TantivyDocument) -> usize {
    let bytes = written(document);
    assert_eq!(&read_stored(&bytes).unwrap(), document);
    bytes.len()
}

#[test]
fn a_date_takes_the_longest_unit_that_is_exact() {
    for (ns, len) in [
        (1_460_505_600_000_000_000, 7),
        (1_460_505_600_123_000_000, 8),
        (1_460_505_600_123_456_000, 10),
        (1_460_505_600_123_456_789, 11),
        (0, 3),
        (-1, 3),
        (i64::MIN, 12),
        (i64::MAX, 12),
    ] {
        let mut document = TantivyDocument::new();
        document.add_date(field(5), DateTime::from_timestamp_nanos(ns));
        let took = check(&document);
        assert!(took <= len, "{ns}: {took}");
    }
}

#[test]
fn what_is_not_stored_is_left_out() {
    let mut document = TantivyDocument::new();
    document.add_text(field(8), "seen by nobody");
    document.add_u64(field(9), 7);
    assert_eq!(written(&document), Vec::<u8>::new());
    document.add_text(field(0), "seen");
    assert_eq!(written(&document).len(), 6);
}

#[test]
fn fields_get_the_numbers_that_they_are_given() {
    let mut document = TantivyDocument::new();
    document.add_text(field(0), "left out");
    document.add_u64(field(1), 3);
    let renumber = |old: Field| (old.field_id() > 0).then(|| field(old.field_id() + 40));
    let read = read_stored_as(&written(&document), renumber).unwrap();
    let mut expected = TantivyDocument::new();
    expected.add_u64(field(41), 3);
    assert_eq!(read, expected);
}

fn any_document() -> impl Strategy<Value = TantivyDocument> {
    let value = prop_oneof![
        any::<String>().prop_map(|text| (0, Some(text), 0, Vec::new())),
        (1_u32..7, any::<u64>()).prop_map(|(kind, number)| (kind, None, number, Vec::new())),
        prop::collection::vec(any::<u8>(), 0..50).prop_map(|bytes| (7, None, 0, bytes)),
    ];
    prop::collection::vec(value, 0..12).prop_map(|values| {
        let mut document = TantivyDocument::new();
        for (kind, text, number, bytes) in values {
            match kind {
                0 => document.add_text(field(0), text.unwrap()),
                1 => document.add_u64(field(1), number),
                2 => document.add_i64(field(2), number.cast_signed()),
                3 => document.add_f64(field(3), (number as f64).sqrt() - 1e9),
                4 => document.add_bool(field(4), number % 2 == 1),
                5 => {
                    let ns = number.cast_signed();
                    document.add_date(field(5), DateTime::from_timestamp_nanos(ns));
                }
                6 => document.add_ip_addr(field(6), Ipv6Addr::from(u128::from(number) << 32)),
                _ => document.add_bytes(field(7), &bytes),
            }
        }
        document
    })
}

proptest! {
    #[test]
    fn any_document_comes_back(document in any_document()) {
        check(&document);
    }

    #[test]
    fn any_bytes_are_a_document_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_stored(&bytes);
    }

    #[test]
    fn a_document_that_is_cut_is_an_error_or_shorter(document in any_document(), at in any::<usize>()) {
        let bytes = written(&document);
        let cut = &bytes[..at % (bytes.len() + 1)];
        if let Ok(read) = read_stored(cut) {
            let num = |document: &TantivyDocument| document.field_values().count();
            prop_assert!(num(&read) <= num(&document));
        }
    }
}

//! Columns of drawn objects, compared with those that tantivy writes.

use std::net::Ipv6Addr;

use proptest::prelude::*;
use tantivy::columnar::{ColumnarReader, DynamicColumnHandle};
use tantivy::directory::FileSlice;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::schema::{
    BytesOptions, DateOptions, Field, IpAddrOptions, JsonObjectOptions, NumericOptions, OwnedValue,
    TextOptions,
};
use tantivy::tokenizer::{LowerCaser, RawTokenizer};
use tantivy::{DateTime, TantivyDocument};

use super::*;
use crate::collect::field::{Column, Numbers};
use crate::key::Key;

const LOWER: &str = "lower";

/// Returns a schema with a field of each type; the last has no column.
fn schema() -> Schema {
    let mut schema = Schema::builder();
    let number = NumericOptions::default().set_fast();
    schema.add_u64_field("unsigned", number.clone());
    schema.add_i64_field("signed", number.clone());
    schema.add_f64_field("float", number.clone());
    schema.add_bool_field("flag", number);
    let date = DateOptions::default().set_fast();
    schema.add_date_field("date", date.set_precision(DateTimePrecision::Milliseconds));
    schema.add_ip_addr_field("address", IpAddrOptions::default().set_fast());
    schema.add_bytes_field("bytes", BytesOptions::default().set_fast());
    schema.add_text_field("text.raw", TextOptions::default().set_fast(RAW));
    schema.add_text_field("text", TextOptions::default().set_fast(LOWER));
    let json = JsonObjectOptions::default().set_fast(RAW);
    schema.add_json_field("_dynamic", json.clone().set_expand_dots_enabled());
    schema.add_json_field("json", json);
    schema.add_text_field("stored", TextOptions::default().set_stored());
    schema.build()
}

fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::new();
    let lower = TextAnalyzer::builder(RawTokenizer::default()).filter(LowerCaser);
    tokenizers.register(LOWER, lower.build());
    tokenizers
}

fn value_of(field: u32) -> BoxedStrategy<OwnedValue> {
    let text = "[a-cA-Zé]{0,3}";
    match field {
        0 => prop_oneof![0..9u64, any::<u64>()]
            .prop_map(OwnedValue::U64)
            .boxed(),
        1 => prop_oneof![-9..9i64, any::<i64>()]
            .prop_map(OwnedValue::I64)
            .boxed(),
        2 => any::<f64>().prop_map(OwnedValue::F64).boxed(),
        3 => any::<bool>().prop_map(OwnedValue::Bool).boxed(),
        4 => (-5_000_000..5_000_000i64)
            .prop_map(|time| OwnedValue::Date(DateTime::from_timestamp_nanos(time)))
            .boxed(),
        5 => prop_oneof![0..4u128, any::<u128>()]
            .prop_map(|bits| OwnedValue::IpAddr(Ipv6Addr::from_bits(bits)))
            .boxed(),
        6 => prop::collection::vec(0..3u8, 0..3)
            .prop_map(OwnedValue::Bytes)
            .boxed(),
        9 | 10 => json().boxed(),
        _ => text.prop_map(OwnedValue::Str).boxed(),
    }
}

fn json() -> impl Strategy<Value = OwnedValue> {
    let leaf = prop_oneof![
        Just(OwnedValue::Null),
        any::<bool>().prop_map(OwnedValue::Bool),
        (-3..3i64).prop_map(OwnedValue::I64),
        prop_oneof![0..3u64, Just(i64::MAX.unsigned_abs()), Just(u64::MAX)]
            .prop_map(OwnedValue::U64),
        prop_oneof![Just(0.5), Just(2.0)].prop_map(OwnedValue::F64),
        "[ab]{0,2}".prop_map(OwnedValue::Str),
        (0..3i64).prop_map(|time| OwnedValue::Date(DateTime::from_timestamp_nanos(time))),
    ];
    let inner = leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(OwnedValue::Array),
            members(inner),
        ]
    });
    members(inner)
}

fn members(
    value: impl Strategy<Value = OwnedValue> + 'static,
) -> impl Strategy<Value = OwnedValue> {
    prop::collection::btree_map("a|b|a\\.b", value, 0..3)
        .prop_map(|members| OwnedValue::Object(members.into_iter().collect()))
}

fn document() -> impl Strategy<Value = TantivyDocument> {
    let value = (0..12u32).prop_flat_map(|field| (Just(field), value_of(field)));
    prop::collection::vec(value, 0..6).prop_map(|values| {
        let mut document = TantivyDocument::new();
        for (field, value) in &values {
            document.add_field_value(Field::from_field_id(*field), value);
        }
        document
    })
}

/// Returns the keys of each object, or the codes of bytes, which have no keys.
fn read(column: &Column, num_objects: u32) -> Vec<Vec<Key>> {
    let objects = 0..num_objects;
    let of_each = objects.map(|object| {
        let rows = column.index.value_row_ids(object);
        let keys = rows.map(|row| {
            let code = column.values.get(row).unwrap();
            match column.column_type {
                ColumnType::Bytes => Key::Number(crate::numbers::Number::Integer(code.into())),
                _ => column.keys(&[code]).unwrap().pop().unwrap(),
            }
        });
        keys.collect()
    });
    of_each.collect()
}

fn by_type(handle: DynamicColumnHandle) -> Column {
    Column::open(&handle, Numbers::AsTheyAre).unwrap()
}

proptest! {
    #[test]
    fn columns_hold_what_tantivys_hold(documents in prop::collection::vec(document(), 0..12)) {
        let schema = schema();
        let num_objects = u32::try_from(documents.len()).unwrap();
        let mut theirs = FastFieldsWriter::from_schema_and_tokenizer_manager(&schema, tokenizers()).unwrap();
        let mut ours = ObjectColumnsWriter::new(&schema, &tokenizers()).unwrap();
        for (object, document) in (0..).zip(&documents) {
            theirs.add_document(document).unwrap();
            ours.add(object, document);
        }
        let mut bytes = Vec::new();
        theirs.serialize(&mut bytes, None).unwrap();
        let theirs = ColumnarReader::open(FileSlice::from(bytes)).unwrap();
        let ours = ours.finish(num_objects);
        let mut num_columns = 0;
        for (name, handle) in theirs.iter_columns().unwrap() {
            let expected = by_type(handle);
            if expected.values.num_rows() == 0 {
                continue;
            }
            num_columns += 1;
            let found = ours.open(&name).unwrap().into_iter();
            let mut found = found.filter(|column| column.column_type == expected.column_type);
            let column = found.next();
            prop_assert!(column.is_some(), "{:?} has no column of {}", name, expected.column_type);
            let column = Column::in_memory(column.unwrap(), Numbers::AsTheyAre);
            prop_assert_eq!(column.is_full(), expected.is_full());
            let (least, greatest) = (column.values.min(), column.values.max());
            if expected.column_type != ColumnType::IpAddr {
                prop_assert_eq!((least, greatest), (expected.values.min(), expected.values.max()));
            }
            prop_assert_eq!(read(&column, num_objects), read(&expected, num_objects), "{:?}", name);
        }
        prop_assert_eq!(ours.cells.values().flatten().count(), num_columns);
    }
}

#[test]
fn names_of_columns_count_as_memory() {
    let mut schema = Schema::builder();
    schema.add_json_field("json", JsonObjectOptions::default().set_fast(RAW));
    let mut writer = ObjectColumnsWriter::new(&schema.build(), &tokenizers()).unwrap();
    for object in 0..1_000 {
        let mut document = TantivyDocument::new();
        let key = format!("key{object}");
        let members = vec![(key, OwnedValue::U64(1))];
        document.add_field_value(Field::from_field_id(0), &OwnedValue::Object(members));
        writer.add(object, &document);
    }
    assert!(writer.mem_usage() > 256_000, "{}", writer.mem_usage());
    let columns = writer.finish(1_000);
    let column = columns.open("json\u{1}key999").unwrap().pop().unwrap();
    assert_eq!(column.values.num_rows(), 1);
}

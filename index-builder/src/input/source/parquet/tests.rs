//! Parquet files become the documents in them; damaged ones break off without stopping anything else.

use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{
    Decimal128Builder, Int64Builder, LargeListBuilder, ListBuilder, MapBuilder, StringBuilder,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, DictionaryArray,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    IntervalYearMonthArray, LargeBinaryArray, LargeStringArray, RecordBatch, StringArray,
    StructArray, Time32SecondArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field};
use canter_doc_mapper::IndexConfig;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt as _};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType, Int64Type, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ArrowTables, ParquetLimits, ParquetLines, Wanted};
use crate::error::ErrorKind;
use crate::index::publisher::create_index;
use crate::index::storage::IndexStore;
use crate::index::storage::failing::{FailingStore, Failure};
use crate::ingest::{IngestOptions, IngestReport, ingest};
use crate::input::source::{ObjectPlace, Source};

/// Limits for valid files.
const LIMITS: ParquetLimits = ParquetLimits {
    max_pages_num_bytes: 512 << 20,
    max_line_num_bytes: None,
};

fn write(path: &Path, batch: &RecordBatch, compression: Compression, group_num_rows: usize) {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(group_num_rows))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn lines_of(path: &Path, wanted: &Wanted) -> Vec<Value> {
    let mut text = String::new();
    let mut lines = ParquetLines::open(File::open(path).unwrap(), wanted, LIMITS);
    lines.read_to_string(&mut text).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn config(yaml: &str) -> IndexConfig {
    IndexConfig::from_yaml(&format!("version: 0.8\nindex_id: parquet\n{yaml}"), |_| {
        None
    })
    .unwrap()
}

/// Returns two rows with a column of each type, the second without values.
fn all_types() -> RecordBatch {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value([Some("a"), None, Some("b\"")]);
    list.append_null();
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    map.keys().append_value("x.y");
    map.values().append_value(7);
    map.append(true).unwrap();
    map.append(false).unwrap();
    let mut decimal = Decimal128Builder::new()
        .with_precision_and_scale(38, 4)
        .unwrap();
    decimal.append_value(-12_345_678_901_234_567_890_123_456_i128);
    decimal.append_null();
    let inner: ArrayRef = Arc::new(StringArray::from(vec![Some("deep"), None]));
    let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![Some(-1), None]));
    let object = StructArray::from(vec![
        (Arc::new(Field::new("text", DataType::Utf8, true)), inner),
        (
            Arc::new(Field::new("at", times.data_type().clone(), true)),
            times,
        ),
    ]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        (
            "least",
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None])),
        ),
        (
            "most",
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])),
        ),
        ("tenth", Arc::new(Float32Array::from(vec![Some(0.1), None]))),
        (
            "none",
            Arc::new(Float64Array::from(vec![Some(f64::NAN), None])),
        ),
        ("price", Arc::new(decimal.finish())),
        (
            "text",
            Arc::new(StringArray::from(vec![Some("ü\n\u{0}"), None])),
        ),
        (
            "plain",
            Arc::new(BinaryArray::from_opt_vec(vec![Some(b"old text"), None])),
        ),
        (
            "bytes",
            Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0xff, 0]), None])),
        ),
        ("fixed", {
            let values = [Some([7_u8; 16]), None].into_iter();
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 16).unwrap())
        }),
        ("day", Arc::new(Date32Array::from(vec![Some(-1), None]))),
        (
            "clock",
            Arc::new(Time64MicrosecondArray::from(vec![
                Some(47_229_250_000),
                None,
            ])),
        ),
        (
            "ns",
            Arc::new(TimestampNanosecondArray::from(vec![
                Some(1_700_000_000_123_456_789),
                None,
            ])),
        ),
        (
            "us",
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(1_700_000_000_000_001), None])
                    .with_timezone("+02:00"),
            ),
        ),
        ("list", Arc::new(list.finish())),
        ("map", Arc::new(map.finish())),
        ("object", Arc::new(object)),
    ];
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

#[test]
fn values_of_each_type_become_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all");
    write(&path, &all_types(), Compression::SNAPPY, 100);
    let docs = lines_of(&path, &Wanted::default());
    let price: Value = serde_json::from_str("-1234567890123456789012.3456").unwrap();
    assert_eq!(
        docs[0],
        json!({
            "bool": true, "least": i64::MIN, "most": u64::MAX, "tenth": 0.1, "price": price, "text": "ü\n\u{0}",
            "plain": "old text", "bytes": "/wA=", "fixed": "\u{7}".repeat(16), "day": "1969-12-31",
            "clock": "13:07:09.25", "ns": "2023-11-14T22:13:20.123456789Z", "us": "2023-11-14T22:13:20.000001Z",
            "list": ["a", "b\""], "map": {"x.y": 7},
            "object": {"text": "deep", "at": "1969-12-31T23:59:59.999Z"},
        })
    );
    // A null is not a value; an object without values is one.
    assert_eq!(docs[1], json!({"object": {}}));
}

#[test]
fn values_are_written_as_fields_of_the_index_take_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all");
    write(&path, &all_types(), Compression::UNCOMPRESSED, 1);
    let wanted = Wanted::of(&config(
        "doc_mapping:
  mode: lenient
  field_mappings:
    - {name: least, type: text}
    - {name: tenth, type: text}
    - {name: price, type: text}
    - {name: plain, type: bytes}
    - {name: bytes, type: bytes, input_format: hex}
    - {name: day, type: datetime}
    - {name: ns, type: datetime, input_formats: [unix_timestamp]}
    - {name: us, type: datetime, input_formats: [unix_timestamp, rfc3339]}
    - {name: object, type: object, field_mappings: [{name: at, type: datetime, input_formats: [unix_timestamp]}]}
",
    ));
    let docs = lines_of(&path, &wanted);
    // Other columns are not read.
    assert_eq!(
        docs[0],
        json!({
            "least": i64::MIN.to_string(), "tenth": "0.1", "price": "-1234567890123456789012.3456",
            "plain": "b2xkIHRleHQ=", "bytes": "ff00", "day": "1969-12-31T00:00:00Z", "ns": 1_700_000_000_123_456_789_i64,
            "us": "2023-11-14T22:13:20.000001Z", "object": {"text": "deep", "at": -1},
        })
    );
}

/// Writes a file with one row group for each of these, with a column of INT96 and one of intervals.
fn old_types(path: &Path, groups: &[&[(Int96, [u32; 3])]]) {
    let schema = "message old {
        optional int96 at;
        optional fixed_len_byte_array(12) took (INTERVAL);
        optional group inner { required int64 n; }
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    for rows in groups {
        let levels = vec![1; rows.len()];
        let mut group = writer.next_row_group().unwrap();
        let times: Vec<Int96> = rows.iter().map(|(time, _)| *time).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int96Type>()
            .write_batch(&times, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        let intervals = rows.iter().map(|(_, interval)| {
            let bytes: Vec<u8> = interval
                .iter()
                .flat_map(|part| part.to_le_bytes())
                .collect();
            FixedLenByteArray::from(bytes)
        });
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<FixedLenByteArrayType>()
            .write_batch(&intervals.collect::<Vec<_>>(), Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        let numbers: Vec<i64> = (0..).take(rows.len()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&numbers, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Returns a time in INT96: a day by its Julian number, and nanoseconds.
fn int96(days_since_1970: i64, nanos: u64) -> Int96 {
    let mut value = Int96::new();
    let day = u32::try_from(days_since_1970 + 2_440_588).unwrap();
    value.set_data(nanos as u32, (nanos >> 32) as u32, day);
    value
}

#[test]
fn times_of_96_bits_and_intervals_are_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    old_types(
        &path,
        &[
            &[
                (int96(19_844, 36_000_123_456_000), [14, 3, 14_706_500]),
                // The last day that many programs know, and the first one.
                (int96(2_932_896, 0), [0, 0, 0]),
                // Nanoseconds, which microseconds would lose, in a year that nanoseconds of 64 bits lack, too.
                (int96(19_844, 36_000_123_456_789), [1, 0, 0]),
                (int96(-200_000, 999_999_999), [0, 0, 1]),
                (int96(3_000_000, 1_000), [0, 1, 0]),
            ],
            // A row group without a row.
            &[],
            &[(int96(-719_162, 0), [0, 1, u32::MAX])],
        ],
    );
    let docs = lines_of(&path, &Wanted::default());
    assert_eq!(
        docs,
        [
            json!({"at": "2024-05-01T10:00:00.123456Z", "took": "P14M3DT14706.5S", "inner": {"n": 0}}),
            json!({"at": "9999-12-31T00:00:00Z", "took": "PT0S", "inner": {"n": 1}}),
            json!({"at": "2024-05-01T10:00:00.123456789Z", "took": "P1M", "inner": {"n": 2}}),
            json!({"at": "1422-06-03T00:00:00.999999999Z", "took": "PT0.001S", "inner": {"n": 3}}),
            json!({"at": 259_200_000_000_000_001_i64, "took": "P1D", "inner": {"n": 4}}),
            json!({"at": "0001-01-01T00:00:00Z", "took": "P1DT4294967.295S", "inner": {"n": 0}}),
        ]
    );
}

#[test]
fn tables_of_other_programs_have_every_type_of_arrow() {
    let keys = Int32Array::from(vec![Some(1), None]);
    let values: ArrayRef = Arc::new(StringArray::from(vec!["no", "yes"]));
    let dictionary = DictionaryArray::new(keys, values);
    let mut list = LargeListBuilder::new(Int64Builder::new());
    list.append_value([Some(1), Some(2)]);
    list.append_null();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("word", Arc::new(dictionary)),
        (
            "text",
            Arc::new(LargeStringArray::from(vec![Some("a"), None])),
        ),
        (
            "bytes",
            Arc::new(LargeBinaryArray::from_opt_vec(vec![Some(b"b"), None])),
        ),
        ("list", Arc::new(list.finish())),
        (
            "day",
            Arc::new(Date64Array::from(vec![Some(86_400_000), None])),
        ),
        (
            "months",
            Arc::new(IntervalYearMonthArray::from(vec![Some(14), None])),
        ),
        (
            "clock",
            Arc::new(Time32SecondArray::from(vec![Some(61), None])),
        ),
    ];
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let bench = Bench::new("doc_mapping: {mode: dynamic}");
    let mut lines = Vec::new();
    let tables = ArrowTables::of_index(&bench.store).unwrap();
    tables.write_lines(&stream, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let docs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        docs,
        [
            json!({
                "word": "yes", "text": "a", "bytes": "b", "list": [1, 2], "day": "1970-01-02T00:00:00Z",
                "months": "P14M", "clock": "00:01:01",
            }),
            json!({}),
        ]
    );
}

const NUMBERS: &str = "
doc_mapping:
  field_mappings: [{name: n, type: i64, fast: true}, {name: word, type: text}]
";

/// An index, and rows `0..num` of numbers and words.
struct Bench {
    folder: TempDir,
    store: IndexStore,
}

impl Bench {
    fn new(yaml: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let uri = folder.path().join("index");
        let store = create_index(uri.to_str().unwrap(), &config(yaml)).unwrap();
        Bench { folder, store }
    }

    fn file(&self, name: &str, num: i64, compression: Compression) -> PathBuf {
        let path = self.folder.path().join(name);
        let words = (0..num).map(|n| format!("word{}", n % 97));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(Int64Array::from_iter_values(0..num))),
            ("word", Arc::new(StringArray::from_iter_values(words))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        write(&path, &batch, compression, 1_500);
        path
    }

    fn ingest(&self, paths: &[&PathBuf]) -> IngestReport {
        let options = IngestOptions {
            rejects_path: Some(self.folder.path().join("rejects")),
            ..IngestOptions::default()
        };
        let sources = paths.iter().map(Source::file).collect();
        ingest(&self.store, &options, sources, &()).unwrap()
    }
}

#[test]
fn rows_are_ingested_once_whatever_the_index_makes_of_them() {
    let bench = Bench::new(NUMBERS);
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let path = bench.file("numbers.parquet", 5_000, zstd);
    let report = bench.ingest(&[&path]);
    assert_eq!(
        (report.num_ingested_docs, report.inputs[0].format),
        (5_000, "parquet")
    );
    assert_eq!(bench.ingest(&[&path]).num_ingested_docs, 0);
    // With another config its rows are written in another way, and still recognised.
    let text = config(&format!(
        "{NUMBERS}search_settings: {{default_search_fields: [word]}}\n"
    ));
    crate::index::publisher::update_index(&bench.store, &text, false).unwrap();
    assert_eq!(bench.ingest(&[&path]).num_ingested_docs, 0);
    // Another file in its place is another source.
    let path = bench.file("numbers.parquet", 5_001, zstd);
    assert_eq!(bench.ingest(&[&path]).num_ingested_docs, 5_001);
    assert_eq!(bench.store.describe().unwrap().num_docs, 10_001);
}

#[test]
fn a_damaged_file_is_told_and_stops_nothing() {
    let bench = Bench::new(NUMBERS);
    let good = bench.file("good", 40, Compression::GZIP(Default::default()));
    let whole = fs::read(bench.file("whole", 5_000, Compression::LZ4_RAW)).unwrap();
    let bad = bench.folder.path().join("bad");
    let cut = |len: usize| whole[..len].to_vec();
    let mut pages = whole.clone();
    for byte in &mut pages[20_000..20_400] {
        *byte ^= 0x5a;
    }
    for (bytes, num) in [
        (cut(whole.len() - 1), 0),
        (cut(whole.len() / 2), 0),
        (cut(4), 0),
        (pages, 5_000),
    ] {
        fs::write(&bad, bytes).unwrap();
        let known = bench.store.describe().unwrap().num_docs;
        let report = bench.ingest(&[&bad, &good]);
        let broken = report.inputs[0].broken_off.as_ref().unwrap();
        assert!(broken.contains("no whole Parquet file"), "{broken}");
        assert_eq!(report.rejects_by_reason["broken_off"], 1);
        assert!(report.inputs[0].num_docs <= num, "{report:?}");
        assert_eq!(report.inputs[1].num_docs, 40);
        let now = bench.store.describe().unwrap().num_docs;
        assert_eq!(now, known + report.num_ingested_docs);
    }
}

#[test]
fn an_object_is_read_by_ranges_and_a_store_that_fails_is_no_damage() {
    let bench = Bench::new(NUMBERS);
    let bytes = fs::read(bench.file("whole", 6_000, Compression::SNAPPY)).unwrap();
    let bucket = Arc::new(InMemory::new());
    let location = ObjectPath::from("logs/whole.parquet");
    let runtime = crate::blocking::runtime().unwrap();
    let meta = runtime.block_on(async {
        bucket.put(&location, bytes.into()).await?;
        bucket.head(&location).await
    });
    let meta = meta.unwrap();
    let source = |store: Arc<dyn ObjectStore>| {
        Source::object(ObjectPlace::new(store, "s3://bucket".into(), meta.clone()))
    };
    let mut num_failed = 0;
    for fail_at in 0.. {
        let bench = Bench::new(NUMBERS);
        let failing = FailingStore::new(bucket.clone(), fail_at, Failure::CrashBefore);
        let options = IngestOptions::default();
        match ingest(&bench.store, &options, vec![source(Arc::new(failing))], &()) {
            Ok(report) => {
                assert_eq!(report.num_ingested_docs, 6_000);
                assert_eq!(report.inputs[0].format, "parquet");
                // All of it is known now, and nothing is read again.
                let report =
                    ingest(&bench.store, &options, vec![source(bucket.clone())], &()).unwrap();
                assert_eq!((report.num_known_inputs, report.num_lines), (1, 0));
                break;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                assert_eq!(bench.store.describe().unwrap().num_docs, 0);
                num_failed += 1;
            }
        }
    }
    assert!(num_failed > 3, "{num_failed} requests");
}

#[test]
fn a_stream_of_parquet_is_refused_with_what_to_do() {
    let bench = Bench::new(NUMBERS);
    let bytes = fs::read(bench.file("whole", 10, Compression::SNAPPY)).unwrap();
    let source = Source::reader("a stream", Cursor::new(bytes));
    let error = ingest(&bench.store, &IngestOptions::default(), vec![source], &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        format!("{error:?}").contains("write it to a file"),
        "{error:?}"
    );
}

/// Returns the number of documents and the message of an ingest of a file.
fn ingested(path: &Path, options: &IngestOptions) -> (u64, String) {
    let folder = tempfile::tempdir().unwrap();
    let config = config("doc_mapping: {mode: dynamic}");
    let store = create_index(folder.path().join("i").to_str().unwrap(), &config).unwrap();
    let report = ingest(&store, options, vec![Source::file(path)], &()).unwrap();
    let broken_off = report.inputs[0].broken_off.clone();
    (report.num_ingested_docs, broken_off.unwrap_or_default())
}

fn one_column(name: &str, column: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([(name, column)]).unwrap()
}

fn codecs() -> [Compression; 6] {
    [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::try_new(1).unwrap()),
    ]
}

/// A few kilobytes that expand to megabytes: the header of a page says so, before it is decompressed.
#[test]
fn a_page_that_is_too_long_is_named_with_its_column_and_row_group() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    let mut texts = vec!["a".to_owned(); 1024];
    texts.push("b".repeat(3 << 20));
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    for codec in codecs() {
        write(&path, &one_column("text", texts.clone()), codec, 1024);
        let with = |max_parquet_num_bytes| IngestOptions {
            max_parquet_num_bytes,
            max_line_num_bytes: 8 << 20,
            ..IngestOptions::default()
        };
        assert_eq!(
            ingested(&path, &with(16 << 20)),
            (1025, String::new()),
            "{codec}"
        );
        let (num_docs, broken_off) = ingested(&path, &with(8 << 20));
        assert_eq!(num_docs, 1024, "{codec}: {broken_off}");
        for named in [
            "column `text` of row group 1",
            "--max-parquet-bytes",
            "up to row 1024",
        ] {
            assert!(broken_off.contains(named), "{codec}: {broken_off}");
        }
    }
}

/// The library believes a header where a codec continues to its end.
#[test]
fn a_page_that_is_longer_than_its_header_says_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lying.parquet");
    let len: u32 = 24 << 20;
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["b".repeat(len as usize)]));
    for codec in codecs() {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_dictionary_enabled(false)
            .build();
        let file = File::create(&path).unwrap();
        let batch = one_column("text", texts.clone());
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        // After the magic: type 0, then the length of the page, as zigzag varints.
        assert_eq!(bytes[4..7], [0x15, 0x00, 0x15]);
        let at = 7;
        let varint_len = bytes[at..]
            .iter()
            .position(|byte| byte & 0x80 == 0)
            .unwrap()
            + 1;
        // 300, in the same number of bytes.
        let lie: Vec<u8> = (0..varint_len)
            .map(|ord| (600_usize >> (7 * ord)) as u8 & 0x7f | u8::from(ord + 1 < varint_len) << 7)
            .collect();
        bytes[at..at + varint_len].copy_from_slice(&lie);
        fs::write(&path, bytes).unwrap();
        let options = IngestOptions {
            max_parquet_num_bytes: 1 << 20,
            ..IngestOptions::default()
        };
        let (num_docs, broken_off) = ingested(&path, &options);
        assert_eq!(num_docs, 0, "{codec}");
        assert!(!broken_off.is_empty(), "{codec}");
    }
}

/// One value of a dictionary in many rows: each row is as long as the value, and the rows are never all in memory.
#[test]
fn rows_that_share_a_long_value_are_written_a_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.parquet");
    let long = "c".repeat(300_000);
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(
        &long, 100,
    )));
    write(&path, &one_column("text", texts), Compression::SNAPPY, 1000);
    assert!(fs::metadata(&path).unwrap().len() < 100_000);
    let file = File::open(&path).unwrap();
    let mut lines = ParquetLines::open(file, &Wanted::default(), LIMITS);
    let (mut num_lines, mut part) = (0, vec![0; 1 << 16]);
    loop {
        let len = lines.read(&mut part).unwrap();
        if len == 0 {
            break;
        }
        num_lines += part[..len].iter().filter(|byte| **byte == b'\n').count();
        assert!(lines.lines.capacity() < 4 << 20);
    }
    assert_eq!(num_lines, 100);
    // A line that is too long is a reject, and detected before it is completely written.
    let options = IngestOptions {
        max_line_num_bytes: 1_000,
        ..IngestOptions::default()
    };
    assert_eq!(ingested(&path, &options), (0, String::new()));
    let limits = ParquetLimits {
        max_line_num_bytes: Some(1_000),
        ..LIMITS
    };
    let mut text = String::new();
    let file = File::open(&path).unwrap();
    ParquetLines::open(file, &Wanted::default(), limits)
        .read_to_string(&mut text)
        .unwrap();
    assert!(
        text.lines()
            .all(|line| (1_001..1_100).contains(&line.len()))
    );
}

#[test]
fn values_of_lists_count_with_their_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lists.parquet");
    let mut lists = ListBuilder::new(Int64Builder::new());
    // Hardly a byte each, because all are equal.
    lists.append_value(vec![Some(7); 1 << 18]);
    let lists: ArrayRef = Arc::new(lists.finish());
    write(&path, &one_column("list", lists), Compression::SNAPPY, 10);
    let with = |max_parquet_num_bytes| IngestOptions {
        max_parquet_num_bytes,
        max_line_num_bytes: 8 << 20,
        ..IngestOptions::default()
    };
    assert_eq!(ingested(&path, &with(64 << 20)).0, 1);
    let (num_docs, broken_off) = ingested(&path, &with(4 << 20));
    assert_eq!(num_docs, 0);
    assert!(broken_off.contains("column `list."), "{broken_off}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_it_panic(
        place in 0..20_000_usize,
        junk in prop::collection::vec(any::<u8>(), 1..40),
        len in 0..20_000_usize,
    ) {
        let bench = Bench::new(NUMBERS);
        let mut bytes = fs::read(bench.file("whole", 2_000, Compression::SNAPPY)).unwrap();
        let at = place % bytes.len();
        let end = (at + junk.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&junk[..end - at]);
        if len % 3 == 0 {
            bytes.truncate(len.max(4));
        }
        let path = bench.folder.path().join("bad");
        fs::write(&path, bytes).unwrap();
        let mut out = Vec::new();
        // Lines or an error.
        let _ = ParquetLines::open(File::open(&path).unwrap(), &Wanted::default(), LIMITS).read_to_end(&mut out);
        for line in out.split(|byte| *byte == b'\n') {
            prop_assert!(line.is_empty() || serde_json::from_slice::<Value>(line).is_ok());
        }
    }
}

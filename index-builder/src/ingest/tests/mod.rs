//! A whole ingest: counts add up, results repeat, failures change nothing.

mod renamed;

use super::*;
use crate::error::{BuildError, ErrorKind};
use crate::index::publisher::{self, NewDocuments, SourceStep, create_index};
use crate::index::storage::IndexStore;
use crate::input::source::{ObjectPlace, Source, failure_of_replaced};
use canter_doc_mapper::IndexConfig;
use canter_doc_mapper::config::OnError;
use canter_samples::{Corpus, CorpusReader, HDFS_LOGS_YAML, HTTP_LOGS_YAML, HdfsLogs, HttpLogs};
use canter_split_format::SourceProgress;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use proptest::prelude::*;
use serde_json::Value;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const STRICT: &str = "
version: 0.8
index_id: nasty
doc_mapping:
  mode: strict
  field_mappings:
    - {name: ts, type: datetime, input_formats: [unix_timestamp], fast: true}
    - {name: n, type: u64, fast: true}
    - {name: text, type: text}
  timestamp_field: ts
";

fn preset(name: &str) -> String {
    canter_formats::presets::preset(name)
        .unwrap()
        .yaml
        .to_owned()
}

fn new_index(yaml: &str) -> (TempDir, IndexStore) {
    let folder = tempfile::tempdir().unwrap();
    let config = IndexConfig::from_yaml(yaml, |_| None).unwrap();
    let uri = folder.path().join("index");
    let store = create_index(uri.to_str().unwrap(), &config).unwrap();
    (folder, store)
}

fn input(bytes: impl Into<Vec<u8>>) -> Source {
    Source::reader("input", Cursor::new(bytes.into())).with_id("input")
}

fn options(split_num_docs: u64, rejects_path: Option<PathBuf>) -> IngestOptions {
    IngestOptions {
        split_num_docs_target: Some(split_num_docs),
        max_line_num_bytes: 1_000,
        rejects_path,
        ..IngestOptions::default()
    }
}

fn run(store: &IndexStore, options: &IngestOptions, source: Source) -> IngestReport {
    ingest(store, options, vec![source], &()).unwrap()
}

fn rejects_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[track_caller]
fn check_adds_up(report: &IngestReport, num_lines: u64) {
    assert_eq!(report.num_lines, num_lines);
    let num_docs = report.num_ingested_docs + report.num_known_docs;
    let num_others = report.num_rejected_docs + report.num_blank_lines;
    assert_eq!(num_docs + num_others, num_lines);
    let in_splits: u64 = report.splits.iter().map(|split| split.num_docs).sum();
    // Known documents are not built again.
    assert_eq!(in_splits, report.num_ingested_docs);
    assert_eq!(
        report.rejects_by_reason.values().sum::<u64>(),
        report.num_rejected_docs
    );
}

#[test]
fn logs_become_splits_of_the_target_size() {
    let (_folder, store) = new_index(HDFS_LOGS_YAML);
    let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(10_500, 42)));
    let report = run(&store, &options(2_000, None), source);
    check_adds_up(&report, 10_500);
    let sizes: Vec<u64> = report.splits.iter().map(|split| split.num_docs).collect();
    assert_eq!(sizes, [2_000, 2_000, 2_000, 2_000, 2_000, 500]);
    assert_eq!(
        (report.num_rejected_docs, report.num_published_splits),
        (0, 6)
    );
    let description = store.describe().unwrap();
    assert_eq!((description.num_docs, description.num_splits), (10_500, 6));
    assert_eq!(description.num_raw_bytes, report.num_raw_bytes);
    assert_eq!(description.num_split_bytes, report.num_split_bytes);
}

#[test]
fn access_logs_are_ingested_whole() {
    let (_folder, store) = new_index(HTTP_LOGS_YAML);
    let source = Source::reader("http", CorpusReader::new(HttpLogs::new(5_000, 42)));
    let report = run(&store, &options(5_000, None), source);
    check_adds_up(&report, 5_000);
    assert_eq!(
        report.num_rejected_docs, 0,
        "{:?}",
        report.rejects_by_reason
    );
}

#[test]
fn bytes_of_input_end_a_split_too() {
    let (_folder, store) = new_index(HDFS_LOGS_YAML);
    let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(3_000, 42)));
    let options = IngestOptions {
        max_split_raw_num_bytes: 200_000,
        ..options(1_000_000, None)
    };
    let report = run(&store, &options, source);
    check_adds_up(&report, 3_000);
    assert!(report.splits.len() >= 5, "{}", report.splits.len());
    assert!(
        report
            .splits
            .iter()
            .all(|split| split.num_raw_bytes < 201_000)
    );
}

/// Stands for a line that is skipped.
const BLANK: &str = "blank";

#[test]
fn blank_lines_are_skipped_and_counted_in_every_text_format() {
    for (yaml, text, num_docs, num_blank) in [
        (
            preset("log"),
            "2024-05-01 10:00:00 INFO a\n\n2024-05-01 10:00:01 INFO b\n",
            2,
            0,
        ),
        (preset("plain"), "\n \t\none\n\r\n\ntwo\n\n", 2, 5),
        (
            preset("logfmt"),
            "time=2024-05-01T10:00:00Z a=1\n\ntime=2024-05-01T10:00:01Z a=2\n\n",
            2,
            2,
        ),
        (
            preset("syslog"),
            "May  1 10:00:00 h a: b\n\nMay  1 10:00:00 h a: b\n",
            2,
            1,
        ),
        (
            preset("access-log"),
            "1.1.1.1 - - [01/May/2024:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n\n\n",
            1,
            2,
        ),
        (STRICT.to_owned(), "\n{\"ts\":1600000001,\"n\":2}\n\n", 1, 2),
        (preset("any"), "a,b\n1,2\n\n3,4\n5,6\n", 3, 1),
    ] {
        for keep in [false, true] {
            let mut config = IndexConfig::from_yaml(&yaml, |_| None).unwrap();
            if keep {
                config.ingest_settings.on_error = OnError::Keep;
            }
            let folder = tempfile::tempdir().unwrap();
            let uri = folder.path().join("index");
            let store = create_index(uri.to_str().unwrap(), &config).unwrap();
            let options = IngestOptions {
                max_rejects: Some(0),
                ..IngestOptions::default()
            };
            let report = run(&store, &options, input(text));
            let counts = (report.num_ingested_docs, report.num_blank_lines);
            assert_eq!(counts, (num_docs, num_blank), "{text:?}");
            assert_eq!((report.num_rejected_docs, report.num_kept_docs), (0, 0));
            assert_eq!(report.num_lines, num_docs + num_blank);
        }
    }
}

#[test]
fn every_kind_of_bad_line_is_rejected_with_its_reason() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    let cases: &[(&[u8], &str)] = &[
        (b"{\"ts\":1600000001,\"n\":2}", ""),
        (b"not json", "not_json"),
        (b"{\"ts\":1600000001", "not_json"),
        (b"", BLANK),
        (b"  \t", BLANK),
        (b"[1]", "not_an_object"),
        (b"{\"n\":2}", "missing_timestamp"),
        (b"{\"ts\":\"soon\"}", "bad_timestamp"),
        (b"{\"ts\":1600000001,\"n\":\"two\"}", "wrong_type"),
        (b"{\"ts\":1600000001,\"other\":2}", "unknown_field"),
        (b"{\"ts\":1600000001,\"text\":\"\xff\xfe\"}", "invalid_utf8"),
        (&[b'x'; 1_001], "line_too_long"),
        (b"{\"ts\":1600000002,\"text\":\"last\"}", ""),
    ];
    let lines: Vec<&[u8]> = cases.iter().map(|(line, _)| *line).collect();
    let report = run(
        &store,
        &options(100, Some(rejects.clone())),
        input(lines.join(&b'\n')),
    );
    check_adds_up(&report, cases.len() as u64);
    assert_eq!((report.num_ingested_docs, report.num_blank_lines), (2, 2));
    assert_eq!(report.rejects_path.as_ref(), Some(&rejects));

    let expect = cases
        .iter()
        .zip(1_u64..)
        .filter(|((_, reason), _)| !["", BLANK].contains(reason));
    let records = rejects_of(&rejects);
    assert_eq!(records.len(), expect.clone().count());
    for (record, ((line, reason), line_num)) in records.iter().zip(expect) {
        assert_eq!(
            (&record["file"], &record["line"]),
            (&"input".into(), &line_num.into())
        );
        assert_eq!(record["reason"], *reason, "{record}");
        assert!(!record["message"].as_str().unwrap().is_empty());
        match std::str::from_utf8(line) {
            Ok(text) if line.len() <= 1_000 => assert_eq!(record["document"], text),
            Ok(text) => assert!(text.starts_with(record["document"].as_str().unwrap())),
            Err(_) => assert!(record["document_base64"].is_string()),
        }
        assert_eq!(
            record.get("document_is_shortened").is_some(),
            *reason == "line_too_long"
        );
    }
}

#[test]
fn without_rejects_there_is_no_rejects_file() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    let report = run(
        &store,
        &options(100, Some(rejects.clone())),
        input("{\"ts\":1600000001}\n"),
    );
    assert_eq!(report.rejects_path, None);
    assert!(!rejects.exists());
}

#[test]
fn rejects_are_added_to_what_the_file_holds() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    for _ in 0..2 {
        run(&store, &options(100, Some(rejects.clone())), input("bad\n"));
    }
    assert_eq!(rejects_of(&rejects).len(), 2);
}

#[test]
fn more_rejects_than_allowed_stop_the_ingest_and_publish_nothing() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    let limited = IngestOptions {
        max_rejects: Some(2),
        ..options(1, Some(rejects.clone()))
    };
    let lines = "{\"ts\":1600000001}\n{\"ts\":1600000002}\nbad\nbad\nbad\n{\"ts\":1600000003}\n";
    let error = ingest(&store, &limited, vec![input(lines)], &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let message = error.to_string();
    assert!(message.contains(rejects.to_str().unwrap()), "{message}");
    assert!(
        message.contains("not_json: 3") && message.contains("line 5"),
        "{message}"
    );
    assert_eq!(rejects_of(&rejects).len(), 3);
    assert_eq!(store.describe().unwrap().num_docs, 0);

    let exactly = IngestOptions {
        max_rejects: Some(3),
        ..limited
    };
    assert_eq!(run(&store, &exactly, input(lines)).num_ingested_docs, 3);
}

#[test]
fn a_source_that_breaks_off_is_named_and_what_stands_before_is_ingested() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder
        .write_all(&b"bad\n{\"ts\":1600000001}\n".repeat(50_000))
        .unwrap();
    let mut packed = encoder.finish().unwrap();
    packed.truncate(packed.len() / 2);
    let options = options(1_000_000, Some(rejects.clone()));
    let sources = vec![
        input("{\"ts\":1600000005}\n"),
        input(packed).with_id("packed"),
        input("{\"ts\":1600000006}\n").with_id("last"),
    ];
    let report = ingest(&store, &options, sources, &()).unwrap();
    check_adds_up(&report, report.num_lines);
    assert_eq!(report.rejects_by_reason["broken_off"], 1);
    assert!(report.num_ingested_docs > 20_000);
    let broken = &report.inputs[1].broken_off;
    assert!(broken.as_ref().unwrap().contains("not a whole gzip file"));
    assert_eq!(report.warnings[0].name, "broken_off");
    assert!(report.inputs[2].broken_off.is_none() && report.inputs[2].num_docs == 1);
    let records = rejects_of(&rejects);
    let last = records.last().unwrap();
    assert_eq!(last["reason"], "broken_off");
    let line_num = last["line"].as_u64().unwrap();
    assert!(line_num >= 2 * (records.len() as u64 - 1), "{last}");
}

#[test]
fn an_empty_input_publishes_nothing_and_is_no_error() {
    let (_folder, store) = new_index(STRICT);
    let report = run(&store, &options(10, None), input(""));
    check_adds_up(&report, 0);
    assert!(report.splits.is_empty());
}

#[test]
fn options_and_sources_that_cannot_be_used_are_found_first() {
    let (_folder, store) = new_index(STRICT);
    let check = |options: IngestOptions, sources: Vec<Source>| -> BuildError {
        let error = ingest(&store, &options, sources, &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error
    };
    check(options(0, None), vec![input("{\"ts\":1600000001}")]);
    let error = check(
        options(1, None),
        vec![input("{\"ts\":1600000001}"), Source::file("/no/file")],
    );
    assert!(error.to_string().contains("/no/file"));
    assert_eq!(store.describe().unwrap().num_docs, 0);
}

/// Returns the objects of an index by name, without the lock.
fn objects(folder: &TempDir) -> Vec<(PathBuf, Vec<u8>)> {
    let index = folder.path().join("index");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(index.join("splits"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.push(index.join(canter_split_format::MANIFEST_OBJECT));
    paths.sort();
    let name = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_path_buf();
    paths
        .iter()
        .map(|path| (name(path), std::fs::read(path).unwrap()))
        .collect()
}

#[test]
fn the_same_input_gives_the_same_bytes_whatever_the_threads() {
    let build = |num_parsers, num_indexers| {
        let (folder, store) = new_index(HDFS_LOGS_YAML);
        let options = IngestOptions {
            num_parsers,
            num_indexers,
            ..options(1_500, None)
        };
        let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(9_000, 3)));
        let source = source.with_id("hdfs 3");
        run(&store, &options, source);
        objects(&folder)
    };
    let one = build(1, 1);
    assert_eq!(one.len(), 7);
    for other in [build(1, 1), build(3, 2), build(2, 4)] {
        assert!(other == one);
    }
}

#[test]
fn the_same_input_twice_is_known_the_second_time() {
    let (folder, store) = new_index(HDFS_LOGS_YAML);
    let again = || {
        let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(3_000, 3)));
        run(&store, &options(1_000, None), source.with_id("hdfs 3"))
    };
    let report = again();
    check_adds_up(&report, 3_000);
    assert_eq!(
        (report.num_published_splits, report.num_ingested_docs),
        (3, 3_000)
    );
    let before = objects(&folder);
    let report = again();
    check_adds_up(&report, 3_000);
    // Nothing is built again.
    assert_eq!((report.num_published_splits, report.splits.len()), (0, 0));
    assert_eq!(
        (report.num_ingested_docs, report.num_known_docs),
        (0, 3_000)
    );
    assert!(objects(&folder) == before);
}

#[test]
fn ingests_at_once_lose_nothing() {
    let (_folder, store) = new_index(HDFS_LOGS_YAML);
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let store = &store;
            scope.spawn(move || {
                let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(900, seed)));
                run(store, &options(300, None), source)
            });
        }
    });
    let description = store.describe().unwrap();
    assert_eq!((description.num_docs, description.num_splits), (2_700, 9));
}

#[test]
fn progress_ends_with_what_the_report_says() {
    struct Listener(Mutex<Vec<Counters>>);
    impl Progress for Listener {
        fn update(&self, counters: &Counters) {
            self.0.lock().unwrap().push(*counters);
        }
    }
    let (folder, store) = new_index(HDFS_LOGS_YAML);
    let path = folder.path().join("hdfs.json");
    let mut file = std::fs::File::create(&path).unwrap();
    HdfsLogs::new(4_000, 1).write_to(&mut file).unwrap();
    let listener = Listener(Mutex::new(Vec::new()));
    let sources = vec![Source::file(&path)];
    let report = ingest(&store, &options(1_000, None), sources, &listener).unwrap();
    let updates = listener.0.into_inner().unwrap();
    let last = updates.last().unwrap();
    assert_eq!(last.phase, Phase::Done);
    assert_eq!(
        (last.num_lines, last.num_docs),
        (report.num_lines, report.num_ingested_docs)
    );
    assert_eq!((last.num_splits_packaged, last.num_splits_uploaded), (4, 4));
    assert_eq!(last.total_stored_bytes, Some(last.num_stored_bytes));
    assert_eq!(last.num_raw_bytes, last.num_stored_bytes);
    let phases = [Phase::Indexing, Phase::Finishing, Phase::Publishing];
    assert!(
        phases
            .iter()
            .all(|phase| updates.iter().any(|update| update.phase == *phase))
    );
}

/// Generates a line, and whether it is a document.
fn any_line() -> impl Strategy<Value = (Vec<u8>, bool)> {
    let good = (
        1_000_000_000..2_000_000_000_u32,
        any::<u32>(),
        "[a-z ]{0,40}",
    )
        .prop_map(|(ts, n, text)| {
            (
                format!("{{\"ts\":{ts},\"n\":{n},\"text\":\"{text}\"}}").into_bytes(),
                true,
            )
        });
    // Neither line breaks nor control characters, of which some in a short input make it binary data.
    let no_control = |bytes: Vec<u8>| bytes.into_iter().filter(|byte| !byte.is_ascii_control());
    prop_oneof![
        6 => good,
        1 => prop::collection::vec(any::<u8>(), 0..60)
            .prop_map(move |bytes| ([b"\xff".to_vec(), no_control(bytes).collect()].concat(), false)),
        1 => Just((b"{\"n\":1}".to_vec(), false)),
        1 => Just((b"{\"ts\":1600000001,\"n\":-1}".to_vec(), false)),
        1 => Just((Vec::new(), false)),
        1 => (1_001_usize..3_000).prop_map(|len| (vec![b'x'; len], false)),
    ]
}

fn pack(bytes: &[u8], compression: u8) -> Vec<u8> {
    match compression {
        0 => bytes.to_vec(),
        1 => {
            // Two members, cut anywhere.
            let (left, right) = bytes.split_at(bytes.len() / 3);
            let member = |bytes: &[u8]| {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            };
            [member(left), member(right)].concat()
        }
        _ => zstd::stream::encode_all(bytes, 1).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn counts_add_up_on_any_mixture_of_lines(
        lines in prop::collection::vec((any_line(), any::<bool>()), 1..120),
        has_last_newline in any::<bool>(),
        compression in 0..3_u8,
        split_num_docs in 1..50_u64,
    ) {
        let (folder, store) = new_index(STRICT);
        let rejects = folder.path().join("rejects.ndjson");
        let mut bytes = Vec::new();
        for ((line, _), is_crlf) in &lines {
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(if *is_crlf { b"\r\n" } else { b"\n" });
        }
        let last_is_empty = lines.last().is_some_and(|((line, _), _)| line.is_empty());
        if !has_last_newline && !last_is_empty {
            bytes.truncate(bytes.len() - 1);
        }
        let options = options(split_num_docs, Some(rejects.clone()));
        let report = run(&store, &options, input(pack(&bytes, compression)));
        let num_good = lines.iter().filter(|((_, is_good), _)| *is_good).count() as u64;
        check_adds_up(&report, lines.len() as u64);
        prop_assert_eq!(report.num_ingested_docs, num_good);
        prop_assert_eq!(report.num_raw_bytes, bytes.len() as u64);
        let num_records = if rejects.exists() { rejects_of(&rejects).len() as u64 } else { 0 };
        prop_assert_eq!(num_records, report.num_rejected_docs);
        prop_assert_eq!(store.describe().unwrap().num_docs, num_good);
        prop_assert!(report.splits.iter().all(|split| split.num_docs <= split_num_docs));
    }
}

#[test]
fn a_rejects_file_that_is_full_says_so_and_the_count_goes_on() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    std::fs::write(&rejects, "{}\n").unwrap();
    let max_num_bytes = 20_000;
    let options = IngestOptions {
        max_rejects_num_bytes: max_num_bytes,
        ..options(1_000, Some(rejects.clone()))
    };
    // Neither text nor logs, in lines of 500 bytes.
    let mut bytes: Vec<u8> = (0..100_000_u32).map(|n| (n * 7) as u8 | 0x80).collect();
    bytes.iter_mut().step_by(500).for_each(|byte| *byte = b'\n');
    bytes.push(b'\n');
    let lines: Vec<u8> = [b"not json".as_slice(), &bytes].concat();
    let report = run(
        &store,
        &options,
        Source::lines("image", lines).with_id("image"),
    );
    let num_lines = 201;
    check_adds_up(&report, num_lines);
    assert_eq!(report.num_rejected_docs, num_lines);
    let file_num_bytes = std::fs::metadata(&rejects).unwrap().len();
    assert!(file_num_bytes <= max_num_bytes, "{file_num_bytes}");
    let records = rejects_of(&rejects);
    let (closing, written) = records.split_last().unwrap();
    assert_eq!(closing["reason"], "rejects_file_full");
    // The first line existed before.
    let num_written = written.len() as u64 - 1;
    assert!(num_written > 10, "{num_written}");
    assert_eq!(report.num_unwritten_rejects, num_lines - num_written);
    // Another ingest finds no room, and still counts.
    let again = run(&store, &options, input(b"no json\nneither\n".as_slice()));
    assert_eq!(
        (again.num_rejected_docs, again.rejects_path),
        (2, Some(rejects.clone()))
    );
    let file_num_bytes = std::fs::metadata(&rejects).unwrap().len();
    assert!(file_num_bytes <= max_num_bytes, "{file_num_bytes}");
}

#[test]
fn what_the_rejects_file_tells_of_one_line_is_bounded() {
    let (folder, store) = new_index(STRICT);
    let rejects = folder.path().join("rejects.ndjson");
    let options = IngestOptions {
        max_line_num_bytes: 4 << 20,
        ..options(1_000, Some(rejects.clone()))
    };
    // The message names the key.
    let key = "k".repeat(1 << 20);
    let line = format!("{{\"ts\":1600000001,\"{key}\":2}}\n");
    run(&store, &options, input(line));
    let record = &rejects_of(&rejects)[0];
    assert_eq!(record["reason"], "unknown_field");
    assert_eq!(record["document"].as_str().unwrap().len(), 16 << 10);
    assert_eq!(record["document_is_shortened"], true);
    assert!(record["message"].as_str().unwrap().len() < 2_100);
}

#[test]
fn a_split_ends_before_its_terms_take_too_much_memory() {
    let (_folder, store) = new_index(HDFS_LOGS_YAML);
    let source =
        || Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(30_000, 42))).with_id("hdfs");
    // tantivy takes more before any document.
    let options = IngestOptions {
        max_segment_num_bytes: 1,
        num_indexers: 2,
        ..options(20_000, None)
    };
    let report = run(&store, &options, source());
    check_adds_up(&report, 30_000);
    let num_splits = report.splits.len();
    assert!(num_splits > 4, "{num_splits}");
    let raw_num_bytes: u64 = report.splits.iter().map(|split| split.num_raw_bytes).sum();
    assert_eq!(raw_num_bytes, report.num_raw_bytes);
    let description = store.describe().unwrap();
    assert_eq!(description.num_docs, 30_000);
    // The same documents, so all of them are known.
    let again = run(&store, &options, source());
    check_adds_up(&again, 30_000);
    assert_eq!((again.num_ingested_docs, again.num_known_docs), (0, 30_000));
}

#[test]
fn a_stack_trace_that_was_being_written_stops_no_later_ingest() {
    let config = "{version: 0.8, index_id: lines, doc_mapping: {mode: dynamic}}";
    let (_folder, store) = new_index(config);
    let before = "2024-05-01 10:00:00 INFO a\n2024-05-01 10:00:01 ERROR b\n\tat x\n";
    let after = format!("{before}\tat y\n\tat z\n2024-05-01 10:00:02 INFO c\n");
    let first = run(&store, &options(10, None), input(before));
    assert_eq!((first.num_lines, first.num_ingested_docs), (2, 2));
    // The lines that came later are a separate record.
    for num_new in [2, 0] {
        let report = run(&store, &options(10, None), input(after.clone()));
        assert_eq!(report.num_ingested_docs, num_new);
        assert_eq!(
            report.num_ingested_docs + report.num_known_docs,
            report.num_lines
        );
        assert_eq!(report.warnings, []);
    }
    // Another record in its place is another source.
    let other = after.replace("ERROR b", "ERROR c");
    let error = ingest(&store, &options(10, None), vec![input(other)], &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

/// A bucket with objects of lines.
struct Bucket(Arc<InMemory>);

impl Bucket {
    /// Writes an object; returns it as it is listed.
    fn put(&self, name: &str, text: &str) -> ObjectPlace {
        let location = name.into();
        let meta = crate::blocking::runtime().unwrap().block_on(async {
            self.0.put(&location, text.to_owned().into()).await?;
            self.0.head(&location).await
        });
        let store: Arc<dyn ObjectStore> = self.0.clone();
        ObjectPlace::new(store, "s3://bucket".into(), meta.unwrap())
    }
}

#[test]
fn a_replaced_object_costs_itself_and_no_other_input() {
    let (_folder, store) = new_index(&preset("plain"));
    let bucket = Bucket(Arc::default());
    let ingested = |places: &[&ObjectPlace]| {
        let sources = places.iter().map(|place| Source::object((*place).clone()));
        ingest(&store, &IngestOptions::default(), sources.collect(), &())
    };
    let note = |report: &IngestReport, ord: usize| {
        let note = report.inputs[ord].note.clone();
        note.unwrap_or_default()
    };
    let first = bucket.put("logs/a", "one\ntwo\n");
    assert_eq!(ingested(&[&first]).unwrap().num_ingested_docs, 2);

    // The same beginning, other content; then another beginning; each is a new source, with a note.
    for (text, beside) in [("one\nthree\n", "b"), ("four\nfive\n", "c")] {
        let (next, beside) = (bucket.put("logs/a", text), bucket.put(beside, "beside\n"));
        let report = ingested(&[&next, &beside]).unwrap();
        assert_eq!(report.num_ingested_docs, 3, "{report:?}");
        assert!(
            note(&report, 0).contains("its content differs"),
            "{report:?}"
        );
        assert_eq!(note(&report, 1), "");
        assert_eq!(ingested(&[&next, &beside]).unwrap().num_known_inputs, 2);
    }
    // A grown one goes on, without a note.
    let grown = bucket.put("logs/a", "four\nfive\nsix\n");
    let report = ingested(&[&grown]).unwrap();
    assert_eq!(
        (report.num_ingested_docs, note(&report, 0)),
        (1, String::new())
    );

    // Replaced after it was listed: the others are ingested, and it is named.
    let listed = bucket.put("logs/d", "before\n");
    let now = bucket.put("logs/d", "now\n");
    let beside = bucket.put("logs/e", "e\n");
    let report = ingested(&[&listed, &beside]).unwrap();
    assert_eq!(report.num_ingested_docs, 1);
    let warnings = &report.warnings;
    assert!(
        warnings
            .iter()
            .any(|warning| warning.message.contains("`s3://bucket/logs/d` has changed")),
        "{warnings:?}"
    );
    // Alone, it is an error; as it is now, it is read.
    let error = ingested(&[&listed]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(ingested(&[&now]).unwrap().num_ingested_docs, 1);

    // An archive, too.
    let archive = bucket.put("logs/f.tar", "before");
    bucket.put("logs/f.tar", "now");
    let error = ingested(&[&archive]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);

    // The receipt of a part names it, and counts blank lines.
    let beside = bucket.put("logs/g", "g\n\n");
    let sources = [&listed, &beside].map(|place| Source::object(place.clone()));
    let options = IngestOptions::default();
    let part = build_part(&store, &options, sources.into(), &()).unwrap();
    assert_eq!((part.num_docs(), part.num_blank_lines), (1, 1));
    let part = Receipt::from_json(&part.to_json().unwrap()).unwrap();
    assert_eq!(part.num_blank_lines, 1);
    assert!(part.warnings[0].contains("has changed"), "{part:?}");
}

/// Fails as the stream of an object does that is replaced.
struct Replaced(Option<io::Error>);

impl Read for Replaced {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[test]
fn an_object_that_is_replaced_while_it_is_read_is_not_published_in_part() {
    let (_folder, store) = new_index(&preset("plain"));
    let bucket = Bucket(Arc::default());
    let listed = bucket.put("logs/a", "before\n");
    bucket.put("logs/a", "now\n");
    let beside = || Source::lines("beside", b"{\"message\": \"beside\"}\n".to_vec());
    let text: String = (0..60_000)
        .map(|n| format!("a line with number {n}\n"))
        .collect();
    let broken = || {
        let failure = Replaced(Some(failure_of_replaced(&listed)));
        Source::reader("a", Cursor::new(text.clone()).chain(failure)).with_id("a")
    };
    let ingested = |sources| ingest(&store, &IngestOptions::default(), sources, &());

    let error = ingested(vec![broken(), beside()]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.to_string().contains("nothing was published"),
        "{error}"
    );
    assert_eq!(store.describe().unwrap().num_docs, 0);

    // If all that was read of it is known, it costs itself alone, unless no other input can be read.
    let whole = Source::reader("a", Cursor::new(text.clone())).with_id("a");
    assert_eq!(ingested(vec![whole]).unwrap().num_ingested_docs, 60_000);
    let report = ingested(vec![broken(), beside()]).unwrap();
    assert_eq!(report.num_ingested_docs, 1);
    let warning = &report.warnings[0].message;
    assert!(warning.contains("has changed"), "{warning}");
    let error = ingested(vec![broken(), Source::object(listed.clone())]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

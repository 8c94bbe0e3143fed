//! Files that are written, replaced and copied while they are ingested: each record is in the index once.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    ErrorKind, IndexStore, IngestOptions, IngestReport, Source, create_index, ingest,
};
use tempfile::TempDir;

const LINES: &str = "
version: 0.8
index_id: lines
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: message, type: text, tokenizer: raw, fast: true}
  tag_fields: [message]
";

fn new_index(config: &str) -> (TempDir, IndexStore) {
    let folder = tempfile::tempdir().unwrap();
    let config = IndexConfig::from_yaml(config, |_| None).unwrap();
    let uri = folder.path().join("index");
    let store = create_index(uri.to_str().unwrap(), &config).unwrap();
    (folder, store)
}

/// Folder with files, and an index of them.
pub(super) struct Fed {
    pub(super) folder: TempDir,
    store: IndexStore,
    is_final: bool,
}

impl Fed {
    pub(super) fn new() -> Fed {
        Fed::with(LINES)
    }

    fn with(config: &str) -> Fed {
        let (folder, store) = new_index(config);
        fs::create_dir(folder.path().join("logs")).unwrap();
        Fed {
            folder,
            store,
            is_final: false,
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(super) fn append(&self, name: &str, text: &str) {
        let path = self.path(name);
        let file = fs::File::options().create(true).append(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(super) fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.path("")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Ingests some files.
    pub(super) fn ingest(&self, names: &[&str]) -> IngestReport {
        let sources = names.iter().map(|name| Source::file(self.path(name)));
        let options = IngestOptions {
            is_final: self.is_final,
            num_parsers: 1,
            ..IngestOptions::default()
        };
        ingest(&self.store, &options, sources.collect(), &()).unwrap()
    }

    /// Ingests all files.
    pub(super) fn ingest_all(&self) -> IngestReport {
        let names = self.names();
        self.ingest(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(super) fn finish(&mut self) -> IngestReport {
        self.is_final = true;
        self.ingest_all()
    }

    /// Returns the number of occurrences of each line in the index. Requires that no two documents of a split have the
    /// same text.
    pub(super) fn lines(&self) -> BTreeMap<String, u64> {
        let manifest = self.store.load_manifest().unwrap();
        let (mut lines, mut num_docs, mut num_values) = (BTreeMap::new(), 0, 0);
        for split in &manifest.manifest.splits {
            num_docs += split.num_docs;
            let values = split.tags.get("message").into_iter().flatten();
            for value in values {
                num_values += 1;
                for line in value.split('\n') {
                    *lines.entry(line.to_owned()).or_default() += 1;
                }
            }
        }
        assert_eq!(num_docs, num_values, "{lines:?}");
        lines
    }

    pub(super) fn check(&self, expected: &[&str]) {
        let lines = self.lines();
        let found: Vec<(&str, u64)> = lines.iter().map(|(line, num)| (&line[..], *num)).collect();
        let mut expected: Vec<(&str, u64)> = expected.iter().map(|line| (*line, 1)).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

pub(super) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn note(report: &IngestReport) -> &str {
    report.inputs[0].note.as_deref().unwrap_or_default()
}

/// Formats: their names, the beginning of a file, and its last record with its ending.
const FORMATS: [(&str, &str, &str); 12] = [
    ("ndjson", "{\"message\":\"a\"}\n", "{\"message\":\"bcd\"}\n"),
    ("a number", "{\"message\":\"a\"}\n", "12345\n"),
    ("lines", "one\n", "two words\n"),
    ("carriage returns", "one\r\n", "two words\r\n"),
    ("csv", "message,size\na,1\n", "b,12345\n"),
    ("csv in quotes", "message,size\na,1\n", "\"b\nc\",2\n"),
    ("tsv", "message\tsize\na\t1\n", "b\t12345\n"),
    (
        "logfmt",
        "level=info message=a size=1\nlevel=info message=b size=2\n",
        "level=warn message=c size=12345\n",
    ),
    (
        "log",
        "2024-05-01 10:00:00 INFO a\n",
        "2024-05-01 10:00:01 ERROR b\n",
    ),
    (
        "log with a trace",
        "2024-05-01 10:00:00 INFO a\n2024-05-01 10:00:01 ERROR b\n",
        "2024-05-01 10:00:02 ERROR c\n\tat x.y(Z.java:1)\n\tat x.z(Z.java:2)\n",
    ),
    (
        "pretty json",
        "{\n \"message\": \"a\"\n}\n",
        "{\n \"message\": \"b\"\n}\n",
    ),
    ("array", "[{\"message\":\"a\"},\n", "{\"message\":\"b\"}]\n"),
];

#[test]
fn a_half_written_record_waits_in_every_format() {
    for (format, before, last) in FORMATS {
        for (config, is_packed) in [(LINES, false), (LINES, true)].into_iter().chain([(
            &*LINES.replace(
                "doc_mapping:",
                "ingest_settings: {on_error: keep}\ndoc_mapping:",
            ),
            false,
        )]) {
            let whole = [before, last].concat();
            let expected = {
                let fed = Fed::with(config);
                fed.write("all", &whole);
                let report = fed.ingest_all();
                (
                    report.num_lines,
                    report.num_ingested_docs,
                    report.num_rejected_docs,
                )
            };
            let fed = Fed::with(config);
            let mut sum = (0, 0, 0);
            // Cuts the file at several places in the last record, and ingests it at each step.
            let cuts = before.len()..=whole.len();
            let mut has_waited = false;
            for end in cuts.step_by(1 + last.len() / 7).chain([whole.len()]) {
                match is_packed {
                    true => fed.write("all", gzipped(&whole.as_bytes()[..end])),
                    false => fed.write("all", &whole[..end]),
                }
                let report = fed.ingest_all();
                has_waited |= report.inputs[0].waiting.is_some();
                assert_eq!(note(&report), "", "{format} {end}");
                sum.1 += report.num_ingested_docs;
                sum.0 = report.num_lines;
                sum.2 = report.num_rejected_docs;
            }
            assert!(has_waited, "{format}");
            // Late lines of a trace are a record of their own.
            if format != "log with a trace" {
                assert_eq!(sum, expected, "{format}");
            }
        }
    }
}

#[test]
fn what_compresses_and_ends_in_the_middle_waits() {
    let mut text = String::new();
    for number in 0..3_000 {
        text.push_str(&format!("line {number} {}\n", number * number % 7_919));
    }
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for packed in [gzipped(text.as_bytes()), zstd] {
        let fed = Fed::new();
        let mut num_docs = 0;
        for share in [0, 1, 3, 6, 9] {
            fed.write("all", &packed[..packed.len() * share / 9]);
            let report = fed.ingest_all();
            num_docs += report.num_ingested_docs;
            assert_eq!(report.num_rejected_docs, 0);
            let is_waiting = report.inputs[0].waiting.is_some();
            assert_eq!(is_waiting, (1..9).contains(&share), "{share}");
        }
        assert_eq!(num_docs, 3_000);
    }
}

#[test]
fn a_final_ingest_takes_what_waits_and_later_ones_go_on_behind_it() {
    let mut fed = Fed::new();
    fed.write("app.log", "one\ntw");
    assert_eq!(fed.ingest_all().num_ingested_docs, 1);
    assert_eq!(fed.finish().num_ingested_docs, 1);
    fed.check(&["one", "tw"]);
    fed.is_final = false;
    // The file is ingested again, first unchanged and then with more lines.
    assert_eq!(fed.ingest_all().num_ingested_docs, 0);
    fed.append("app.log", "o\nthree\n");
    let report = fed.ingest_all();
    assert_eq!(report.num_ingested_docs, 1);
    let names: Vec<&str> = report.warnings.iter().map(|warning| warning.name).collect();
    assert_eq!(names, ["late_lines"]);
    fed.append("app.log", "four\n");
    let report = fed.ingest_all();
    assert_eq!((report.num_ingested_docs, report.warnings.len()), (1, 0));
    fed.check(&["one", "tw", "three", "four"]);
}

#[test]
fn a_file_that_was_not_changed_for_long_has_no_half_of_a_line() {
    let fed = Fed::new();
    fed.write("app.log", "one\ntw");
    let report = fed.ingest_all();
    let waiting = report.inputs[0].waiting.as_deref().unwrap();
    assert!(waiting.contains("not changed for an hour"), "{waiting}");
    let file = fs::File::options().append(true).open(fed.path("app.log"));
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    file.unwrap().set_modified(an_hour_ago).unwrap();
    let report = fed.ingest_all();
    assert_eq!(
        (report.num_ingested_docs, report.inputs[0].waiting.is_none()),
        (1, true)
    );
    fed.check(&["one", "tw"]);
    assert_eq!(fed.ingest_all().num_ingested_docs, 0);
}

#[test]
fn what_belongs_to_a_record_and_comes_later_is_found_at_its_time() {
    let fed = Fed::with(
        &LINES
            .replace(
                "    - {name: message,",
                "    - {name: timestamp, type: datetime, fast: true}\n    - {name: message,",
            )
            .replace("  tag_fields", "  timestamp_field: timestamp\n  tag_fields"),
    );
    fed.write(
        "app.log",
        "2024-05-01 10:00:00 INFO a\n2024-05-01 10:00:07 ERROR b\n",
    );
    fed.ingest_all();
    fed.append("app.log", "\tat x\n\tat y\n2024-05-01 10:00:09 INFO c\n");
    assert_eq!(fed.ingest_all().num_ingested_docs, 2);
    fed.check(&["a", "b", "\tat x", "\tat y", "c"]);
    let manifest = fed.store.load_manifest().unwrap();
    let times = |split: &canter_split_format::SplitEntry| {
        let range = split.time_range.unwrap();
        (
            (range.end_ns - range.start_ns) / 1_000_000_000,
            split.num_docs,
        )
    };
    let times: Vec<_> = manifest.manifest.splits.iter().map(times).collect();
    assert_eq!(times, [(7, 2), (2, 2)]);
    assert_eq!(fed.ingest_all().num_ingested_docs, 0);
}

#[test]
fn a_replaced_file_costs_itself_and_no_other_input() {
    let fed = Fed::new();
    fed.write("a.log", "head\na\n");
    fed.write("b.log", "b\n");
    fed.ingest_all();
    // First with the same first line, and then with another one.
    fed.write("a.log", "head\nc\nd\n");
    fed.append("b.log", "e\n");
    let report = fed.ingest_all();
    assert_eq!((report.num_ingested_docs, report.num_known_docs), (4, 1));
    assert!(note(&report).contains("its content differs"), "{report:?}");
    fed.write("b.log", "f\n");
    assert_eq!(fed.ingest_all().num_ingested_docs, 1);
    // The first version is known.
    fed.write("a.log", "head\na\n");
    let report = fed.ingest_all();
    assert_eq!((report.num_ingested_docs, note(&report)), (0, ""));
    let found = fed.lines();
    assert_eq!(found["head"], 2);
    assert!(
        ["a", "b", "c", "d", "e", "f"]
            .iter()
            .all(|line| found[*line] == 1),
        "{found:?}"
    );
}

#[test]
fn a_stream_that_is_not_what_it_was_costs_itself_unless_it_is_alone() {
    let fed = Fed::new();
    let stream = |text: &str| Source::reader("stream", Cursor::new(text.to_owned())).with_id("id");
    let options = IngestOptions::default();
    ingest(&fed.store, &options, vec![stream("one\ntwo\n")], &()).unwrap();
    fed.write("a.log", "a\n");
    let sources = vec![stream("one\nthree\n"), Source::file(fed.path("a.log"))];
    let report = ingest(&fed.store, &options, sources, &()).unwrap();
    assert_eq!(report.num_ingested_docs, 1);
    assert!(note(&report).contains("ingested before"), "{report:?}");
    let alone = vec![stream("one\nthree\n")];
    let error = ingest(&fed.store, &options, alone, &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_file_that_was_shortened_waits_and_is_taken_at_the_end_or_when_it_differs() {
    let mut fed = Fed::new();
    fed.write("app.log", "head\na\nb\nc\n");
    fed.ingest_all();
    fed.write("app.log", "head\n");
    let report = fed.ingest_all();
    assert_eq!(report.num_ingested_docs, 0);
    assert!(note(&report).contains("waits"), "{report:?}");
    // The second line differs, so it is another file, long before it is as long.
    fed.append("app.log", "d\n");
    assert_eq!(fed.ingest_all().num_ingested_docs, 2);
    fed.write("app.log", "head\n");
    assert_eq!(fed.ingest_all().num_ingested_docs, 0);
    assert_eq!(fed.finish().num_ingested_docs, 1);
    assert_eq!(fed.finish().num_ingested_docs, 0);
}

#[test]
fn files_that_begin_alike_are_not_taken_for_one() {
    let header =
        "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time message\n";
    let csv = "message,size\n";
    for (beginning, record) in [
        (header, "2024-05-01 10:00:00 x\n"),
        (csv, "x,1\n"),
        ("", "Started\n"),
    ] {
        let fed = Fed::new();
        let names = [
            "a.log",
            "b.log",
            "c.log",
            "x-2024-05-01.log",
            "x-2024-05-02.log",
        ];
        // First only the common beginning, in one ingest; then different records in others.
        for name in &names[..2] {
            fed.write(name, [beginning, record].concat());
        }
        assert_eq!(fed.ingest_all().num_ingested_docs, 2, "{beginning}");
        for (number, name) in names.iter().enumerate() {
            let own = format!(
                "{}{}",
                record
                    .replace('x', &format!("y{number}"))
                    .replace("Started", &number.to_string()),
                ""
            );
            fed.write(name, [beginning, record, &own].concat());
        }
        let report = fed.ingest_all();
        assert_eq!(
            (report.num_ingested_docs, report.num_known_docs),
            (8, 2),
            "{beginning} {report:?}"
        );
        assert_eq!(fed.ingest_all().num_ingested_docs, 0);
    }
}

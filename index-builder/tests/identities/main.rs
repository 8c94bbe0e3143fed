//! Two equal lines are two documents; one source that is ingested again is not.

mod feeding;
mod rotation;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    BuildError, ErrorKind, IndexStore, IngestOptions, IngestReport, Source, create_index, ingest,
};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CONFIG: &str = "
version: 0.8
index_id: beats
doc_mapping:
  field_mappings:
    - {name: ts, type: datetime, input_formats: [unix_timestamp], fast: true}
  timestamp_field: ts
";
const LINE: &str = "{\"ts\":1600000001,\"what\":\"beat\"}\n";

struct Bench {
    folder: TempDir,
    store: IndexStore,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().expect("a folder");
        let config = IndexConfig::from_yaml(CONFIG, |_| None).expect("a config");
        let uri = folder.path().join("index");
        let store = create_index(uri.to_str().expect("UTF-8"), &config).expect("an index");
        Bench { folder, store }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn try_ingest(
        &self,
        split_num_docs: u64,
        sources: Vec<Source>,
    ) -> Result<IngestReport, BuildError> {
        let options = IngestOptions {
            split_num_docs_target: Some(split_num_docs),
            ..IngestOptions::default()
        };
        ingest(&self.store, &options, sources, &())
    }

    fn ingest(&self, split_num_docs: u64, files: &[&Path]) -> IngestReport {
        let sources = files.iter().map(|path| Source::file(*path)).collect();
        self.try_ingest(split_num_docs, sources).expect("an ingest")
    }

    fn num_docs(&self) -> u64 {
        self.store.describe().expect("a description").num_docs
    }
}

#[test]
fn ten_equal_lines_are_ten_documents_however_they_are_split() {
    for split_num_docs in [1, 3, 5, 100] {
        let bench = Bench::new();
        let path = bench.file("beats.ndjson", &LINE.repeat(10));
        let report = bench.ingest(split_num_docs, &[&path]);
        assert_eq!(report.num_ingested_docs, 10);
        assert_eq!(bench.num_docs(), 10, "{split_num_docs}");
    }
}

#[test]
fn equal_lines_of_two_files_are_all_there() {
    let together = Bench::new();
    let (one, two) = (
        together.file("one", &LINE.repeat(4)),
        together.file("two", &LINE.repeat(4)),
    );
    assert_eq!(together.ingest(4, &[&one, &two]).num_ingested_docs, 8);
    assert_eq!(together.num_docs(), 8);

    let apart = Bench::new();
    let (one, two) = (
        apart.file("one", &LINE.repeat(4)),
        apart.file("two", &LINE.repeat(4)),
    );
    assert_eq!(apart.ingest(100, &[&one]).num_ingested_docs, 4);
    assert_eq!(apart.ingest(100, &[&two]).num_ingested_docs, 4);
    assert_eq!(apart.num_docs(), 8);
}

#[test]
fn a_source_that_is_named_twice_is_refused() {
    let bench = Bench::new();
    let path = bench.file("day", LINE);
    let same = bench.folder.path().join("./index/../day");
    for sources in [
        vec![Source::file(&path), Source::file(&path)],
        vec![Source::file(&path), Source::file(&same)],
        vec![Source::stdin(), Source::stdin()],
    ] {
        let error = bench.try_ingest(10, sources).expect_err("a refusal");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("twice"), "{error}");
    }
    assert_eq!(bench.num_docs(), 0);
}

#[test]
fn readers_without_an_id_are_never_taken_for_a_repetition() {
    let bench = Bench::new();
    for num_docs in [1, 2, 3] {
        let source = Source::reader("lines", std::io::Cursor::new(LINE));
        let report = bench.try_ingest(10, vec![source]).expect("an ingest");
        assert_eq!(report.num_ingested_docs, 1);
        assert_eq!(bench.num_docs(), num_docs);
    }
}

/// Returns the numbers of ingested and of known documents.
fn counts(report: &IngestReport) -> (u64, u64) {
    (report.num_ingested_docs, report.num_known_docs)
}

#[test]
fn the_same_list_of_sources_again_is_known() {
    let bench = Bench::new();
    let (one, two) = (
        bench.file("one", &LINE.repeat(7)),
        bench.file("two", &LINE.repeat(6)),
    );
    let first = bench.ingest(5, &[&one, &two]);
    assert_eq!(counts(&first), (13, 0));
    let again = bench.ingest(5, &[&one, &two]);
    assert_eq!(counts(&again), (0, 13));
    assert_eq!((again.num_published_splits, again.splits.len()), (0, 0));
    assert_eq!((first.splits.len(), bench.num_docs()), (3, 13));
    // In other splits, in any order, and together with other sources.
    for split_num_docs in [1, 3, 100] {
        assert_eq!(
            counts(&bench.ingest(split_num_docs, &[&two, &one])),
            (0, 13)
        );
        assert_eq!(counts(&bench.ingest(split_num_docs, &[&one])), (0, 7));
    }
    let three = bench.file("three", &LINE.repeat(2));
    assert_eq!(counts(&bench.ingest(4, &[&one, &three, &two])), (2, 13));
    assert_eq!(bench.num_docs(), 15);
}

#[test]
fn of_a_file_that_grew_the_new_lines_are_taken_once() {
    let bench = Bench::new();
    let mut text = LINE.repeat(3);
    let path = bench.file("app.log", &text);
    assert_eq!(counts(&bench.ingest(10, &[&path])), (3, 0));
    for turn in 1..5 {
        text.push_str(&LINE.repeat(turn));
        let path = bench.file("app.log", &text);
        let known = bench.num_docs();
        assert_eq!(counts(&bench.ingest(2, &[&path])), (turn as u64, known));
        assert_eq!(counts(&bench.ingest(3, &[&path])), (0, known + turn as u64));
    }
    assert_eq!(bench.num_docs(), 13);

    // An incomplete line waits, and becomes a document when it is complete.
    let (begun, rest) = LINE.split_at(LINE.len() / 2);
    let path = bench.file("app.log", &format!("{text}{begun}"));
    let report = bench.ingest(10, &[&path]);
    assert_eq!((counts(&report), report.num_rejected_docs), ((0, 13), 0));
    let path = bench.file("app.log", &format!("{text}{begun}{rest}"));
    assert_eq!(counts(&bench.ingest(10, &[&path])), (1, 13));
    // A last line that lacks only its line feed becomes a document, once.
    let path = bench.file("app.log", &format!("{text}{LINE}{}", LINE.trim_end()));
    assert_eq!(counts(&bench.ingest(10, &[&path])), (1, 14));
    let path = bench.file("app.log", &format!("{text}{LINE}{LINE}"));
    assert_eq!(counts(&bench.ingest(10, &[&path])), (0, 15));
    assert_eq!(bench.num_docs(), 15);
}

#[test]
fn a_file_that_begins_as_one_that_is_known_and_is_another_is_a_new_one() {
    let bench = Bench::new();
    let path = bench.file("app.log", &LINE.repeat(4));
    assert_eq!(counts(&bench.ingest(10, &[&path])), (4, 0));
    let other = LINE.replace("beat", "other");
    for (text, num_new, said) in [
        (LINE.repeat(3), 0, "it has 3 of the 4 lines"),
        (
            format!("{LINE}{other}{}", LINE.repeat(5)),
            7,
            "its content differs",
        ),
    ] {
        let path = bench.file("app.log", &text);
        let report = bench.ingest(10, &[&path]);
        assert_eq!(counts(&report), (num_new, 0));
        let note = report.inputs[0].note.as_ref().expect("a note");
        assert!(note.contains(said), "{note}");
        assert_eq!(bench.num_docs(), 4 + num_new);
    }
    // With another id, it is another source.
    let source = Source::file(&path).with_id("after the rotation");
    assert_eq!(
        counts(&bench.try_ingest(10, vec![source]).expect("an ingest")),
        (7, 0)
    );
}

#[test]
fn after_a_crash_before_the_swap_the_same_ingest_adds_nothing_twice() {
    let bench = Bench::new();
    let path = bench.file("day", &LINE.repeat(10));
    let manifest = bench.folder.path().join("index/manifest.canter");
    let before = std::fs::read(&manifest).expect("a manifest");
    let first = bench.ingest(3, &[&path]);
    // The splits are uploaded, but no manifest names them.
    std::fs::write(&manifest, before).expect("the old manifest");
    assert_eq!(bench.num_docs(), 0);
    let again = bench.ingest(3, &[&path]);
    assert_eq!((counts(&again), bench.num_docs()), ((10, 0), 10));
    assert_eq!(again.splits, first.splits);
    let splits = bench.folder.path().join("index/splits");
    let objects = std::fs::read_dir(splits).expect("splits");
    assert_eq!(objects.count(), 4);
}

#[test]
fn a_stream_is_who_its_id_says() {
    let bench = Bench::new();
    let ingest = |id: &str| {
        let source = Source::reader("lines", std::io::Cursor::new(LINE.repeat(4))).with_id(id);
        counts(&bench.try_ingest(10, vec![source]).expect("an ingest"))
    };
    assert_eq!(ingest("monday"), (4, 0));
    assert_eq!(ingest("monday"), (0, 4));
    assert_eq!(ingest("tuesday"), (4, 0));
    assert_eq!(bench.num_docs(), 8);
    let same = || Source::reader("lines", std::io::Cursor::new(LINE)).with_id("same");
    let error = bench
        .try_ingest(10, vec![same(), same()])
        .expect_err("a refusal");
    assert!(error.to_string().contains("twice"), "{error}");
}

/// Returns the source of the first document of the only split.
fn source_of(bench: &Bench) -> String {
    let splits = std::fs::read_dir(bench.folder.path().join("index/splits")).expect("splits");
    let path = splits.map(|entry| entry.expect("an entry").path()).next();
    let bytes = std::fs::read(path.expect("a split")).expect("bytes");
    let head = canter_split_format::Head::open(&bytes).expect("a head");
    let range = head.metadata.identities.expect("identities");
    assert_eq!((range.num_sources, range.first.position), (1, 1));
    range.first.source.to_string()
}

#[test]
fn a_file_that_grew_is_the_same_source_and_one_that_was_replaced_is_not() {
    // The same path in each case, but a new index each time.
    let files = tempfile::tempdir().expect("a folder");
    let path = files.path().join("app.log");
    let source = |path: &Path, text: &str| {
        std::fs::write(path, text).expect("a file");
        let bench = Bench::new();
        bench.ingest(100, &[path]);
        source_of(&bench)
    };
    let other_line = LINE.replace("beat", "other");
    let first = source(&path, LINE);
    assert_eq!(source(&path, &LINE.repeat(3)), first);
    assert_eq!(source(&path, &format!("{LINE}{other_line}")), first);
    assert_ne!(source(&path, &format!("{other_line}{LINE}")), first);
    assert_ne!(source(&files.path().join("copy.log"), LINE), first);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_is_that_file() {
    let bench = Bench::new();
    let path = bench.file("day", LINE);
    let link = bench.folder.path().join("today");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    assert_eq!(counts(&bench.ingest(10, &[&path])), (1, 0));
    assert_eq!(counts(&bench.ingest(10, &[&link])), (0, 1));
    let both = vec![Source::file(&path), Source::file(&link)];
    assert!(bench.try_ingest(10, both).is_err());
}

//! An ingest that is interrupted anywhere and run again makes the same splits as one uninterrupted ingest.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use tempfile::TempDir;

use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::storage::IndexStore;
use crate::index::storage::failing::{FailingStore, Failure};
use crate::ingest::{IngestOptions, IngestReport, build_part, ingest, publish_receipts};
use crate::input::source::Source;
use crate::maintenance::upkeep::{GcOptions, collect_garbage};
use crate::transform::Transform;

const CONFIG: &str = "
version: 0.8
index_id: resumed
doc_mapping:
  timestamp_field: at
  field_mappings:
    - {name: at, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: n, type: u64, fast: true}
ingest_settings:
  on_error: ON_ERROR
";
const DAY_MS: u64 = 24 * 3_600_000;

fn store_on(store: Arc<dyn ObjectStore>) -> IndexStore {
    IndexStore::new(store, ObjectPath::from("index"), "memory")
}

fn new_bucket(on_error: &str) -> Arc<InMemory> {
    let bucket = Arc::new(InMemory::new());
    let yaml = CONFIG.replace("ON_ERROR", on_error);
    let config = IndexConfig::from_yaml(&yaml, |_| None).unwrap();
    store_on(bucket.clone()).create_manifest(&config).unwrap();
    bucket
}

/// Returns the lines of a file; some are invalid, and some valid ones take the time of the one before.
fn lines(file: u64, num: u64) -> String {
    let line = |n: u64| match n % 11 {
        3 => format!("{{\"n\": -{n}}}\n"),
        7 => format!("no json at all {n}\n"),
        _ => format!(
            "{{\"at\": {}, \"n\": {n}}}\n",
            1_700_000_000 + file * 50 + n
        ),
    };
    (0..num).map(line).collect()
}

/// Inputs in a folder: small ones around two with several batches of records each.
struct Inputs(TempDir, Option<Transform>);

impl Inputs {
    fn new() -> Inputs {
        let folder = tempfile::tempdir().unwrap();
        for (file, num) in [40, 9_000, 3, 1, 16_000, 250].into_iter().enumerate() {
            let name = folder.path().join(format!("{file}.ndjson"));
            fs::write(name, lines(file as u64, num)).unwrap();
        }
        Inputs(folder, None)
    }

    /// Adds a transform.
    #[cfg(feature = "vrl")]
    fn through(self, program: &str) -> Inputs {
        Inputs(
            self.0,
            Some(Transform::compile("test.vrl", program).unwrap()),
        )
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn sources(&self) -> Vec<Source> {
        let source = |file| Source::file(self.file(&format!("{file}.ndjson")));
        (0..6).map(source).collect()
    }

    fn options(&self, num_indexers: usize) -> IngestOptions {
        IngestOptions {
            split_num_docs_target: Some(1_900),
            checkpoint_raw_num_bytes: 100_000,
            rejects_path: Some(self.file("rejects")),
            num_parsers: 2,
            num_indexers,
            ingested_at_ms: DAY_MS,
            transform: self.1.clone(),
            ..IngestOptions::default()
        }
    }

    fn run(&self, store: &IndexStore, num_indexers: usize) -> Result<IngestReport, BuildError> {
        ingest(store, &self.options(num_indexers), self.sources(), &())
    }

    /// Returns each rejected record with the number of times it was written.
    fn rejects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file("rejects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn ids(report: &IngestReport) -> Vec<&str> {
    report.splits.iter().map(|split| &*split.id).collect()
}

fn objects(bucket: &InMemory, folder: &str) -> BTreeSet<String> {
    let store = store_on(Arc::new(bucket.fork()));
    let listed = crate::blocking::run(store.list(folder)).unwrap();
    listed.into_iter().map(|(name, _)| name).collect()
}

fn gc(now_ms: u64) -> GcOptions {
    GcOptions {
        now_ms,
        grace_ms: 0,
        dry_run: false,
        applies_retention: true,
    }
}

#[test]
fn wherever_an_ingest_is_interrupted_it_goes_on_to_the_same_splits() {
    // Odd steps, so that numbers of indexers and kinds of failures alternate.
    let is_full = std::env::var("CI_FULL").is_ok_and(|value| !value.is_empty());
    check_goes_on("rejects", Inputs::new(), if is_full { 1 } else { 3 });
    check_goes_on("keep", Inputs::new(), 5);
}

#[cfg(feature = "vrl")]
#[test]
fn so_does_one_with_a_transform_that_drops_refuses_and_multiplies_and_no_other_program_does() {
    const PROGRAM: &str = "kind = mod(int!(.n), 5)\n\
         if kind == 0 { abort \"a fifth\" }\n\
         if kind == 1 { . = [., .] }\n\
         if kind == 2 { %route = \"reject\" }";
    check_goes_on("rejects", Inputs::new().through(PROGRAM), 5);

    let inputs = Inputs::new().through(PROGRAM);
    let bucket = interrupted(&inputs);
    let inputs = inputs.through(".");
    let report = inputs.run(&store_on(bucket), 1).unwrap();
    assert_eq!((report.num_resumed_docs, report.num_dropped_docs), (0, 0));
}

/// Interrupts an ingest at every `step`th operation.
fn check_goes_on(on_error: &str, inputs: Inputs, step: usize) {
    let whole = inputs.run(&store_on(new_bucket(on_error)), 1).unwrap();
    let rejects = inputs.rejects();
    assert_eq!(rejects.len() as u64, whole.num_rejected_docs);
    assert_eq!(whole.num_resumed_docs, 0);
    let mut most_resumed = 0;
    for fail_at in (0..).step_by(step) {
        // Each operation takes effect or not, in turn.
        let failures = [Failure::CrashBefore, Failure::CrashAfter];
        let failure = failures[(fail_at / 2 % 2) as usize];
        fs::remove_file(inputs.file("rejects")).ok();
        let bucket = new_bucket(on_error);
        let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
        let num_indexers = 1 + (fail_at % 2) as usize;
        let first = inputs.run(&store_on(failing), num_indexers);
        let is_done = first.is_ok();
        let store = store_on(bucket.clone());
        let report = inputs.run(&store, 1).unwrap();
        let num_live = store.describe().unwrap().num_docs;
        assert_eq!(
            num_live, whole.num_ingested_docs,
            "{failure:?} at {fail_at}"
        );
        if report.num_ingested_docs > 0 {
            assert_eq!(ids(&report), ids(&whole), "{failure:?} at {fail_at}");
            let expected = IngestReport {
                num_resumed_docs: report.num_resumed_docs,
                num_manifest_bytes: report.num_manifest_bytes,
                ..whole.clone()
            };
            assert_eq!(report, expected, "{failure:?} at {fail_at}");
            // Rejects after the last checkpoint are written again, and none is missing.
            let told: BTreeSet<String> = inputs.rejects().into_iter().collect();
            assert_eq!(told, rejects.iter().cloned().collect());
        }
        most_resumed = most_resumed.max(report.num_resumed_docs);
        assert_eq!(objects(&bucket, "checkpoints"), BTreeSet::new());
        if is_done {
            break;
        }
    }
    let share = most_resumed as f64 / whole.num_ingested_docs as f64;
    // The distance of the last checkpoint depends on the timing of threads.
    assert!(share > 0.5, "{most_resumed} documents were resumed at most");
}

/// Returns a bucket with the remains of an ingest that ends before its last operation, the publication.
fn interrupted(inputs: &Inputs) -> Arc<InMemory> {
    let bucket = new_bucket("rejects");
    let failing = FailingStore::before_write(bucket.clone(), "manifest.canter");
    inputs.run(&store_on(Arc::new(failing)), 1).unwrap_err();
    bucket
}

#[test]
fn garbage_collection_keeps_what_a_checkpoint_needs_for_a_week() {
    let inputs = Inputs::new();
    let bucket = interrupted(&inputs);
    let store = store_on(bucket.clone());
    let uploaded = objects(&bucket, "splits");
    let report = collect_garbage(&store, &gc(2 * DAY_MS)).unwrap();
    assert!(report.num_checkpoints > 1, "{report:?}");
    let kept = objects(&bucket, "splits");
    assert!(
        kept.len() + 3 > uploaded.len(),
        "{} of {}",
        kept.len(),
        uploaded.len()
    );
    let resumed = inputs.run(&store, 1).unwrap();
    assert!(resumed.num_resumed_docs > 0);

    let bucket = interrupted(&inputs);
    let store = store_on(bucket.clone());
    let report = collect_garbage(&store, &gc(9 * DAY_MS)).unwrap();
    assert_eq!(report.num_checkpoints, 0);
    assert_eq!(objects(&bucket, "splits"), BTreeSet::new());
    assert_eq!(objects(&bucket, "checkpoints"), BTreeSet::new());
    let again = inputs.run(&store, 1).unwrap();
    assert_eq!((again.num_resumed_docs, ids(&again)), (0, ids(&resumed)));
}

#[test]
fn what_is_no_checkpoint_by_its_name_is_left_alone() {
    let bucket = new_bucket("rejects");
    let store = store_on(bucket.clone());
    let foreign = ["checkpoints/notes.txt", "checkpoints/more/0.json"];
    let old = format!("checkpoints/{:032x}-0.json", 7);
    for name in foreign.into_iter().chain([old.as_str()]) {
        let bytes = Bytes::from_static(b"no checkpoint");
        blocking::run(store.overwrite(name, bytes)).unwrap();
    }
    let report = collect_garbage(&store, &gc(2 * DAY_MS)).unwrap();
    assert_eq!(report.deleted, [old]);
    assert_eq!(
        report.unknown,
        ["checkpoints/more/0.json", "checkpoints/notes.txt"]
    );
    for name in foreign {
        assert!(blocking::run(store.get(name)).unwrap().is_some(), "{name}");
    }
}

#[test]
fn what_a_checkpoint_says_of_another_input_or_of_lost_splits_is_not_used() {
    let inputs = Inputs::new();
    let changed = lines(1, 9_000).replacen("\"n\": 20}", "\"n\": 21}", 1);
    let bucket = interrupted(&inputs);
    fs::write(inputs.file("1.ndjson"), changed).unwrap();
    let store = store_on(bucket.clone());
    let report = inputs.run(&store, 1).unwrap();
    assert_eq!(report.num_resumed_docs, 0);
    let fresh = inputs.run(&store_on(new_bucket("rejects")), 1).unwrap();
    assert_eq!(ids(&report), ids(&fresh));
    assert_eq!(objects(&bucket, "checkpoints"), BTreeSet::new());

    // A split in the middle is gone.
    let bucket = interrupted(&inputs);
    let lost = format!("splits/{}.split", fresh.splits[5].id);
    let store = store_on(bucket.clone());
    crate::blocking::run(store.delete_if_there(&lost)).unwrap();
    let report = inputs.run(&store, 1).unwrap();
    assert_eq!(ids(&report), ids(&fresh));
    let before: u64 = fresh.splits[..5].iter().map(|split| split.num_docs).sum();
    assert!(
        (1..=before).contains(&report.num_resumed_docs),
        "{}",
        report.num_resumed_docs
    );

    // The rejects of the first run could not be read.
    let bucket = interrupted(&inputs);
    fs::remove_file(inputs.file("rejects")).unwrap();
    let report = inputs.run(&store_on(bucket), 1).unwrap();
    assert_eq!(report.num_resumed_docs, 0);
    assert_eq!(inputs.rejects().len() as u64, report.num_rejected_docs);
}

#[test]
fn a_damaged_checkpoint_and_one_of_another_size_are_not_used() {
    let inputs = Inputs::new();
    let fresh = inputs.run(&store_on(new_bucket("rejects")), 1).unwrap();
    let bucket = interrupted(&inputs);
    let store = store_on(bucket.clone());
    for name in objects(&bucket, "checkpoints") {
        let bytes = bytes::Bytes::from_static(b"{\"version\": 1");
        crate::blocking::run(store.overwrite(&name, bytes)).unwrap();
    }
    let report = inputs.run(&store, 1).unwrap();
    assert_eq!((report.num_resumed_docs, ids(&report)), (0, ids(&fresh)));

    // Later objects of a run that wrote them more often do not fit after the first one of this run.
    let bucket = interrupted(&inputs);
    let store = store_on(bucket.clone());
    let (first, _) = crate::blocking::run(store.get("manifest.canter"))
        .unwrap()
        .unwrap();
    let seldom = IngestOptions {
        checkpoint_raw_num_bytes: 350_000,
        ..inputs.options(1)
    };
    let names = objects(&bucket, "checkpoints");
    let zeroth = names.first().unwrap().clone();
    crate::blocking::run(store.delete_if_there(&zeroth)).unwrap();
    let failing = FailingStore::new(bucket.clone(), 30, Failure::CrashBefore);
    let _ = ingest(&store_on(Arc::new(failing)), &seldom, inputs.sources(), &());
    let (last, _) = crate::blocking::run(store.get("manifest.canter"))
        .unwrap()
        .unwrap();
    assert_eq!(first, last, "it was to be interrupted");
    let report = inputs.run(&store, 1).unwrap();
    assert_eq!(ids(&report), ids(&fresh));
    assert_eq!(store.describe().unwrap().num_docs, fresh.num_ingested_docs);
}

#[test]
fn an_ingest_goes_on_only_where_it_is_the_same_one() {
    let inputs = Inputs::new();
    let bucket = interrupted(&inputs);
    let others = IngestOptions {
        split_num_docs_target: Some(2_500),
        ..inputs.options(1)
    };
    let store = store_on(bucket);
    let report = ingest(&store, &others, inputs.sources(), &()).unwrap();
    assert_eq!(report.num_resumed_docs, 0);
    assert_eq!(store.describe().unwrap().num_docs, report.num_ingested_docs);
    // Afterwards everything is known.
    let again = inputs.run(&store, 1).unwrap();
    assert_eq!((again.num_ingested_docs, again.num_resumed_docs), (0, 0));
}

#[test]
fn an_ingest_goes_on_although_new_sources_came_behind_the_others() {
    let inputs = Inputs::new();
    let bucket = interrupted(&inputs);
    let store = store_on(bucket.clone());
    fs::write(inputs.file("9.ndjson"), lines(9, 500)).unwrap();
    let more = || {
        let new = Source::file(inputs.file("9.ndjson"));
        inputs
            .sources()
            .into_iter()
            .chain([new])
            .collect::<Vec<_>>()
    };
    let report = ingest(&store, &inputs.options(1), more(), &()).unwrap();
    assert!(report.num_resumed_docs > 0);
    let fresh = store_on(new_bucket("rejects"));
    let fresh = ingest(&fresh, &inputs.options(1), more(), &()).unwrap();
    assert_eq!(ids(&report), ids(&fresh));
    assert_eq!(objects(&bucket, "checkpoints"), BTreeSet::new());

    // An object inserted between them changes what follows.
    let bucket = interrupted(&inputs);
    let between = || {
        let mut sources = more();
        sources.swap(1, 6);
        sources
    };
    let report = ingest(&store_on(bucket), &inputs.options(1), between(), &()).unwrap();
    assert_eq!(report.num_resumed_docs, 0);
    assert_eq!(report.num_ingested_docs, fresh.num_ingested_docs);
}

#[test]
fn a_stream_goes_on_where_it_has_an_id_and_leaves_nothing_where_it_has_none() {
    let text = |num| std::io::Cursor::new(lines(0, num).into_bytes());
    let inputs = Inputs::new();
    for has_id in [true, false] {
        let source = |num| {
            let source = Source::reader("stream", text(num));
            match has_id {
                true => source.with_id("stream"),
                false => source,
            }
        };
        let bucket = new_bucket("rejects");
        let options = IngestOptions {
            max_rejects: Some(5_000),
            ..inputs.options(1)
        };
        let error = ingest(
            &store_on(bucket.clone()),
            &options,
            vec![source(40_000)],
            &(),
        );
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(objects(&bucket, "checkpoints").is_empty(), !has_id);
        let store = store_on(bucket.clone());
        let report = ingest(&store, &inputs.options(1), vec![source(40_000)], &()).unwrap();
        assert_eq!(report.num_resumed_docs > 0, has_id);
        assert_eq!(report.num_lines, 40_000);
        assert_eq!(store.describe().unwrap().num_docs, report.num_ingested_docs);

        // A stream cannot be read twice: if it has changed, the next run starts over.
        if has_id {
            let bucket = new_bucket("rejects");
            let _ = ingest(
                &store_on(bucket.clone()),
                &options,
                vec![source(40_000)],
                &(),
            );
            let other = || {
                let text = lines(0, 40_000).replace("\"n\": 20}", "\"n\": 21}");
                let text = std::io::Cursor::new(text.into_bytes());
                vec![Source::reader("stream", text).with_id("stream")]
            };
            let store = store_on(bucket);
            let error = ingest(&store, &inputs.options(1), other(), &()).unwrap_err();
            assert!(error.to_string().contains("run it again"), "{error}");
            let report = ingest(&store, &inputs.options(1), other(), &()).unwrap();
            assert_eq!(report.num_resumed_docs, 0);
        }
    }
}

#[test]
fn parts_of_a_shared_build_go_on_too() {
    let inputs = Inputs::new();
    let bucket = interrupted(&inputs);
    let store = store_on(bucket.clone());
    let receipt = build_part(&store, &inputs.options(1), inputs.sources(), &()).unwrap();
    assert_eq!(objects(&bucket, "checkpoints"), BTreeSet::new());
    publish_receipts(&store, &[receipt]).unwrap();
    let again = inputs.run(&store, 1).unwrap();
    assert_eq!(again.num_ingested_docs, 0);
    assert!(Path::new(&inputs.file("rejects")).is_file());
}

//! Tests that a source is published once, and that forgetting it leaves everything else unchanged.

use std::sync::Arc;

use canter_split_format::LinesHash;
use object_store::memory::InMemory;
use object_store::path::Path;

use super::*;
use crate::error::ErrorKind;
use crate::index::publisher::tests::{config, made_up, on_the_brink, upload};
use crate::index::publisher::{NewSplit, PublishOutcome, publish};
use crate::index::storage::failing::{FailingStore, Failure};

/// Returns the first step of a simulated source.
pub(crate) fn step(source: u64, num_lines: u64) -> SourceStep {
    SourceStep {
        source: SourceId::of(&source.to_le_bytes(), b"line"),
        from: None,
        to: progress(num_lines),
        marks_whole: false,
        is_note: false,
    }
}

fn progress(num_lines: u64) -> SourceProgress {
    SourceProgress {
        num_lines,
        num_docs: num_lines,
        hash: LinesHash(num_lines),
        at_ms: num_lines,
    }
}

fn of(bucket: &Arc<InMemory>) -> IndexStore {
    IndexStore::new(bucket.clone(), Path::from("logs"), "memory")
}

fn try_publish(
    store: &IndexStore,
    ords: &[u64],
    steps: &[SourceStep],
) -> Result<PublishOutcome, BuildError> {
    let splits: Vec<NewSplit> = ords.iter().copied().map(made_up).collect();
    splits.iter().for_each(|split| upload(store, split));
    blocking::run(publish(store, None, &splits, steps))
}

#[test]
fn a_source_is_published_once_however_it_is_cut_and_taken_further_from_where_it_is() {
    let store = of(&Arc::new(InMemory::new()));
    store.create_manifest(&config()).unwrap();
    assert_eq!(
        try_publish(&store, &[1, 2], &[step(1, 14)])
            .unwrap()
            .num_published_splits,
        2
    );
    let again = try_publish(&store, &[3], &[step(1, 14)]).unwrap();
    assert_eq!((again.num_published_splits, again.num_known_splits), (0, 1));
    // A publication that began before the first one ended, with more or less input, fails with the
    // advice to try again.
    for steps in [
        vec![step(1, 20)],
        vec![step(1, 7)],
        vec![step(1, 14), step(2, 7)],
    ] {
        let error = try_publish(&store, &[4], &steps).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    let further = SourceStep {
        from: Some(progress(14)),
        ..step(1, 20)
    };
    assert_eq!(
        try_publish(&store, &[4], &[further])
            .unwrap()
            .num_published_splits,
        1
    );
    let file = store.load_manifest().unwrap();
    assert_eq!(file.manifest.splits.len(), 3);
    let mut reader = SourcesReader::default();
    let found = reader.find(&store, &file.sources, further.source);
    assert_eq!(blocking::run(found).unwrap(), Some(progress(20)));
}

#[test]
fn many_sources_stand_in_objects_and_each_is_found() {
    let bucket = Arc::new(InMemory::new());
    let store = of(&bucket);
    store.create_manifest(&config()).unwrap();
    for ord in 0..300 {
        try_publish(&store, &[ord], &[step(ord, ord + 1)]).unwrap();
    }
    let file = store.load_manifest().unwrap();
    assert!(!file.sources.objects.is_empty() && file.sources.recent.len() < 130);
    for ord in 0..300 {
        let again = try_publish(&store, &[1_000 + ord], &[step(ord, ord + 1)]).unwrap();
        assert_eq!(again.num_published_splits, 0);
    }

    // Sources from before the time are forgotten, and live splits stay known by their ids.
    assert_eq!(forget_sources(&store, 201, true).unwrap(), 200);
    assert_eq!(store.load_manifest().unwrap(), file);
    assert_eq!(forget_sources(&store, 201, false).unwrap(), 200);
    assert_eq!(forget_sources(&store, 201, false).unwrap(), 0);
    let known = try_publish(&store, &[5, 250], &[]).unwrap();
    assert_eq!(known.num_known_splits, 2);
    assert_eq!(
        try_publish(&store, &[2_000], &[step(250, 251)])
            .unwrap()
            .num_published_splits,
        0
    );
    assert_eq!(
        try_publish(&store, &[2_000], &[step(5, 6)])
            .unwrap()
            .num_published_splits,
        1
    );
    assert_eq!(store.describe().unwrap().num_splits, 301);
}

#[test]
fn a_crash_while_sources_are_forgotten_leaves_all_or_none_of_them() {
    for failure in [
        Failure::CrashBefore,
        Failure::CrashAfter,
        Failure::LostAnswer,
    ] {
        let start = Arc::new(on_the_brink());
        try_publish(&of(&start), &[98], &[step(1, 10), step(2, 20)]).unwrap();
        for fail_at in 0.. {
            let bucket = Arc::new(start.fork());
            let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
            let store = IndexStore::new(failing.clone(), Path::from("logs"), "memory");
            let told = forget_sources(&store, 15, false);
            let working = of(&bucket);
            assert_eq!(working.describe().unwrap().num_splits, 129);
            let num_left = forget_sources(&working, 15, true).unwrap();
            assert!(told.is_err() || num_left == 0);
            if failing.num_ops() <= fail_at {
                assert!(
                    told.unwrap() == 1 && fail_at > 6,
                    "only {fail_at} operations"
                );
                break;
            }
            assert_eq!(forget_sources(&working, 15, false).unwrap(), num_left);
            assert_eq!(forget_sources(&working, 99, true).unwrap(), 1);
        }
    }
}

#[test]
fn many_objects_are_looked_up_in_few_requests_and_a_version_without_documents_is_known() {
    let bucket = Arc::new(InMemory::new());
    let store = of(&bucket);
    store.create_manifest(&config()).unwrap();
    let mark = |source: u64| SourceStep {
        marks_whole: true,
        is_note: false,
        ..step(source, 1)
    };
    let marks: Vec<SourceStep> = (0..10_000).map(mark).collect();
    try_publish(&store, &[], &marks).unwrap();
    let file = store.load_manifest().unwrap();
    assert_eq!(
        (file.sources.objects.len(), file.sources.recent.len()),
        (3, 0)
    );
    let mut reader = SourcesReader::default();
    let ids = marks.iter().step_by(2).map(|mark| mark.source.to_u128());
    let ids: BTreeSet<u128> = ids.chain([7]).collect();
    let known = blocking::run(reader.known(&store, &file.sources, &ids)).unwrap();
    assert_eq!(known.len(), ids.len() - 1);
    assert_eq!(reader.read.len(), 3);
    // Works without the store, because nothing is read twice.
    let empty = of(&Arc::new(InMemory::new()));
    let again = blocking::run(reader.known(&empty, &file.sources, &ids)).unwrap();
    assert_eq!(again, known);
}

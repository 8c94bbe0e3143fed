//! Tests that garbage collection only removes garbage, and that verification finds damage.

use std::io::Cursor;
use std::sync::Arc;

use bytes::Bytes;
use canter_split_format::{ManifestFile, ObjectKind};
use object_store::memory::InMemory;
use object_store::path::Path;

use super::*;
use crate::blocking;
use crate::error::ErrorKind;
use crate::index::publisher::NewSplit;
use crate::index::publisher::tests::{config, made_up, upload};
use crate::index::storage::IndexStore;
use crate::index::storage::failing::{FailingStore, Failure};
use crate::ingest::{IngestOptions, ingest};
use crate::input::source::Source;

fn store_on(bucket: &Arc<InMemory>) -> IndexStore {
    IndexStore::new(bucket.clone(), Path::from("logs"), "memory")
}

fn new_index() -> (Arc<InMemory>, IndexStore) {
    let bucket = Arc::new(InMemory::new());
    let store = store_on(&bucket);
    store.create_manifest(&config()).unwrap();
    (bucket, store)
}

fn at(now_ms: u64) -> GcOptions {
    GcOptions {
        now_ms,
        grace_ms: 1_000,
        dry_run: false,
        applies_retention: true,
    }
}

fn objects(store: &IndexStore) -> Vec<String> {
    let lists = ObjectKind::ALL.map(|kind| blocking::run(store.list(kind.folder())).unwrap());
    lists.concat().into_iter().map(|(name, _)| name).collect()
}

fn manifest(store: &IndexStore) -> ManifestFile {
    store.load_manifest().unwrap()
}

/// Returns an index with pages, some of which have no references any more, and two splits that were
/// never published.
fn index_with_garbage() -> (Arc<InMemory>, IndexStore) {
    let (bucket, store) = new_index();
    let splits: Vec<NewSplit> = (0..200).map(made_up).collect();
    for some in splits.chunks(7) {
        some.iter().for_each(|split| upload(&store, split));
        store.publish(some).unwrap();
    }
    for orphan in [900, 901] {
        upload(&store, &made_up(orphan));
    }
    (bucket, store)
}

fn missing(store: &IndexStore) -> Vec<String> {
    let there = objects(store);
    let file = manifest(store);
    let references = blocking::run(references::References::of(store, &file)).unwrap();
    let names = references.objects.into_iter().map(|name| name.object());
    names.filter(|name| !there.contains(name)).collect()
}

#[test]
fn garbage_is_condemned_and_deleted_after_the_grace_period() {
    let (_, store) = index_with_garbage();
    let all = objects(&store);
    let foreign = "splits/notes.txt";
    blocking::run(store.create(foreign, Bytes::from_static(b"mine"))).unwrap();

    let dry = GcOptions {
        dry_run: true,
        ..at(5_000)
    };
    let planned = collect_garbage(&store, &dry).unwrap();
    assert!(manifest(&store).condemned.is_empty());
    let first = collect_garbage(&store, &at(5_000)).unwrap();
    assert_eq!(first, planned);
    assert!(
        first.condemned.len() > 4 && first.deleted.is_empty(),
        "{first:?}"
    );
    assert_eq!(first.unknown, [foreign]);
    assert_eq!(manifest(&store).condemned.len(), first.condemned.len());
    // This is later, but not late enough: the objects stay condemned since the first collection.
    let second = collect_garbage(&store, &at(5_900)).unwrap();
    assert_eq!(second.condemned, first.condemned);

    let third = collect_garbage(&store, &at(6_000)).unwrap();
    assert_eq!(third.deleted, first.condemned);
    assert_eq!(third.num_deleted_bytes, first.num_condemned_bytes);
    assert!(manifest(&store).condemned.is_empty());
    assert_eq!(missing(&store), [""; 0]);
    assert_eq!(objects(&store).len(), all.len() + 1 - first.condemned.len());
    let fourth = collect_garbage(&store, &at(9_000)).unwrap();
    assert_eq!((fourth.deleted.len(), fourth.condemned.len()), (0, 0));
    assert_eq!(store.describe().unwrap().num_splits, 200);
}

#[test]
fn what_is_needed_again_is_spared() {
    let (_, store) = index_with_garbage();
    collect_garbage(&store, &at(5_000)).unwrap();
    let rescued = made_up(900);
    store.publish(std::slice::from_ref(&rescued)).unwrap();
    let report = collect_garbage(&store, &at(9_000)).unwrap();
    let object = canter_split_format::split_object(&rescued.entry.id);
    assert!(!report.deleted.contains(&object));
    assert_eq!(missing(&store), [""; 0]);
    assert_eq!(store.describe().unwrap().num_splits, 201);
    // The other one is gone and must be uploaded again.
    let gone = made_up(901);
    let error = store.publish(std::slice::from_ref(&gone)).unwrap_err();
    assert!(error.to_string().contains("is not there"), "{error}");
    upload(&store, &gone);
    store.publish(&[gone]).unwrap();
}

#[test]
fn a_crash_of_a_collection_is_made_good_by_the_next() {
    for failure in [
        Failure::CrashBefore,
        Failure::CrashAfter,
        Failure::LostAnswer,
    ] {
        let (start, store) = index_with_garbage();
        let num_garbage = collect_garbage(&store, &at(5_000)).unwrap().condemned.len();
        let num_objects = objects(&store).len();
        let start = start.fork();
        for fail_at in 0.. {
            let bucket = Arc::new(start.fork());
            let working = store_on(&bucket);
            let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
            let store = IndexStore::new(failing.clone(), Path::from("logs"), "memory");
            let collected = collect_garbage(&store, &at(6_000));
            assert_eq!(missing(&working), [""; 0], "after {fail_at} operations");
            if failing.num_ops() <= fail_at {
                assert_eq!(collected.unwrap().deleted.len(), num_garbage);
                assert!(fail_at >= 8, "only {fail_at} operations were tried");
                break;
            }
            // Objects that the collection was about to delete cannot be published until it is over.
            let orphan = made_up(900);
            if let Err(error) = working.publish(std::slice::from_ref(&orphan)) {
                let message = error.to_string();
                assert!(
                    message.contains("garbage collection") || message.contains("is not there"),
                    "{message}"
                );
            } else {
                assert!(working.describe().unwrap().num_splits == 201);
            }
            collect_garbage(&working, &at(7_000)).unwrap();
            collect_garbage(&working, &at(9_000)).unwrap();
            assert_eq!(missing(&working), [""; 0]);
            assert!(manifest(&working).condemned.is_empty());
            assert!(objects(&working).len() <= num_objects - num_garbage + 2);
            upload(&working, &orphan);
            working.publish(&[orphan]).unwrap();
        }
    }
}

fn ingested() -> IndexStore {
    let (_, store) = new_index();
    let line = |second: u64| {
        format!(
            "{{\"timestamp\": {second}, \"body\": \"line {second}\", \"tenant_id\": {second}}}\n"
        )
    };
    let text: String = (1_460_530_013..).take(3_000).map(line).collect();
    let options = IngestOptions {
        split_num_docs_target: Some(40),
        ..IngestOptions::default()
    };
    let source = Source::reader("lines", Cursor::new(text.into_bytes()));
    ingest(&store, &options, vec![source], &()).unwrap();
    store
}

fn overwrite(store: &IndexStore, name: &str, change: impl Fn(&mut Vec<u8>)) {
    let (bytes, _) = blocking::run(store.get(name)).unwrap().unwrap();
    let mut bytes = bytes.to_vec();
    change(&mut bytes);
    blocking::run(store.delete_if_there(name)).unwrap();
    blocking::run(store.create(name, Bytes::from(bytes))).unwrap();
}

#[test]
fn splits_older_than_the_retention_leave_the_index_and_stay_known() {
    let bucket = Arc::new(InMemory::new());
    let store = store_on(&bucket);
    let yaml = format!(
        "{}\nretention:\n  period: 1 hour\n",
        canter_samples::HDFS_LOGS_YAML
    );
    let config = canter_doc_mapper::IndexConfig::from_yaml(&yaml, |_| None).unwrap();
    store.create_manifest(&config).unwrap();
    let splits: Vec<NewSplit> = (0..80).map(made_up).collect();
    splits.iter().for_each(|split| upload(&store, split));
    store.publish(&splits).unwrap();
    // Split 30 ends at 30,999 ns after 1970. An hour and a millisecond later, all of its documents
    // are older than an hour.
    let hour_ms = 3_600_000;
    let nothing = collect_garbage(&store, &at(hour_ms)).unwrap();
    assert_eq!(nothing.expired_splits.len(), 0);
    let late = at(hour_ms + 1);
    let planned = GcOptions {
        dry_run: true,
        ..late
    };
    assert_eq!(
        collect_garbage(&store, &planned)
            .unwrap()
            .expired_splits
            .len(),
        80
    );
    let kept = GcOptions {
        applies_retention: false,
        ..late
    };
    assert_eq!(
        collect_garbage(&store, &kept).unwrap().expired_splits.len(),
        0
    );
    let report = collect_garbage(&store, &late).unwrap();
    assert_eq!(
        (report.expired_splits.len(), report.num_expired_docs),
        (80, 560)
    );
    assert_eq!(store.describe().unwrap().num_splits, 0);
    assert_eq!(missing(&store), [""; 0]);
    // A repeated ingest of an old part restores nothing.
    assert_eq!(store.publish(&splits[..3]).unwrap().num_known_splits, 3);
    let garbage = collect_garbage(&store, &at(hour_ms + 5_000)).unwrap();
    assert!(garbage.deleted.len() >= 80);
}

#[test]
fn a_sound_index_has_no_problems_and_a_damaged_one_has() {
    let store = ingested();
    let whole = VerifyOptions::default();
    let report = verify_index(&store, &whole).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!((report.num_splits, report.num_docs), (75, 3_000));
    let quick = verify_index(&store, &VerifyOptions { quick: true }).unwrap();
    assert!(quick.problems.is_empty() && quick.num_bytes < report.num_bytes);

    let mut splits = store.describe().unwrap().splits.into_iter();
    let mut next = || canter_split_format::split_object(&splits.next().unwrap().id);
    let (gone, short, head, body) = (next(), next(), next(), next());
    blocking::run(store.delete_if_there(&gone)).unwrap();
    overwrite(&store, &short, |bytes| bytes.truncate(bytes.len() - 1));
    overwrite(&store, &head, |bytes| bytes[100] ^= 1);
    overwrite(&store, &body, |bytes| *bytes.last_mut().unwrap() ^= 1);
    let report = verify_index(&store, &whole).unwrap();
    let told = |object: &str| {
        let found = report
            .problems
            .iter()
            .find(|problem| problem.object == object);
        found.map(|found| found.problem.clone()).unwrap_or_default()
    };
    assert_eq!(report.problems.len(), 4, "{:?}", report.problems);
    assert!(told(&gone).contains("not there"));
    assert!(told(&short).contains("bytes instead of"));
    assert!(told(&head).contains("head is not the one"));
    assert!(told(&body).contains("are damaged"));
    let quick = verify_index(&store, &VerifyOptions { quick: true }).unwrap();
    assert_eq!(quick.problems.len(), 3);
}

#[test]
fn without_its_pages_nobody_can_say_what_is_garbage() {
    let store = ingested();
    let page = manifest(&store).pages.remove(0);
    let (page, start) = (page.object(), page.entries.start as usize);
    overwrite(&store, &page, |bytes| bytes[start] ^= 1);
    for error in [
        collect_garbage(&store, &at(0)).unwrap_err(),
        verify_index(&store, &VerifyOptions::default()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(&page), "{error}");
    }
}

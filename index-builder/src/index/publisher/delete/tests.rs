//! Tests that deletions are atomic under failures and concurrent writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_split_format::{
    DeletedDocs, DeletesRef, ListedSplit, ObjectKind, ObjectName, Sentence, SplitEntry,
};
use object_store::memory::InMemory;
use object_store::path::Path;

use super::super::publish::NewSplit;
use super::super::tests::{config, made_up, on_the_brink, upload};
use super::*;
use crate::blocking;
use crate::error::ErrorKind;
use crate::index::storage::failing::{FailingStore, Failure};

fn open(bucket: &Arc<InMemory>) -> IndexStore {
    IndexStore::new(bucket.clone(), Path::from("logs"), "memory")
}

/// Returns a store with splits of seven documents each, in pages and in the manifest.
fn paged() -> Arc<InMemory> {
    let bucket = Arc::new(on_the_brink());
    let split = made_up(99);
    upload(&open(&bucket), &split);
    open(&bucket).publish(&[split]).unwrap();
    assert!(!open(&bucket).load_manifest().unwrap().pages.is_empty());
    bucket
}

fn listed(entry: &SplitEntry, docs: &[u32]) -> ListedSplit {
    ListedSplit::new(entry, &DeletedDocs::of_sorted(docs.iter().copied()))
}

/// Returns the deleted documents of each split that has any.
fn deleted(store: &IndexStore) -> BTreeMap<String, Vec<u32>> {
    let splits = store.describe().unwrap().splits.into_iter();
    let read = splits.filter_map(|split| {
        let deletes = split.deletes?;
        // Reads the object, which must exist although the entry has the same data.
        let deletes = DeletesRef {
            inlined: None,
            ..deletes
        };
        let docs = blocking::run(read_deletes(store, &deletes, 7)).unwrap();
        Some((split.id, docs.ranges().iter().cloned().flatten().collect()))
    });
    read.collect()
}

fn run(store: &IndexStore, listed: &[ListedSplit]) -> Result<Option<Deleted>, BuildError> {
    blocking::run(delete(store, listed))
}

/// Returns documents of three splits: one in a page, one in the manifest, and one in a page that
/// has no documents left afterwards.
fn of_three(store: &IndexStore) -> Vec<ListedSplit> {
    let entry = |ord| made_up(ord).entry;
    let file = store.load_manifest().unwrap();
    let newest: Vec<&str> = file
        .manifest
        .splits
        .iter()
        .map(|split| split.id.as_str())
        .collect();
    assert!(newest.contains(&entry(99).id.as_str()) && !newest.contains(&entry(105).id.as_str()));
    vec![
        listed(&entry(105), &[0, 3]),
        listed(&entry(99), &[6]),
        listed(&entry(110), &[0, 1, 2, 3, 4, 5, 6]),
    ]
}

#[test]
fn deletes_are_united_in_the_manifest_and_in_pages() {
    let bucket = paged();
    let store = open(&bucket);
    let num_splits = store.load_manifest().unwrap().num_splits();
    let done = run(&store, &of_three(&store)).unwrap().unwrap();
    assert_eq!(
        (done.num_docs, done.num_splits, done.num_emptied_splits),
        (10, 3, 1)
    );
    let id = |ord| made_up(ord).entry.id;
    assert_eq!(
        deleted(&store),
        [(id(99), vec![6]), (id(105), vec![0, 3])].into()
    );
    let file = store.load_manifest().unwrap();
    assert_eq!(file.num_splits(), num_splits - 1);
    assert_eq!(file.num_docs(), num_splits * 7 - 10);

    let more = [
        listed(&made_up(105).entry, &[3, 4]),
        listed(&made_up(1).entry, &[2]),
    ];
    let done = run(&store, &more).unwrap().unwrap();
    assert_eq!((done.num_docs, done.num_splits), (2, 2));
    assert_eq!(deleted(&store)[&id(105)], [0, 3, 4]);
    // A repetition has nothing left to do.
    assert_eq!(run(&store, &more).unwrap(), Some(Deleted::default()));

    // Emptied splits stay known, those in pages as well as those in the manifest.
    let rest = listed(&made_up(1).entry, &[0, 1, 3, 4, 5, 6]);
    run(&store, &[rest]).unwrap().unwrap();
    assert!(!deleted(&store).contains_key(&id(1)));
    assert_eq!(store.publish(&[made_up(1)]).unwrap().num_known_splits, 1);
    let rest = listed(&made_up(99).entry, &[0, 1, 2, 3, 4, 5]);
    run(&store, &[rest]).unwrap().unwrap();
    assert!(!deleted(&store).contains_key(&id(99)));
    assert_eq!(store.publish(&[made_up(99)]).unwrap().num_known_splits, 1);
}

#[test]
fn nothing_is_deleted_if_a_split_is_gone() {
    let bucket = paged();
    let store = open(&bucket);
    let mut listed = of_three(&store);
    listed.push(ListedSplit {
        split_id: "0".repeat(31) + "f",
        ..listed[0].clone()
    });
    assert_eq!(run(&store, &listed).unwrap(), None);
    assert_eq!(deleted(&store), BTreeMap::new());
}

#[test]
fn a_crash_at_any_operation_deletes_all_or_nothing() {
    let start = paged();
    for failure in [
        Failure::CrashBefore,
        Failure::CrashAfter,
        Failure::LostAnswer,
    ] {
        for fail_at in 0.. {
            let bucket = Arc::new(start.fork());
            let working = open(&bucket);
            let wanted = of_three(&working);
            let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
            let store = IndexStore::new(failing.clone(), Path::from("logs"), "memory");
            let done = run(&store, &wanted);
            let found = deleted(&working);
            assert!(
                found.is_empty() || found.len() == 2,
                "half of it is deleted"
            );
            assert!(
                done.is_err() || found.len() == 2,
                "deleted, but not in the index"
            );
            let num_splits = working.load_manifest().unwrap().num_splits();
            assert_eq!(num_splits, if found.is_empty() { 129 } else { 128 });
            assert_eq!(working.describe().unwrap().num_splits, num_splits);
            // A repetition succeeds, with a new list if a split is gone.
            let again = run(&working, &wanted).unwrap();
            assert_eq!(again.is_none(), !found.is_empty());
            run(&working, &wanted[..2]).unwrap().unwrap();
            assert_eq!(deleted(&working).len(), 2);
            if failing.num_ops() <= fail_at {
                assert!(done.is_ok());
                assert!(fail_at >= 10, "only {fail_at} operations were tried");
                break;
            }
        }
    }
}

#[test]
fn writers_at_once_lose_no_delete_and_no_split() {
    let bucket = paged();
    let before = open(&bucket).load_manifest().unwrap().num_splits();
    std::thread::scope(|scope| {
        for doc in 0..3 {
            let bucket = &bucket;
            scope.spawn(move || {
                for ord in [100, 205, 310, 99] {
                    let wanted = [listed(&made_up(ord).entry, &[doc, doc + 1])];
                    run(&open(bucket), &wanted).unwrap().unwrap();
                }
            });
        }
        scope.spawn(|| {
            for ord in 1_000..1_010 {
                let split = made_up(ord);
                upload(&open(&bucket), &split);
                open(&bucket).publish(&[split]).unwrap();
            }
        });
    });
    let store = open(&bucket);
    assert_eq!(store.load_manifest().unwrap().num_splits(), before + 10);
    let found = deleted(&store);
    assert_eq!(found.len(), 4);
    assert!(
        found.values().all(|docs| docs[..] == [0, 1, 2, 3]),
        "{found:?}"
    );
}

#[test]
fn what_was_condemned_is_spared_when_it_is_deleted_by_again() {
    let bucket = paged();
    let store = open(&bucket);
    let wanted = listed(&made_up(105).entry, &[0, 3]);
    let (reference, bytes) = wanted.docs().unwrap().write();
    let object = reference.object();
    let name = ObjectName::new(ObjectKind::Deletes, &reference.id);
    blocking::run(store.put_immutable(&object, bytes.into())).unwrap();
    let condemn = |sentence| {
        let loaded = blocking::run(load(&store)).unwrap();
        let mut file = loaded.file;
        file.condemned.insert(name.clone(), sentence);
        let bytes = manifest_bytes(&file).unwrap();
        blocking::run(store.replace(MANIFEST_OBJECT, bytes, &loaded.version)).unwrap();
    };
    condemn(Sentence::Doomed);
    let error = run(&store, std::slice::from_ref(&wanted)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    condemn(Sentence::Condemned { at_ms: 7 });
    run(&store, &[wanted]).unwrap().unwrap();
    assert!(store.load_manifest().unwrap().condemned.is_empty());
}

#[test]
fn damage_of_what_is_deleted_already_is_named() {
    let bucket = Arc::new(InMemory::new());
    let store = open(&bucket);
    store.create_manifest(&config()).unwrap();
    let mut split = made_up(1);
    split.entry.num_docs = 100_000;
    upload(&store, &split);
    store.publish(&[NewSplit { ..split.clone() }]).unwrap();
    let many: Vec<u32> = (0..50_000).map(|doc| doc * 2).collect();
    run(&store, &[listed(&split.entry, &many)])
        .unwrap()
        .unwrap();
    let splits = store.describe().unwrap().splits;
    let object = splits[0].deletes.clone().unwrap().object();
    blocking::run(store.delete(&object)).unwrap();
    let error = run(&store, &[listed(&split.entry, &[1])]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains(&object), "{error}");
}

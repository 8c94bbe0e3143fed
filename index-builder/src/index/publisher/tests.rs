//! Tests that a manifest only refers to existing objects, and that no writer loses splits.

use super::*;
use crate::blocking;
use crate::error::ErrorKind;
use crate::index::storage::IndexStore;
use crate::index::storage::failing::{FailingStore, Failure};
use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_split_format::{ManifestFile, SplitEntry, TimeRange, split_object};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn config() -> IndexConfig {
    IndexConfig::from_yaml(canter_samples::HDFS_LOGS_YAML, |_| None).unwrap()
}

/// Returns the config of the tests with an additional field and other settings.
pub(crate) fn grown(name: &str) -> IndexConfig {
    let mut json = serde_json::to_value(config()).unwrap();
    let fields = json.pointer_mut("/doc_mapping/field_mappings").unwrap();
    let field = serde_json::json!({ "name": name, "type": "u64", "fast": true });
    fields.as_array_mut().unwrap().insert(0, field);
    json["search_settings"]["default_search_fields"] = serde_json::json!(["body", name]);
    IndexConfig::from_json(json.to_string().as_bytes()).unwrap()
}

/// Returns a simulated split: the length of its object matches the manifest, its content does not.
pub(crate) fn made_up(ord: u64) -> NewSplit {
    let time = i64::try_from(ord).unwrap() * 1_000;
    NewSplit {
        entry: SplitEntry {
            id: format!("{ord:032x}"),
            len: 100,
            head_len: 10,
            head_checksum: ord,
            head_offset: None,
            num_docs: 7,
            raw_num_bytes: 900,
            time_range: Some(TimeRange {
                start_ns: time,
                end_ns: time + 999,
            }),
            tags: BTreeMap::new(),
            num_merge_ops: 0,
            deletes: None,
        },
        head: vec![ord as u8; 10],
        num_columns_outside_head: 0,
    }
}

pub(crate) fn upload(store: &IndexStore, split: &NewSplit) {
    let bytes = Bytes::from(vec![0; 100]);
    blocking::run(store.put_immutable(&split_object(&split.entry.id), bytes)).unwrap();
}

/// Returns the ids of all live splits, including those in pages.
fn live_ids(store: &IndexStore) -> Vec<String> {
    let splits = store.describe().unwrap().splits;
    splits.into_iter().map(|split| split.id).collect()
}

fn ids(manifest: &ManifestFile) -> Vec<String> {
    manifest
        .manifest
        .splits
        .iter()
        .map(|split| split.id.clone())
        .collect()
}

fn in_memory() -> IndexStore {
    let store = IndexStore::new(Arc::new(InMemory::new()), Path::from("logs"), "memory");
    store.create_manifest(&config()).unwrap();
    store
}

#[test]
fn an_index_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().join("index").to_str().unwrap().to_string();
    let store = create_index(&uri, &config()).unwrap();
    assert_eq!(store.load_config().unwrap(), config());
    let error = create_index(&uri, &config()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.to_string().contains("there is an index at"),
        "{error}"
    );
    let error = IndexStore::open(folder.path().to_str().unwrap())
        .unwrap()
        .load_manifest();
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("canter index create")
    );
}

#[test]
fn a_damaged_manifest_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &config()).unwrap();
    let path = folder.path().join(canter_split_format::MANIFEST_OBJECT);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    upload(&store, &made_up(1));
    let error = store.publish(&[made_up(1)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn publishing_is_all_or_nothing_and_can_be_repeated() {
    let store = in_memory();
    let splits: Vec<NewSplit> = (0..3).map(made_up).collect();
    splits.iter().for_each(|split| upload(&store, split));
    let outcome = store.publish(&splits).unwrap();
    assert_eq!(
        (outcome.num_published_splits, outcome.num_known_splits),
        (3, 0)
    );
    let before = store.load_manifest().unwrap();
    assert_eq!(ids(&before).len(), 3);
    assert_eq!(
        before.head(&splits[1].entry.id),
        Some(splits[1].head.as_slice())
    );

    let outcome = store.publish(&splits).unwrap();
    assert_eq!(
        (outcome.num_published_splits, outcome.num_known_splits),
        (0, 3)
    );
    assert_eq!(store.load_manifest().unwrap(), before);
}

#[test]
fn a_split_whose_object_is_not_there_is_not_published() {
    let store = in_memory();
    upload(&store, &made_up(0));
    let error = store.publish(&[made_up(0), made_up(1)]).unwrap_err();
    assert!(error.to_string().contains("is not there"), "{error}");
    let mut longer = made_up(0);
    longer.entry.len = 101;
    let error = store.publish(&[longer]).unwrap_err();
    assert!(error.to_string().contains("has 100"), "{error}");
    assert!(ids(&store.load_manifest().unwrap()).is_empty());
}

#[test]
fn splits_of_another_config_are_not_published() {
    let store = in_memory();
    upload(&store, &made_up(0));
    let other = IndexConfig {
        index_id: "other".to_string(),
        ..config()
    };
    let error = blocking::run(publish(&store, Some(&other), &[made_up(0)], &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(ids(&store.load_manifest().unwrap()).is_empty());
}

/// Runs several publishers, each of which publishes its own splits one by one.
fn nobody_loses(store: &IndexStore, num_publishers: u64, splits_each: u64) {
    std::thread::scope(|scope| {
        for publisher in 0..num_publishers {
            scope.spawn(move || {
                for ord in 0..splits_each {
                    let split = made_up(publisher * 1_000 + ord);
                    upload(store, &split);
                    store.publish(&[split]).unwrap();
                }
            });
        }
    });
    let description = store.describe().unwrap();
    assert_eq!(description.num_splits, num_publishers * splits_each);
    assert_eq!(description.num_docs, num_publishers * splits_each * 7);
}

#[test]
fn publishers_at_once_lose_nothing_in_a_bucket() {
    nobody_loses(&in_memory(), 4, 40);
}

#[test]
fn publishers_at_once_lose_nothing_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &config()).unwrap();
    nobody_loses(&store, 3, 10);
}

/// Uploads and publishes through a store in which one operation after another fails, and checks the
/// index through a working store.
fn survives(
    working: &dyn Fn() -> IndexStore,
    failing: &dyn Fn(u64) -> (IndexStore, Arc<FailingStore>),
) {
    let before = ids(&working().load_manifest().unwrap());
    for fail_at in 0.. {
        let (store, counter) = failing(fail_at);
        let splits: Vec<NewSplit> = (0..2).map(|ord| made_up(10 * fail_at + ord + 5)).collect();
        let published: Result<(), crate::BuildError> = splits
            .iter()
            .try_for_each(|split| {
                let bytes = Bytes::from(vec![0; 100]);
                blocking::run(store.put_immutable(&split_object(&split.entry.id), bytes)).map(drop)
            })
            .and_then(|()| store.publish(&splits).map(drop));

        let described = working().describe().unwrap().splits;
        let live: Vec<String> = described.iter().map(|split| split.id.clone()).collect();
        let num_new = splits
            .iter()
            .filter(|split| live.contains(&split.entry.id))
            .count();
        assert!(num_new == 0 || num_new == 2, "half an ingest is live");
        assert!(published.is_err() || num_new == 2, "published but not live");
        assert!(
            before.iter().all(|id| live.contains(id)),
            "an old split is lost"
        );
        for split in &described {
            let name = split_object(&split.id);
            assert_eq!(
                blocking::run(working().len_of(&name)).unwrap(),
                Some(split.len)
            );
        }
        if counter.num_ops() <= fail_at {
            assert!(published.is_ok());
            assert!(fail_at >= 6, "only {fail_at} operations were tried");
            return;
        }
        // Remains of a crash are not an obstacle: a repetition succeeds.
        for split in &splits {
            upload(&working(), split);
        }
        working().publish(&splits).unwrap();
    }
}

const FAILURES: [Failure; 3] = [
    Failure::CrashBefore,
    Failure::CrashAfter,
    Failure::LostAnswer,
];

#[test]
fn a_crash_at_any_operation_leaves_the_old_or_the_new_manifest_in_a_bucket() {
    for failure in FAILURES {
        let bucket: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let working = || IndexStore::new(bucket.clone(), Path::from("logs"), "memory");
        working().create_manifest(&config()).unwrap();
        survives(&working, &|fail_at| {
            let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
            (
                IndexStore::new(failing.clone(), Path::from("logs"), "memory"),
                failing,
            )
        });
    }
}

#[test]
fn a_crash_at_any_operation_leaves_the_old_or_the_new_manifest_in_a_folder() {
    for failure in FAILURES {
        let folder = tempfile::tempdir().unwrap();
        let uri = folder.path().to_str().unwrap();
        create_index(uri, &config()).unwrap();
        let working = || IndexStore::open(uri).unwrap();
        survives(&working, &|fail_at| {
            let files = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
            let failing = Arc::new(FailingStore::new(files, fail_at, failure));
            let store = IndexStore::in_folder(failing.clone(), folder.path().into(), uri);
            (store, failing)
        });
    }
}

/// Returns an index whose next publication creates a page, merges it with others and writes a part
/// of the ledger.
pub(crate) fn on_the_brink() -> InMemory {
    let bucket = Arc::new(InMemory::new());
    let store = IndexStore::new(bucket.clone(), Path::from("logs"), "memory");
    store.create_manifest(&config()).unwrap();
    let splits: Vec<NewSplit> = (0..8).map(made_up).collect();
    splits.iter().for_each(|split| upload(&store, split));
    store.publish(&splits).unwrap();
    let mut file = store.load_manifest().unwrap();
    // Their heads are simulated, so that they only differ in their entries.
    while file.pages.len() < 4 {
        let from = 100 * (file.pages.len() as u64 + 1);
        let splits: Vec<NewSplit> = (from..from + 20).map(made_up).collect();
        splits.iter().for_each(|split| upload(&store, split));
        let paged = splits
            .into_iter()
            .map(|split| canter_split_format::PageSplit {
                entry: split.entry,
                head: None,
                totals: BTreeMap::new(),
                filter: None,
            });
        let written = canter_split_format::write_page(paged.collect(), None).unwrap();
        let object = written.page.object();
        blocking::run(store.put_immutable(&object, Bytes::from(written.bytes))).unwrap();
        file.pages.push(written.page);
    }
    file.ledger.recent.extend((1..=500).map(|id| id << 90));
    for ord in 10..50 {
        let split = made_up(ord);
        upload(&store, &split);
        file.add_split(split.entry, split.head);
    }
    let bytes = Bytes::from(file.to_bytes().unwrap());
    let (_, version) = blocking::run(store.get("manifest.canter"))
        .unwrap()
        .unwrap();
    blocking::run(store.replace("manifest.canter", bytes, &version)).unwrap();
    bucket.fork()
}

#[test]
fn a_crash_while_pages_are_made_loses_nothing() {
    for failure in FAILURES {
        let start = on_the_brink();
        for fail_at in 0.. {
            let bucket = Arc::new(start.fork());
            let working = || IndexStore::new(bucket.clone(), Path::from("logs"), "memory");
            let before = live_ids(&working());
            assert_eq!(before.len(), 128);
            let split = made_up(99);
            upload(&working(), &split);
            let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
            let store = IndexStore::new(failing.clone(), Path::from("logs"), "memory");
            let published = store.publish(std::slice::from_ref(&split));
            let live = live_ids(&working());
            assert!(
                before.iter().all(|id| live.contains(id)),
                "an old split is lost"
            );
            assert!(published.is_err() || live.contains(&split.entry.id));
            if failing.num_ops() <= fail_at {
                assert!(fail_at > 20, "only {fail_at} operations were tried");
                let file = working().load_manifest().unwrap();
                let mut sizes: Vec<u64> = file.pages.iter().map(|page| page.num_splits).collect();
                sizes.sort_unstable();
                assert_eq!(sizes, [33, 80]);
                assert_eq!(file.ledger.objects.len(), 1);
                break;
            }
            assert_eq!(working().publish(&[split]).unwrap().num_live_splits, 129);
        }
    }
}

#[test]
fn a_split_is_known_wherever_it_stands() {
    let store = in_memory();
    let splits: Vec<NewSplit> = (0..700).map(made_up).collect();
    for some in splits.chunks(9) {
        some.iter().for_each(|split| upload(&store, split));
        let outcome = store.publish(some).unwrap();
        assert_eq!(outcome.num_published_splits, some.len() as u64);
        assert!(outcome.num_manifest_bytes < 64 << 10, "{outcome:?}");
    }
    assert_eq!(live_ids(&store).len(), 700);
    let file = store.load_manifest().unwrap();
    assert!(file.pages.len() < 10 && file.manifest.splits.len() <= 48);
    assert_eq!(file.num_docs(), 4_900);
    assert!(!file.ledger.objects.is_empty());
    for some in splits.chunks(300) {
        let outcome = store.publish(some).unwrap();
        assert_eq!(outcome.num_known_splits, some.len() as u64);
        assert_eq!(outcome.num_known_docs, 7 * some.len() as u64);
    }
    assert_eq!(live_ids(&store).len(), 700);
}

/// An index that is merged repeatedly never has enough splits for a page, but its ledger is written
/// nevertheless.
#[test]
fn the_ledger_of_replaced_splits_does_not_stay_in_the_manifest() {
    let store = in_memory();
    let mut live = made_up(0);
    upload(&store, &live);
    store.publish(std::slice::from_ref(&live)).unwrap();
    for ord in 1..600 {
        let next = made_up(ord);
        upload(&store, &next);
        let replacement = Replacement {
            removed: vec![live.entry],
            added: vec![next.clone()],
        };
        let outcome = blocking::run(replace(&store, std::slice::from_ref(&replacement))).unwrap();
        assert_eq!((outcome.num_done, outcome.num_live_splits), (1, 1));
        live = next;
    }
    let file = store.load_manifest().unwrap();
    assert!(file.pages.is_empty());
    assert_eq!((file.ledger.num_ids(), file.ledger.objects.len()), (599, 1));
    assert!(
        file.ledger.recent.len() < 100,
        "{}",
        file.ledger.recent.len()
    );
    assert_eq!(store.publish(&[made_up(3)]).unwrap().num_known_splits, 1);
}

#[test]
fn a_page_that_is_gone_is_named() {
    let store = in_memory();
    let splits: Vec<NewSplit> = (0..60).map(made_up).collect();
    splits.iter().for_each(|split| upload(&store, split));
    store.publish(&splits).unwrap();
    let page = store.load_manifest().unwrap().pages[0].object();
    blocking::run(store.delete(&page)).unwrap();
    let error = store.describe().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains(&page), "{error}");
}

#[test]
fn a_description_adds_up() {
    let store = in_memory();
    let splits: Vec<NewSplit> = (1..4).map(made_up).collect();
    splits.iter().for_each(|split| upload(&store, split));
    store.publish(&splits).unwrap();
    let description = store.describe().unwrap();
    assert_eq!(description.index_id, "hdfs-logs");
    assert_eq!((description.num_docs, description.num_splits), (21, 3));
    assert_eq!(
        (description.num_raw_bytes, description.num_split_bytes),
        (2_700, 300)
    );
    let range = description.time_range.unwrap();
    assert_eq!((range.start_ns, range.end_ns), (1_000, 3_999));
    assert_eq!(description.timestamp_field.as_deref(), Some("timestamp"));
}

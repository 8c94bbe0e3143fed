//! Nothing is lost or left behind, whoever stops when, and whoever does the same at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use futures_util::TryStreamExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

use super::*;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::storage::IndexStore;
use crate::storage::failing::{FailingStore, Failure};

pub(super) const HOUR_MS: u64 = 3_600_000;

pub(super) fn config() -> IndexConfig {
    let config = br#"{"version": "0.9", "index_id": "logs", "doc_mapping": {"mode": "dynamic"}}"#;
    IndexConfig::from_json(config).unwrap()
}

pub(super) fn new<'a>(name: &'a str, id: &'a str, config: &'a IndexConfig) -> NewIndex<'a> {
    NewIndex {
        name,
        id,
        config,
        is_data_stream: false,
        replaces: false,
        max_indexes: 3,
        now_ms: HOUR_MS,
    }
}

pub(super) fn over(store: Arc<dyn ObjectStore>) -> Catalog {
    let store = IndexStore::new(store, Path::from("root"), "memory").known_to_be_fit();
    Catalog::over(store)
}

pub(super) fn created(creation: Result<Creation, BuildError>) -> CatalogEntry {
    match creation.unwrap() {
        Creation::Created { entry, .. } => entry,
        other => panic!("{other:?}"),
    }
}

/// The folders of indexes in which there is an object.
pub(super) fn folders(store: &InMemory) -> BTreeSet<String> {
    let listed = store.list(None).try_collect::<Vec<_>>();
    let listed = blocking::run(async { Ok(listed.await.unwrap()) }).unwrap();
    let folder_of = |path: &str| {
        let mut parts = path.split('/');
        assert_eq!(parts.next(), Some("root"), "{path}");
        let (name, id) = (parts.next()?, parts.next()?);
        Some(format!("{name}/{id}"))
    };
    let paths = listed.iter().map(|object| object.location.as_ref());
    paths.filter_map(folder_of).collect()
}

#[test]
fn an_index_is_made_found_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("all");
    let catalog = Catalog::open(root.to_str().unwrap()).unwrap();
    assert!(catalog.indexes().unwrap().is_empty());
    let config = config();
    let entry = created(catalog.create(&new("logs", "a1", &config)));
    assert_eq!(entry.folder, "logs/a1");
    let other = Catalog::open(root.to_str().unwrap()).unwrap();
    assert_eq!(other.indexes().unwrap()["logs"], entry);
    assert_eq!(
        other.store_of(&entry).unwrap().load_config().unwrap(),
        config
    );
    let by_uri = IndexStore::open(&other.uri_of(&entry)).unwrap();
    assert_eq!(by_uri.load_config().unwrap(), config);
    let again = other.create(&new("logs", "a2", &config)).unwrap();
    assert_eq!(again, Creation::Exists);
    assert!(!root.join("logs/a2").exists());

    assert_eq!(
        other.remove("logs", HOUR_MS).unwrap().as_ref(),
        Some(&entry)
    );
    assert_eq!(other.remove("logs", HOUR_MS).unwrap(), None);
    assert!(catalog.indexes().unwrap().is_empty());
    catalog.remove_objects(&entry).unwrap();
    assert!(!root.join("logs").exists());
    // Once more is no mistake.
    catalog.remove_objects(&entry).unwrap();
    assert_eq!(catalog.sweep(HOUR_MS + 1, HOUR_MS).unwrap(), 0);
    assert_eq!(catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap(), 1);
    assert_eq!(catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap(), 0);
}

#[test]
fn there_are_as_many_as_may_be_and_one_may_take_anothers_place() {
    let catalog = over(Arc::new(InMemory::new()));
    let config = config();
    for (name, id) in [("a", "1"), ("b", "2"), ("c", "3")] {
        created(catalog.create(&new(name, id, &config)));
    }
    let fourth = catalog.create(&new("d", "4", &config)).unwrap();
    assert_eq!(fourth, Creation::Full);
    let before = catalog.indexes().unwrap()["b"].clone();
    let over = NewIndex {
        replaces: true,
        ..new("b", "5", &config)
    };
    let Creation::Created { entry, replaced } = catalog.create(&over).unwrap() else {
        panic!("it was not made");
    };
    assert_eq!(
        (entry.folder.as_str(), replaced),
        ("b/5", Some(before.clone()))
    );
    let removed = catalog.remove_objects(&before).unwrap();
    assert_eq!(removed.len(), 1);
    assert_eq!(
        catalog
            .store_of(&entry)
            .unwrap()
            .load_config()
            .unwrap()
            .index_id,
        "logs"
    );
}

#[test]
fn one_of_many_that_make_the_same_index_makes_it() {
    let memory = Arc::new(InMemory::new());
    let config = config();
    let ids: Vec<String> = (0..8).map(|ord| format!("id{ord}")).collect();
    let made: Vec<Creation> = std::thread::scope(|scope| {
        let making = ids.iter().map(|id| {
            let (memory, config) = (Arc::clone(&memory), &config);
            scope.spawn(move || over(memory).create(&new("logs", id, config)).unwrap())
        });
        let making: Vec<_> = making.collect();
        making
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let winners = made
        .iter()
        .filter(|creation| **creation != Creation::Exists);
    assert_eq!(winners.count(), 1, "{made:?}");
    let catalog = over(Arc::clone(&memory) as Arc<dyn ObjectStore>);
    let indexes = catalog.indexes().unwrap();
    catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap();
    assert_eq!(
        folders(&memory),
        BTreeSet::from([indexes["logs"].folder.clone()])
    );
}

/// Creates, fills and deletes over a store that fails at one operation, for each: what is there afterwards is in an index, or is
/// removed by the next sweep.
#[test]
fn whatever_operation_fails_nothing_is_left_that_nobody_knows_of() {
    let config = config();
    let work = |catalog: &Catalog| -> Result<(), BuildError> {
        catalog.create(&new("kept", "k", &config))?;
        catalog.create(&new("gone", "g", &config))?;
        if let Some(entry) = catalog.indexes()?.get("gone") {
            let index = catalog.store_of(entry)?;
            blocking::run(index.put_immutable("splits/a.split", Bytes::from_static(b"abc")))?;
        }
        if let Some(entry) = catalog.remove("gone", HOUR_MS)? {
            catalog.remove_objects(&entry)?;
        }
        Ok(())
    };
    let counting = Arc::new(FailingStore::new(
        Arc::new(InMemory::new()),
        u64::MAX,
        Failure::CrashBefore,
    ));
    work(&over(Arc::clone(&counting) as Arc<dyn ObjectStore>)).unwrap();
    assert!(counting.num_ops() > 10, "{}", counting.num_ops());
    for failure in [
        Failure::CrashBefore,
        Failure::CrashAfter,
        Failure::LostAnswer,
    ] {
        for fail_at in 0..counting.num_ops() {
            let memory = Arc::new(InMemory::new());
            let inner = Arc::clone(&memory) as Arc<dyn ObjectStore>;
            let failing = FailingStore::new(inner, fail_at, failure);
            let outcome = work(&over(Arc::new(failing)));
            let kind = outcome.err().map(|error| error.kind());
            assert!(
                matches!(kind, None | Some(ErrorKind::Unavailable)),
                "{failure:?} {fail_at}: {kind:?}"
            );
            let catalog = over(Arc::clone(&memory) as Arc<dyn ObjectStore>);
            let indexes = catalog.indexes().unwrap();
            for entry in indexes.values() {
                // None is half there.
                let known = catalog.store_of(entry).unwrap().load_config();
                assert_eq!(known.unwrap(), config, "{failure:?} {fail_at}");
            }
            catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap();
            let known: BTreeSet<String> = indexes.into_values().map(|entry| entry.folder).collect();
            assert_eq!(folders(&memory), known, "{failure:?} {fail_at}");
            // And the name is free, or taken by an index that can be deleted.
            catalog.remove("gone", HOUR_MS).unwrap();
            created(catalog.create(&new("gone", "again", &config)));
        }
    }
}

#[test]
fn a_folder_that_cannot_be_removed_keeps_no_other_from_it() {
    let memory = Arc::new(InMemory::new());
    let catalog = over(Arc::clone(&memory) as Arc<dyn ObjectStore>);
    let config = config();
    for (name, id) in [("a", "1"), ("b", "2"), ("c", "3")] {
        created(catalog.create(&new(name, id, &config)));
        catalog.remove(name, HOUR_MS).unwrap();
    }
    let inner = Arc::clone(&memory) as Arc<dyn ObjectStore>;
    let sweeping = over(Arc::new(FailingStore::that_keeps(inner, "a/1")));
    let error = sweeping.sweep(2 * HOUR_MS, HOUR_MS).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("a/1"), "{error}");
    assert_eq!(folders(&memory), BTreeSet::from(["a/1".to_owned()]));
    // The others are forgotten, and this one is not.
    assert_eq!(catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap(), 1);
    assert_eq!(folders(&memory), BTreeSet::new());
    assert_eq!(catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap(), 0);
}

#[test]
fn templates_are_kept_as_they_were_given_and_refusals_change_nothing() {
    let catalog = over(Arc::new(InMemory::new()));
    let template = serde_json::json!({"index_patterns": ["logs-*"], "priority": 7});
    let add = |templates: &mut Templates| -> Result<(), String> {
        templates.index.insert("logs".to_owned(), template.clone());
        Ok(())
    };
    catalog.change_templates(add).unwrap().unwrap();
    let refuse = |templates: &mut Templates| {
        templates.index.clear();
        Err("no".to_owned())
    };
    assert_eq!(
        catalog.change_templates(refuse).unwrap(),
        Err("no".to_owned())
    );
    assert_eq!(catalog.templates().unwrap().index["logs"], template);
}

#[test]
fn a_damaged_or_newer_file_is_named() {
    let catalog = over(Arc::new(InMemory::new()));
    for (bytes, part) in [
        (&b"{"[..], "cannot be read"),
        (
            &br#"{"version": 2, "indexes": {}, "vacant": []}"#[..],
            "version 2",
        ),
    ] {
        let bytes = Bytes::from_static(bytes);
        blocking::run(catalog.store.overwrite("indexes.json", bytes)).unwrap();
        let error = catalog.indexes().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(part), "{error}");
    }
}

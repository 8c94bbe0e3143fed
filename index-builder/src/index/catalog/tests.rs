//! Tests that nothing is lost or left behind after interruptions and concurrent calls.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_split_format::split_object;
use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt};

use super::*;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::storage::failing::{FailingStore, Failure};
use crate::index::storage::{IndexFolder, IndexStore};

pub(super) const HOUR_MS: u64 = 3_600_000;
pub(super) const A1: &str = "000000000000000000000000000000a1";
pub(super) const A2: &str = "000000000000000000000000000000a2";
pub(super) const LOGS_A1: &str = "logs/000000000000000000000000000000a1";
pub(super) const LOGS_A2: &str = "logs/000000000000000000000000000000a2";

/// Returns an id of an index.
fn id(number: u32) -> String {
    format!("{number:032x}")
}

pub(super) fn folder(name: &str, id: &str) -> IndexFolder {
    IndexFolder::new(name, id).unwrap()
}

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
        settings: None,
        replaces: false,
        max_indexes: 3,
        now_ms: HOUR_MS,
    }
}

pub(super) fn over(store: Arc<dyn ObjectStore>) -> Catalog {
    let store = IndexStore::new(store, StorePath::from("root"), "memory").known_to_be_fit();
    Catalog::over(store)
}

pub(super) fn created(creation: Result<Creation, BuildError>) -> CatalogEntry {
    match creation.unwrap() {
        Creation::Created { entry, .. } => entry,
        other => panic!("{other:?}"),
    }
}

/// Returns the folders of indexes that have objects.
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
fn what_is_held_of_one_index_is_not_taken_for_another() {
    let catalog = over(Arc::new(InMemory::new()));
    let config_of = |name: &str| {
        let config = format!(r#"{{"version": "0.9", "index_id": "{name}", "doc_mapping": {{}}}}"#);
        IndexConfig::from_json(config.as_bytes()).unwrap()
    };
    let store_of = |name: &str, id: &str| {
        let entry = created(catalog.create(&new(name, id, &config_of(name))));
        catalog.store_of(&entry).unwrap()
    };
    let (one, other) = (store_of("one", A1), store_of("other", A2));
    // Holds the manifest for the ingest that follows.
    assert!(one.has_index().unwrap());
    let prepared = crate::index::publisher::prepare(&other).unwrap();
    assert_eq!(prepared.config.index_id, "other");
    let prepared = crate::index::publisher::prepare(&one).unwrap();
    assert_eq!(prepared.config.index_id, "one");
}

#[test]
fn an_index_is_made_found_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("all");
    let catalog = Catalog::open(root.to_str().unwrap()).unwrap();
    assert!(catalog.indexes().unwrap().is_empty());
    let config = config();
    let entry = created(catalog.create(&new("logs", A1, &config)));
    assert_eq!(entry.folder.as_str(), LOGS_A1);
    let other = Catalog::open(root.to_str().unwrap()).unwrap();
    assert_eq!(other.indexes().unwrap()["logs"], entry);
    assert_eq!(
        other.store_of(&entry).unwrap().load_config().unwrap(),
        config
    );
    let by_uri = IndexStore::open(&other.uri_of(&entry)).unwrap();
    assert_eq!(by_uri.load_config().unwrap(), config);
    let again = other.create(&new("logs", A2, &config)).unwrap();
    assert_eq!(again, Creation::Exists);
    assert!(!root.join(LOGS_A2).exists());

    assert_eq!(
        other.remove("logs", HOUR_MS).unwrap().as_ref(),
        Some(&entry)
    );
    assert_eq!(other.remove("logs", HOUR_MS).unwrap(), None);
    assert!(catalog.indexes().unwrap().is_empty());
    catalog.remove_objects(&entry).unwrap();
    assert!(!root.join("logs").exists());
    // Repeated removals are not an error.
    catalog.remove_objects(&entry).unwrap();
    assert_eq!(catalog.sweep(HOUR_MS + 1, HOUR_MS).unwrap(), 0);
    assert_eq!(catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap(), 1);
    assert_eq!(catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap(), 0);
}

#[test]
fn there_are_as_many_as_may_be_and_one_may_take_anothers_place() {
    let catalog = over(Arc::new(InMemory::new()));
    let config = config();
    for (name, number) in [("a", 1), ("b", 2), ("c", 3)] {
        created(catalog.create(&new(name, &id(number), &config)));
    }
    let fourth = catalog.create(&new("d", &id(4), &config)).unwrap();
    assert_eq!(fourth, Creation::Full);
    let before = catalog.indexes().unwrap()["b"].clone();
    let fifth = id(5);
    let over = NewIndex {
        replaces: true,
        ..new("b", &fifth, &config)
    };
    let Creation::Created { entry, replaced } = catalog.create(&over).unwrap() else {
        panic!("it was not made");
    };
    assert_eq!(
        (entry.folder.id(), replaced),
        (fifth.as_str(), Some(before.clone()))
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
    let ids: Vec<String> = (0..8).map(id).collect();
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
        BTreeSet::from([indexes["logs"].folder.as_str().to_owned()])
    );
}

/// Creates, fills and deletes indexes over a store in which one operation fails, for each
/// operation. Afterwards, all objects belong to an index or are removed by the next sweep.
#[test]
fn whatever_operation_fails_nothing_is_left_that_nobody_knows_of() {
    let config = config();
    let work = |catalog: &Catalog| -> Result<(), BuildError> {
        catalog.create(&new("kept", &id(1), &config))?;
        catalog.create(&new("gone", &id(2), &config))?;
        if let Some(entry) = catalog.indexes()?.get("gone") {
            let index = catalog.store_of(entry)?;
            blocking::run(index.put_immutable(&split_object(A1), Bytes::from_static(b"abc")))?;
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
                // No index is incomplete.
                let known = catalog.store_of(entry).unwrap().load_config();
                assert_eq!(known.unwrap(), config, "{failure:?} {fail_at}");
            }
            catalog.sweep(2 * HOUR_MS, HOUR_MS).unwrap();
            let known: BTreeSet<String> = indexes
                .into_values()
                .map(|entry| entry.folder.into())
                .collect();
            assert_eq!(folders(&memory), known, "{failure:?} {fail_at}");
            // The name is free, or belongs to an index that can be deleted.
            catalog.remove("gone", HOUR_MS).unwrap();
            created(catalog.create(&new("gone", &id(3), &config)));
        }
    }
}

#[test]
fn a_folder_that_cannot_be_removed_keeps_no_other_from_it() {
    let memory = Arc::new(InMemory::new());
    let catalog = over(Arc::clone(&memory) as Arc<dyn ObjectStore>);
    let config = config();
    for (name, number) in [("a", 1), ("b", 2), ("c", 3)] {
        created(catalog.create(&new(name, &id(number), &config)));
        catalog.remove(name, HOUR_MS).unwrap();
    }
    let inner = Arc::clone(&memory) as Arc<dyn ObjectStore>;
    let sweeping = over(Arc::new(FailingStore::that_keeps(inner, "root/a/")));
    let error = sweeping.sweep(2 * HOUR_MS, HOUR_MS).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("a/0000"), "{error}");
    assert_eq!(folders(&memory), BTreeSet::from([format!("a/{}", id(1))]));
    // The sweep forgets the other folders, but not this one.
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

/// Returns a file that a store could have, with one index and one vacant folder.
fn file(name: &str, folder: &str, vacant: &str) -> Bytes {
    let file = serde_json::json!({
        "version": 1,
        "indexes": {name: {"folder": folder, "created_at_ms": 1, "is_data_stream": false}},
        "vacant": [{"folder": vacant, "since_ms": 1}],
    });
    Bytes::from(file.to_string())
}

/// Only parses the file; nothing is opened or deleted.
#[test]
fn a_file_that_leads_out_of_its_root_is_not_read() {
    let parse = |bytes: &Bytes| parse::<CatalogFile>(bytes, "indexes.json");
    assert!(parse(&file("logs", LOGS_A1, LOGS_A2)).is_ok());
    for bad in [
        "",
        "/",
        "/etc",
        ".",
        "..",
        "../outside",
        "logs",
        "logs/",
        "logs/a1",
        "/logs/000000000000000000000000000000a1",
        "../000000000000000000000000000000a1",
        "logs/../000000000000000000000000000000a1",
        "logs/000000000000000000000000000000a1/..",
        "logs/000000000000000000000000000000A1",
    ] {
        for bytes in [file("logs", bad, LOGS_A2), file("logs", LOGS_A1, bad)] {
            let error = parse(&bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{bad}");
            let text = error.to_string();
            assert!(
                text.contains("indexes.json") && text.contains("hexadecimal"),
                "{text}"
            );
        }
    }
    for (bytes, part) in [
        (file("other", LOGS_A1, LOGS_A2), "another's name"),
        (file("logs", LOGS_A1, LOGS_A1), "an index and be vacant"),
    ] {
        let error = parse(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(part), "{error}");
    }
    let long = Bytes::from(vec![b' '; 17 << 20]);
    let error = parse(&long).unwrap_err();
    assert!(error.to_string().contains("are the most"), "{error}");
}

/// Uses relative folders that lead out of the root but stay in the test's own folder.
#[test]
fn what_a_catalog_leads_to_outside_of_its_root_is_neither_read_nor_deleted() {
    let config = config();
    for folder in ["../outside", "..", "logs/../../outside"] {
        let bench = tempfile::tempdir().unwrap();
        let (root, outside) = (bench.path().join("all"), bench.path().join("outside"));
        std::fs::create_dir_all(&root).unwrap();
        let index = IndexStore::open_or_make(outside.to_str().unwrap()).unwrap();
        index.create_manifest(&config).unwrap();
        std::fs::write(outside.join("notes"), "mine").unwrap();
        let catalog = Catalog::open(root.to_str().unwrap()).unwrap();
        for bytes in [file("logs", folder, LOGS_A1), file("logs", LOGS_A1, folder)] {
            std::fs::write(root.join("indexes.json"), bytes).unwrap();
            let outcomes = [
                catalog.indexes().map(drop),
                catalog.remove("logs", HOUR_MS).map(drop),
                catalog.sweep(9 * HOUR_MS, 0).map(drop),
                catalog.create(&new("logs", A2, &config)).map(drop),
            ];
            for outcome in outcomes {
                assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Data, "{folder}");
            }
            assert_eq!(index.load_config().unwrap(), config);
            assert!(outside.join("notes").is_file(), "{folder}");
        }
    }
}

/// Returns an index that is deleted in the list, and its folder with objects of every kind.
fn deleted(root: &Path) -> (Catalog, CatalogEntry, PathBuf) {
    let catalog = Catalog::open(root.to_str().unwrap()).unwrap();
    let entry = created(catalog.create(&new("logs", A1, &config())));
    let index = root.join(entry.folder.as_str());
    for name in [
        "splits/000000000000000000000000000000a1.split",
        "splits/000000000000000000000000000000a2.split#3",
        "pages/000000000000000000000000000000a1.page",
        "ledger/000000000000000000000000000000a1.ids",
        "deletes/000000000000000000000000000000a1.docs",
        "filters/000000000000000000000000000000a1.bits",
        "sources/000000000000000000000000000000a1.lines",
        "spool/a1.ndjson.zst",
        "rejected/a1.ndjson",
        "checkpoints/000000000000000000000000000000a1-0.json",
        "write-probe/000000000000000000000000000000a1",
        "manifest.lock",
    ] {
        let path = index.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "abc").unwrap();
    }
    catalog.remove("logs", HOUR_MS).unwrap().unwrap();
    (catalog, entry, index)
}

#[test]
fn all_that_an_index_owns_is_deleted_with_it() {
    let bench = tempfile::tempdir().unwrap();
    let (catalog, entry, index) = deleted(bench.path());
    std::fs::create_dir(index.parent().unwrap().join("beside")).unwrap();
    let removed = catalog.remove_objects(&entry).unwrap();
    // The manifest is removed before the other objects are listed.
    assert_eq!(removed.len(), 12, "{removed:?}");
    assert!(
        removed
            .iter()
            .all(|(name, len)| name.starts_with(LOGS_A1) && *len == 3)
    );
    assert!(!index.exists());
    assert!(index.parent().unwrap().join("beside").is_dir());
    assert_eq!(catalog.sweep(9 * HOUR_MS, HOUR_MS).unwrap(), 1);
}

#[cfg(unix)]
#[test]
fn nothing_is_deleted_beside_what_no_index_has_and_no_link_is_followed() {
    use std::os::unix::fs::symlink;
    type Put = fn(&Path, &Path);
    let cases: [(&str, Put); 8] = [
        ("notes.txt", |index, _| {
            std::fs::write(index.join("notes.txt"), "mine").unwrap();
        }),
        ("splits/notes.txt", |index, _| {
            std::fs::write(index.join("splits/notes.txt"), "mine").unwrap();
        }),
        ("more", |index, _| {
            std::fs::create_dir(index.join("more")).unwrap();
        }),
        ("splits/more", |index, _| {
            std::fs::create_dir(index.join("splits/more")).unwrap();
        }),
        ("link", |index, outside| {
            symlink(outside, index.join("link")).unwrap();
        }),
        ("pages", |index, outside| {
            std::fs::rename(index.join("pages"), outside.join("pages")).unwrap();
            symlink(outside, index.join("pages")).unwrap();
        }),
        (
            "splits/000000000000000000000000000000a3.split",
            |index, outside| {
                let name = "splits/000000000000000000000000000000a3.split";
                symlink(outside.join("notes"), index.join(name)).unwrap();
            },
        ),
        ("manifest.canter", |index, outside| {
            std::fs::remove_file(index.join("manifest.canter")).unwrap();
            symlink(outside.join("notes"), index.join("manifest.canter")).unwrap();
        }),
    ];
    for (name, put) in cases {
        let bench = tempfile::tempdir().unwrap();
        let outside = bench.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let page = outside.join("000000000000000000000000000000a1.page");
        for path in [&outside.join("notes"), &page] {
            std::fs::write(path, "mine").unwrap();
        }
        let (catalog, entry, index) = deleted(&bench.path().join("all"));
        put(&index, &outside);
        for error in [
            catalog.remove_objects(&entry).unwrap_err(),
            catalog.sweep(9 * HOUR_MS, HOUR_MS).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Data, "{name}");
            assert!(error.to_string().contains(name), "{name}: {error}");
        }
        let split = index.join("splits/000000000000000000000000000000a1.split");
        assert!(split.is_file(), "{name}");
        assert!(index.join(name).symlink_metadata().is_ok(), "{name}");
        assert!(outside.join("notes").is_file() && page.is_file(), "{name}");
        // There is no readable index afterwards, whatever is left.
        assert!(!index.join("manifest.canter").is_file() || name == "manifest.canter");
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_an_indexes_folder_is_not_followed() {
    use std::os::unix::fs::symlink;
    for of_name in [false, true] {
        let bench = tempfile::tempdir().unwrap();
        let (root, outside) = (bench.path().join("all"), bench.path().join("outside"));
        std::fs::create_dir(&outside).unwrap();
        let (catalog, entry, index) = deleted(&root);
        // The target has the names of an index on every level.
        let moved = match of_name {
            true => index.parent().unwrap(),
            false => &index,
        };
        std::fs::rename(moved, outside.join("moved")).unwrap();
        symlink(outside.join("moved"), moved).unwrap();
        let error = catalog.remove_objects(&entry).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains("a link or no folder"), "{error}");
        assert!(index.join("manifest.canter").is_file());
        assert!(index.join("spool/a1.ndjson.zst").is_file());
    }
}

#[test]
fn nothing_is_deleted_in_a_bucket_beside_what_no_index_has() {
    let memory = Arc::new(InMemory::new());
    let catalog = over(Arc::clone(&memory) as Arc<dyn ObjectStore>);
    let entry = created(catalog.create(&new("logs", A1, &config())));
    let put = |name: &str| {
        let path = StorePath::from(format!("root/{LOGS_A1}/{name}"));
        let put = async { memory.put(&path, Bytes::from_static(b"abc").into()).await };
        blocking::run(async { Ok(put.await.unwrap()) }).unwrap();
    };
    put(&split_object(A1));
    put("backup/notes.txt");
    catalog.remove("logs", HOUR_MS).unwrap().unwrap();
    let error = catalog.remove_objects(&entry).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("backup/notes.txt"), "{error}");
    let listed = memory.list(None).try_collect::<Vec<_>>();
    let listed = blocking::run(async { Ok(listed.await.unwrap()) }).unwrap();
    let names: BTreeSet<&str> = listed
        .iter()
        .map(|object| object.location.as_ref())
        .collect();
    let split = format!("root/{LOGS_A1}/{}", split_object(A1));
    let notes = format!("root/{LOGS_A1}/backup/notes.txt");
    assert_eq!(
        names,
        BTreeSet::from(["root/indexes.json", split.as_str(), notes.as_str()])
    );
}

#[test]
fn settings_change_until_the_index_is_gone() {
    let catalog = over(Arc::new(InMemory::new()));
    let config = config();
    let made = created(catalog.create(&new("logs", A1, &config)));
    let put = |entry: &CatalogEntry, value: &str| {
        let edit = |settings: &mut crate::IndexSettings| {
            settings.insert("refresh_interval".to_owned(), value.into());
            Ok::<_, ()>(())
        };
        catalog.change_settings(entry, edit).unwrap().unwrap()
    };
    assert!(put(&made, "5s"));
    let there = catalog.indexes().unwrap();
    assert_eq!(there["logs"].settings["refresh_interval"], "5s");
    assert_eq!(there["logs"].folder, made.folder);
    let refused = catalog.change_settings(&made, |settings| {
        settings.clear();
        Err("no")
    });
    assert_eq!(refused.unwrap(), Err("no"));
    assert_eq!(catalog.indexes().unwrap()["logs"].settings.len(), 1);
    assert_eq!(
        catalog.remove("logs", HOUR_MS).unwrap().unwrap().folder,
        made.folder
    );
    assert!(!put(&made, "7s"));
}

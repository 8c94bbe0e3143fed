//! Tests that an index has either the old or the new config after a failure, and that no splits are
//! lost.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;

use super::*;
use crate::error::ErrorKind;
use crate::index::publisher::tests::{config, grown, made_up, upload};
use crate::index::publisher::{open_or_create_index, publish};
use crate::index::storage::failing::{FailingStore, Failure};

fn of(bucket: &Arc<InMemory>) -> IndexStore {
    IndexStore::new(bucket.clone(), Path::from("logs"), "memory")
}

#[test]
fn an_update_changes_the_config_and_no_split() {
    let bucket = Arc::new(InMemory::new());
    let store = of(&bucket);
    store.create_manifest(&config()).unwrap();
    upload(&store, &made_up(1));
    store.publish(&[made_up(1)]).unwrap();
    let before = store.load_manifest().unwrap();

    let planned = update_index(&store, &grown("a"), true).unwrap();
    assert!(planned.is_dry_run);
    assert_eq!(store.load_manifest().unwrap(), before);
    let done = update_index(&store, &grown("a"), false).unwrap();
    assert_eq!(
        (&done.changes, &done.notes),
        (&planned.changes, &planned.notes)
    );
    let places: Vec<&str> = done
        .changes
        .iter()
        .map(|change| change.place.as_str())
        .collect();
    assert_eq!(
        places,
        [
            "doc_mapping.field_mappings.a",
            "search_settings.default_search_fields"
        ]
    );
    assert_eq!((done.added_fields.len(), done.notes.len()), (1, 1));
    let after = store.load_manifest().unwrap();
    assert_eq!(after.manifest.splits, before.manifest.splits);
    assert_eq!(store.load_config().unwrap().doc_mapping.added_fields, ["a"]);

    // A repetition changes nothing, and the manifest is not written.
    let again = update_index(&store, &grown("a"), false).unwrap();
    assert_eq!(again, UpdateReport::default());
    assert_eq!(store.load_manifest().unwrap(), after);
}

#[test]
fn what_cannot_be_is_refused_with_all_its_places_and_changes_nothing() {
    let bucket = Arc::new(InMemory::new());
    let store = of(&bucket);
    store.create_manifest(&config()).unwrap();
    let before = store.load_manifest().unwrap();
    let mut asked = grown("a");
    asked.index_id = "other".to_owned();
    asked.doc_mapping.store_source = !asked.doc_mapping.store_source;
    for is_dry_run in [true, false] {
        let error = update_index(&store, &asked, is_dry_run).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let said = error.to_string();
        assert!(
            said.contains("\n  index_id was ")
                && said.contains("\n  doc_mapping.store_source was "),
            "{said}"
        );
        assert_eq!(store.load_manifest().unwrap(), before);
    }
}

#[test]
fn a_crash_at_any_operation_leaves_the_old_or_the_new_config() {
    for failure in [
        Failure::CrashBefore,
        Failure::CrashAfter,
        Failure::LostAnswer,
    ] {
        for fail_at in 0.. {
            let bucket = Arc::new(InMemory::new());
            let working = of(&bucket);
            working.create_manifest(&config()).unwrap();
            upload(&working, &made_up(1));
            working.publish(&[made_up(1)]).unwrap();
            let failing = Arc::new(FailingStore::new(bucket.clone(), fail_at, failure));
            let store = IndexStore::new(failing.clone(), Path::from("logs"), "memory");
            let updated = update_index(&store, &grown("a"), false);
            let file = working.load_manifest().unwrap();
            assert_eq!(file.manifest.splits.len(), 1);
            let is_new = working.load_config().unwrap().doc_mapping.added_fields == ["a"];
            assert!(is_new || working.load_config().unwrap() == config());
            if let Ok(report) = &updated {
                assert!(
                    is_new && !report.changes.is_empty(),
                    "{failure:?} {fail_at}"
                );
            }
            if failing.num_ops() <= fail_at {
                assert!(updated.is_ok() && fail_at >= 4, "only {fail_at} operations");
                break;
            }
            let again = update_index(&working, &grown("a"), false).unwrap();
            assert_eq!(again.changes.is_empty(), is_new);
        }
    }
}

#[test]
fn of_two_who_add_fields_the_second_is_told_of_the_firsts() {
    let bucket = Arc::new(InMemory::new());
    let store = of(&bucket);
    store.create_manifest(&config()).unwrap();
    update_index(&store, &grown("a"), false).unwrap();
    let error = update_index(&store, &grown("b"), false).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("field_mappings.a was a field of type u64"),
        "{said}"
    );
}

#[test]
fn splits_of_before_an_update_are_published_after_it_and_those_of_another_index_are_not() {
    let bucket = Arc::new(InMemory::new());
    let store = of(&bucket);
    store.create_manifest(&config()).unwrap();
    update_index(&store, &grown("a"), false).unwrap();
    let split = made_up(1);
    upload(&store, &split);
    let now = store.load_config().unwrap();
    let mut other = config();
    other.doc_mapping.index_field_presence = !other.doc_mapping.index_field_presence;
    for (built_with, is_taken) in [(other, false), (config(), true), (now, true)] {
        let published = publish(&store, Some(&built_with), std::slice::from_ref(&split), &[]);
        assert_eq!(crate::blocking::run(published).is_ok(), is_taken);
    }
}

#[test]
fn whoever_brings_the_config_along_may_bring_the_one_that_the_index_was_updated_to() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().to_str().unwrap();
    let (store, _) = open_or_create_index(uri, &config()).unwrap();
    update_index(&store, &grown("a"), false).unwrap();
    assert!(open_or_create_index(uri, &grown("a")).is_ok());
    let error = open_or_create_index(uri, &config()).err().unwrap();
    assert!(error.to_string().contains("canter index update"), "{error}");
}

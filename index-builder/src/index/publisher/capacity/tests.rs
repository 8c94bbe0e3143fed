//! Tests of the maximum size of an index, and of the warnings before it is reached.

use super::*;
use crate::error::ErrorKind;
use crate::index::publisher::NewSplit;
use crate::index::publisher::tests::{config, made_up, upload};
use crate::ingest::{IngestOptions, IngestReport, ingest};
use crate::input::source::Source;
use bytes::Bytes;
use canter_split_format::{MANIFEST_OBJECT, Manifest, ManifestFile};
use object_store::memory::InMemory;
use object_store::path::Path;
use std::io::Cursor;
use std::sync::Arc;

/// Returns an index with these simulated splits in its manifest.
fn index_with(splits: impl IntoIterator<Item = NewSplit>) -> IndexStore {
    let mut file = ManifestFile::new(Manifest::new(serde_json::to_value(config()).unwrap()));
    file.manifest.splits = splits.into_iter().map(|split| split.entry).collect();
    let bytes = Bytes::from(file.to_bytes().unwrap());
    let store = IndexStore::new(Arc::new(InMemory::new()), Path::from("logs"), "memory");
    blocking::run(store.create(MANIFEST_OBJECT, bytes)).unwrap();
    store
}

/// Returns a simulated split that takes `num_bytes` of the manifest.
fn wide(ord: u64, num_bytes: usize) -> NewSplit {
    let mut split = made_up(ord);
    let values = [format!("{ord:05}{}", "x".repeat(num_bytes))];
    split.entry.tags = [("tag".to_owned(), values.into())].into();
    split
}

fn manifest_bytes(store: &IndexStore) -> Bytes {
    blocking::run(store.get(MANIFEST_OBJECT))
        .unwrap()
        .unwrap()
        .0
}

#[track_caller]
fn check_refused(store: &IndexStore, split: &NewSplit, expect: &[&str]) {
    let before = manifest_bytes(store);
    upload(store, split);
    let error = store.publish(std::slice::from_ref(split)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    for part in expect
        .iter()
        .chain(&["nothing was published", "several indexes"])
    {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    assert_eq!(manifest_bytes(store), before);
}

#[test]
fn a_manifest_grows_to_64_mib_and_no_further() {
    let store = index_with((0..42).map(|ord| wide(ord, 3 << 19)));
    let len = manifest_bytes(&store).len() as u64;
    assert!(len < MAX_MANIFEST_BYTES);
    let fits = wide(100, 100_000);
    upload(&store, &fits);
    let outcome = store.publish(&[fits]).unwrap();
    assert!(outcome.num_manifest_bytes > len);
    assert_eq!(
        outcome.num_manifest_bytes,
        manifest_bytes(&store).len() as u64
    );
    check_refused(&store, &wide(101, 1 << 20), &["a manifest of", "67108864"]);
}

fn ingest_one(store: &IndexStore) -> Result<IngestReport, BuildError> {
    let line = br#"{"timestamp": 1460530013, "body": "a"}"#.to_vec();
    let source = Source::reader("line", Cursor::new(line));
    ingest(store, &IngestOptions::default(), vec![source], &())
}

#[test]
fn an_ingest_warns_from_80_percent_on() {
    let names = |store: &IndexStore| -> Vec<&str> {
        let warnings = ingest_one(store).unwrap().warnings;
        warnings.into_iter().map(|warning| warning.name).collect()
    };
    let few = index_with((0..30).map(made_up));
    assert_eq!(names(&few), [""; 0]);
    let wide = index_with((0..35).map(|ord| wide(ord, 3 << 19)));
    assert_eq!(names(&wide), ["near_max_manifest_bytes"]);
}

#[test]
fn an_ingest_into_an_index_beyond_its_limits_ends_before_it_reads() {
    struct Unread;
    impl std::io::Read for Unread {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("it was read")
        }
    }
    let store = index_with((0..65).map(|ord| wide(ord, 1 << 20)));
    let source = Source::reader("unread", Unread);
    let error = ingest(&store, &IngestOptions::default(), vec![source], &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("a manifest of"), "{error}");
}

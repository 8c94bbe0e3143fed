//! Tests of both essential writes, on every kind of store that is available to tests.

use super::*;
use crate::blocking;
use crate::error::ErrorKind;
use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use std::sync::Arc;

/// Checks the behaviour that every implementation of a store must have.
fn conforms(store: &IndexStore) {
    let run = |name: &'static str, bytes: &'static [u8]| {
        blocking::run(store.put_immutable(name, Bytes::from_static(bytes)))
    };
    assert!(run("splits/a.split", b"abc").unwrap());
    assert!(
        !run("splits/a.split", b"abc").unwrap(),
        "a second write does nothing"
    );
    let damaged = run("splits/a.split", b"abcd").unwrap_err();
    assert_eq!(damaged.kind(), ErrorKind::Data);
    assert!(damaged.to_string().contains("is 3 bytes long"), "{damaged}");
    assert_eq!(
        blocking::run(store.len_of("splits/a.split")).unwrap(),
        Some(3)
    );
    assert_eq!(blocking::run(store.len_of("splits/b.split")).unwrap(), None);

    let get = || blocking::run(store.get("m")).unwrap();
    let create = |bytes| blocking::run(store.create("m", Bytes::from_static(bytes))).unwrap();
    let replace = |bytes, version| {
        blocking::run(store.replace("m", Bytes::from_static(bytes), version)).unwrap()
    };
    assert!(get().is_none());
    assert_eq!(create(b"one"), Swap::Done);
    assert_eq!(create(b"other"), Swap::Conflict);
    let (bytes, first) = get().unwrap();
    assert_eq!(bytes, "one");
    assert_eq!(replace(b"two", &first), Swap::Done);
    assert_eq!(replace(b"three", &first), Swap::Conflict);
    let (bytes, second) = get().unwrap();
    assert_eq!(bytes, "two");
    assert_eq!(replace(b"three", &second), Swap::Done);
    assert_eq!(get().unwrap().0, "three");
}

#[test]
fn a_folder_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().join("new/index");
    conforms(&IndexStore::open_or_make(uri.to_str().unwrap()).unwrap());
}

#[test]
fn a_file_uri_conforms_whatever_its_characters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index of töst %20 #1");
    std::fs::create_dir(&path).unwrap();
    let uri = url::Url::from_directory_path(&path).unwrap();
    conforms(&IndexStore::open(uri.as_str()).unwrap());
    assert!(path.join("splits/a.split").is_file());
}

#[test]
fn a_bucket_conforms_with_and_without_a_prefix() {
    for prefix in ["", "logs/hdfs"] {
        let bucket = Arc::new(InMemory::new());
        conforms(&IndexStore::new(bucket, Path::from(prefix), "memory"));
    }
}

#[test]
fn replacing_what_was_deleted_is_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let store = IndexStore::open(folder.path().to_str().unwrap()).unwrap();
    blocking::run(store.create("m", Bytes::from_static(b"one"))).unwrap();
    let (_, version) = blocking::run(store.get("m")).unwrap().unwrap();
    std::fs::remove_file(folder.path().join("m")).unwrap();
    let swap = blocking::run(store.replace("m", Bytes::from_static(b"two"), &version)).unwrap();
    assert_eq!(swap, Swap::Conflict);
    assert!(!folder.path().join("m").exists());
}

#[test]
fn a_large_split_goes_up_in_parts_once() {
    let bucket: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let store = IndexStore::new(bucket, Path::from("p"), "memory");
    let bytes: Bytes = (0..70_u32 << 20)
        .map(|ord| (ord >> 12) as u8)
        .collect::<Vec<u8>>()
        .into();
    assert!(blocking::run(store.put_immutable("splits/x", bytes.clone())).unwrap());
    assert!(!blocking::run(store.put_immutable("splits/x", bytes.clone())).unwrap());
    let (found, _) = blocking::run(store.get("splits/x")).unwrap().unwrap();
    assert!(found == bytes);
}

#[track_caller]
fn check_uri(uri: &str, expect: &str) {
    let error = IndexStore::open(uri).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(expect), "{error}");
}

#[test]
fn a_uri_that_cannot_be_used_says_why() {
    check_uri("", "give a folder, s3://");
    check_uri("/nowhere/at/all", "canter index create");
    check_uri(
        "https://example.com/index",
        "can be searched but not written",
    );
    check_uri("ftp://example.com/index", "unknown scheme `ftp`");
    check_uri("file://host/index", "names no folder");
}

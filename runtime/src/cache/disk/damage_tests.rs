//! Damaged, foreign and misplaced files: each is a miss, is counted, and affects nothing else.

use std::fs;

use canter_stores::cache::FORMAT_FOLDER;
use tempfile::TempDir;

use super::tests::{BLOCK_LEN, CLASS, files, holds_block, open, options, put_block, stats};
use super::*;

const MAX_BYTES: u64 = 16 << 20;

/// Damages the only file of a cache, and checks the effect: a miss that is counted, and a cache
/// that accepts the block again.
async fn check_damage(what: &str, damage: impl FnOnce(&Path)) {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), MAX_BYTES);
    put_block(&cache, 7).await;
    let path = files(folder.path()).remove(0);
    damage(&path);
    assert!(!holds_block(&cache, 7).await, "{what}");
    assert_eq!(stats(&cache).num_corrupt, 1, "{what}");
    assert!(!path.exists(), "{what}");
    put_block(&cache, 7).await;
    assert!(holds_block(&cache, 7).await, "{what}");
    assert_eq!(stats(&cache).num_corrupt, 1, "{what}");
}

#[tokio::test]
async fn a_flipped_bit_anywhere_is_a_miss() {
    let header_len = 40 + "block 65536 7 a".len() + 8;
    let end = header_len + BLOCK_LEN as usize;
    let in_header = 0..header_len + 4;
    for at in in_header.chain([header_len + 30_000, end - 1]) {
        check_damage(&format!("byte {at}"), |path| {
            let mut bytes = fs::read(path).unwrap();
            assert_eq!(bytes.len(), end);
            bytes[at] ^= 1 << (at % 8);
            fs::write(path, bytes).unwrap();
        })
        .await;
    }
}

#[tokio::test]
async fn a_file_that_is_too_short_or_too_long_is_a_miss() {
    for len in [0, 1, 8, 39, 40, 50, 62, 63, 64, 1023, 1024, 1025, 65_598] {
        check_damage(&format!("cut to {len}"), |path| {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len(len).unwrap();
        })
        .await;
    }
    check_damage("a byte too many", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes.push(0);
        fs::write(path, bytes).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_foreign_file_or_folder_in_its_place_is_a_miss() {
    check_damage("text", |path| fs::write(path, "hello").unwrap()).await;
    check_damage("zeroes", |path| fs::write(path, vec![0; 65_599]).unwrap()).await;
    check_damage("folder", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_sound_file_of_another_block_is_a_miss() {
    let other = TempDir::new().unwrap();
    put_block(&open(other.path(), MAX_BYTES), 8).await;
    let other = files(other.path()).remove(0);
    check_damage("another block", |path| {
        fs::copy(other, path).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_damaged_entry_is_a_miss_too() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), MAX_BYTES);
    cache
        .put_entry("k", Bytes::from(vec![7; 200_000]), CLASS)
        .await;
    cache.flush().await;
    let path = files(folder.path()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[150_000] ^= 0x10;
    fs::write(&path, bytes).unwrap();
    assert_eq!(cache.get_entry("k", CLASS).await, None);
    assert_eq!(stats(&cache).num_corrupt, 1);
}

#[tokio::test]
async fn damage_beside_the_bytes_asked_for_costs_only_those_near_it() {
    let folder = TempDir::new().unwrap();
    let class = crate::cache::ClassOptions {
        max_bytes: MAX_BYTES,
        block_len: 1 << 20,
    };
    let cache = DiskCache::open(folder.path(), &options(0).with_class(CLASS, class)).unwrap();
    cache
        .put("a", 0, Bytes::from(vec![7; 1 << 20]), CLASS)
        .await;
    cache.flush().await;
    let path = files(folder.path()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(cache.get("a", 1000..2000, CLASS).await.len(), 1);
    assert!(cache.get("a", 0..1 << 20, CLASS).await.is_empty());
    assert_eq!(stats(&cache).num_corrupt, 1);
}

#[tokio::test]
async fn a_folder_with_things_in_it_where_a_file_should_be_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), MAX_BYTES);
    put_block(&cache, 0).await;
    let path = files(folder.path()).remove(0);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "x").unwrap();
    assert!(!holds_block(&cache, 0).await);
    put_block(&cache, 0).await;
    assert!(!holds_block(&cache, 0).await);
    assert!(path.join("precious").exists());
    assert_eq!(stats(&cache).num_dropped_puts, 1);
}

#[tokio::test]
async fn whatever_lies_in_the_folder_the_cache_opens() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join(FORMAT_FOLDER);
    let class = root.join(CLASS.as_str());
    fs::create_dir_all(class.join("00")).unwrap();
    fs::create_dir_all(folder.path().join("canter-cache-v2/postings")).unwrap();
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    fs::write(root.join("dictionary"), "a file where a folder should be").unwrap();
    fs::write(class.join("01"), "a file where a folder should be").unwrap();
    fs::write(class.join("00/notes.txt"), vec![0; 1 << 20]).unwrap();
    let cache = open(folder.path(), 2 << 20);
    for number in 0..200 {
        put_block(&cache, number).await;
    }
    let bytes = Bytes::from_static(b"x");
    cache.put("a", 0, bytes, ByteClass::Dictionary).await;
    cache.flush().await;
    let held = cache.get("a", 0..1, ByteClass::Dictionary).await;
    assert!(held.is_empty());
    let dictionary = cache.stats().layers[0].class(ByteClass::Dictionary);
    assert_eq!(
        (dictionary.num_dropped_puts, dictionary.num_corrupt),
        (1, 0)
    );
    let mut num_held = 0;
    for number in 0..200 {
        num_held += u64::from(holds_block(&cache, number).await);
    }
    // Two megabytes, minus the blocks whose folder is a file.
    assert!((20..31).contains(&num_held), "{num_held}");
    assert_eq!(stats(&cache).num_corrupt, 0);
    assert!(class.join("00/notes.txt").exists());
}

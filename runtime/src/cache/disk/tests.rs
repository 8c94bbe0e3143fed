//! Properties of the disk cache: persistence, sharing, and budgets.
//!
//! `conformance.rs` tests the properties of all caches, `damage_tests.rs` damaged files, and
//! `kill_tests.rs` killed processes.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use canter_stores::cache::FORMAT_FOLDER;
use tempfile::TempDir;

use super::*;
use crate::cache::{ClassOptions, ClassStats};

pub(super) const CLASS: ByteClass = ByteClass::Postings;
pub(super) const BLOCK_LEN: u64 = 64 << 10;

pub(super) fn options(max_bytes: u64) -> CacheOptions {
    let class = ClassOptions {
        max_bytes,
        block_len: BLOCK_LEN,
    };
    CacheOptions::disk().with_class(CLASS, class)
}

pub(super) fn open(folder: &Path, max_bytes: u64) -> DiskCache {
    DiskCache::open(folder, &options(max_bytes)).unwrap()
}

/// Returns bytes of an object that depend on their position.
pub(super) fn object_bytes(range: Range<u64>) -> Bytes {
    range.map(|at| (at / 251 + at) as u8).collect()
}

pub(super) async fn put_block(cache: &DiskCache, number: u64) {
    let start = number * BLOCK_LEN;
    let bytes = object_bytes(start..start + BLOCK_LEN);
    cache.put("a", start, bytes, CLASS).await;
    cache.flush().await;
}

/// Returns whether the cache has a whole block, after a check of the bytes.
pub(super) async fn holds_block(cache: &DiskCache, number: u64) -> bool {
    let range = number * BLOCK_LEN..(number + 1) * BLOCK_LEN;
    match &cache.get("a", range.clone(), CLASS).await[..] {
        [] => false,
        [piece] => {
            assert_eq!(piece.offset, range.start);
            assert_eq!(piece.bytes, object_bytes(range));
            true
        }
        pieces => panic!("{} pieces of one block", pieces.len()),
    }
}

pub(super) fn stats(cache: &DiskCache) -> ClassStats {
    cache.stats().layers[0].class(CLASS)
}

/// Returns the files of the class, including temporary ones.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let class = folder.join(FORMAT_FOLDER).join(CLASS.as_str());
    let folders = fs::read_dir(class).into_iter().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

/// A reader gets adjacent blocks without copying: 2.5 MB of a column are in ten blocks.
#[tokio::test]
async fn blocks_that_follow_one_another_come_as_one_piece() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 16 << 20);
    for number in [0, 1, 2, 4, 5, 63, 64] {
        put_block(&cache, number).await;
    }
    // Starts and ends of the expected pieces.
    let check = |range: Range<u64>, expected: &[(u64, u64)]| {
        let (cache, expected) = (&cache, expected.to_vec());
        async move {
            let pieces = cache.get("a", range, CLASS).await;
            for piece in &pieces {
                assert_eq!(piece.bytes, object_bytes(piece.offset..piece.end()));
            }
            let found: Vec<(u64, u64)> = pieces.iter().map(|p| (p.offset, p.end())).collect();
            assert_eq!(found, expected);
        }
    };
    let block = |number: u64| number * BLOCK_LEN;
    check(0..block(3), &[(0, block(3))]).await;
    check(70_000..190_000, &[(70_000, 190_000)]).await;
    check(
        100..block(6) - 7,
        &[(100, block(3)), (block(4), block(6) - 7)],
    )
    .await;
    check(block(3)..block(4), &[]).await;
    // This range crosses the limit of one thread's read.
    check(block(63)..block(65), &[(block(63), block(65))]).await;
}

#[tokio::test]
async fn what_was_flushed_is_there_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 16 << 20);
    for number in 0..20 {
        let bytes = object_bytes(number * BLOCK_LEN..(number + 1) * BLOCK_LEN);
        cache.put("a", number * BLOCK_LEN, bytes, CLASS).await;
    }
    let manifest = Bytes::from_static(b"manifest");
    cache
        .put_entry("m", manifest.clone(), ByteClass::Manifest)
        .await;
    cache.flush().await;
    drop(cache);
    let cache = open(folder.path(), 16 << 20);
    for number in 0..20 {
        assert!(holds_block(&cache, number).await);
    }
    let entry = cache.get_entry("m", ByteClass::Manifest).await;
    assert_eq!(entry, Some(manifest));
}

#[tokio::test]
async fn a_hundred_short_runs_keep_what_each_has_added() {
    let folder = TempDir::new().unwrap();
    for run in 0..100 {
        let cache = open(folder.path(), 256 << 20);
        for number in run * 5..(run + 1) * 5 {
            put_block(&cache, number).await;
        }
    }
    let cache = open(folder.path(), 256 << 20);
    for number in 0..500 {
        assert!(holds_block(&cache, number).await);
    }
}

#[tokio::test]
async fn another_cache_on_the_folder_sees_what_the_first_has_written() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (open(folder.path(), 16 << 20), open(folder.path(), 32 << 20));
    put_block(&one, 0).await;
    assert!(holds_block(&two, 0).await);
    two.put_entry("k", Bytes::from_static(b"2"), CLASS).await;
    two.flush().await;
    assert_eq!(one.get_entry("k", CLASS).await.as_deref(), Some(&b"2"[..]));
}

#[tokio::test]
async fn another_block_length_is_a_miss_and_nothing_worse() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 16 << 20);
    put_block(&cache, 0).await;
    let class = ClassOptions {
        max_bytes: 16 << 20,
        block_len: 1 << 20,
    };
    let longer = DiskCache::open(folder.path(), &options(0).with_class(CLASS, class)).unwrap();
    assert!(!holds_block(&longer, 0).await);
    let bytes = object_bytes(0..3 << 20);
    longer.put("a", 0, bytes.clone(), CLASS).await;
    longer.flush().await;
    for range in [
        0..3 << 20,
        70_000..70_001,
        131_071..131_073,
        1_000_000..1_100_000,
    ] {
        let mut at = range.start;
        for piece in longer.get("a", range.clone(), CLASS).await {
            assert_eq!(piece.offset, at);
            assert_eq!(piece.bytes, bytes[at as usize..piece.end() as usize]);
            at = piece.end();
        }
        assert_eq!(at, range.end);
    }
    assert!(holds_block(&cache, 0).await);
}

#[tokio::test]
async fn one_process_stays_within_its_budget() {
    for max_bytes in [128 << 10, 2 << 20, 40 << 20] {
        let folder = TempDir::new().unwrap();
        let cache = open(folder.path(), max_bytes);
        for number in 0..2 * max_bytes / BLOCK_LEN {
            put_block(&cache, number).await;
            if number % 16 == 0 {
                assert!(cache.measure_bytes() <= max_bytes);
            }
        }
        let held = cache.measure_bytes();
        let expect = match max_bytes {
            0..=200_000 => BLOCK_LEN,
            _ => max_bytes * 3 / 4,
        };
        assert!(expect <= held && held <= max_bytes, "{held} of {max_bytes}");
        assert!(stats(&cache).num_evictions > 0);
        assert_eq!(stats(&cache).num_dropped_puts, 0);
    }
}

#[tokio::test]
async fn each_further_process_adds_a_sixteenth_at_most() {
    let folder = TempDir::new().unwrap();
    let max_bytes = 8 << 20;
    let caches: Vec<_> = (0..3).map(|_| open(folder.path(), max_bytes)).collect();
    for number in 0..400 {
        put_block(&caches[number as usize % 3], number).await;
        let most = max_bytes + 2 * (max_bytes / 16 + 2 * BLOCK_LEN);
        let held = caches[0].measure_bytes();
        assert!(held <= most, "{held} of {max_bytes}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_that_read_while_others_evict_get_whole_blocks_or_none() {
    let folder = TempDir::new().unwrap();
    let caches = Arc::new([open(folder.path(), 2 << 20), open(folder.path(), 2 << 20)]);
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let caches = caches.clone();
            tokio::spawn(async move {
                let mut num_hits = 0;
                for step in 0..300 {
                    let number = (step * 7 + task * 13) % 40;
                    put_block(&caches[task as usize % 2], number).await;
                    let other = &caches[(task as usize + 1) % 2];
                    num_hits += u64::from(holds_block(other, number).await);
                }
                num_hits
            })
        })
        .collect();
    let mut num_hits = 0;
    for task in tasks {
        num_hits += task.await.unwrap();
    }
    assert!(num_hits > 0);
    for cache in caches.iter() {
        assert!(stats(cache).num_evictions > 0);
        assert_eq!(stats(cache).num_corrupt, 0);
    }
}

#[tokio::test]
async fn a_budget_of_nothing_keeps_nothing() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 0);
    put_block(&cache, 0).await;
    cache.put_entry("k", Bytes::from_static(b"v"), CLASS).await;
    cache.flush().await;
    assert_eq!(cache.measure_bytes(), 0);
    assert_eq!(stats(&cache).num_dropped_puts, 2);
}

#[tokio::test]
async fn the_least_recently_used_file_goes_first() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 2 << 20);
    put_block(&cache, 0).await;
    let first = files(folder.path());
    for number in 1..28 {
        put_block(&cache, number).await;
    }
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for path in files(folder.path()) {
        let age = Duration::from_secs(if path == first[0] { 3600 } else { 0 });
        File::open(&path)
            .unwrap()
            .set_modified(long_ago - age)
            .unwrap();
    }
    assert!(holds_block(&cache, 0).await);
    for number in 28..34 {
        put_block(&cache, number).await;
    }
    assert!(stats(&cache).num_evictions > 0);
    assert!(holds_block(&cache, 0).await);
    for number in 28..34 {
        assert!(holds_block(&cache, number).await);
    }
}

#[tokio::test]
async fn what_a_killed_process_was_writing_goes_when_it_is_old() {
    let folder = TempDir::new().unwrap();
    put_block(&open(folder.path(), 2 << 20), 0).await;
    let file = files(folder.path()).remove(0);
    let [old, new] = ["0-0", "0-1"].map(|name| {
        let path = file.with_file_name(format!("{}{name}", canter_stores::cache::TEMPORARY_PREFIX));
        fs::write(&path, [0; 5000]).unwrap();
        path
    });
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    File::options()
        .write(true)
        .open(&old)
        .and_then(|file| file.set_modified(long_ago))
        .unwrap();
    // A process lists a folder before its first write there.
    put_block(&open(folder.path(), 2 << 20), 1).await;
    assert!(!old.exists() && new.exists());
}

#[tokio::test]
async fn a_put_that_the_queue_cannot_take_is_dropped_and_counted() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 1 << 30);
    let bytes = Bytes::from(vec![1; 65 << 20]);
    cache.put_entry("k", bytes, CLASS).await;
    cache.flush().await;
    assert_eq!(stats(&cache).num_dropped_puts, 1);
    assert_eq!(cache.measure_bytes(), 0);
}

#[tokio::test]
async fn of_a_range_longer_than_the_queue_a_part_is_kept() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 1 << 30);
    let bytes = Bytes::from(vec![1; 100 << 20]);
    cache.put("a", 5, bytes, CLASS).await;
    cache.flush().await;
    let stats = stats(&cache);
    assert!(stats.num_put_bytes >= 56 << 20, "{stats:?}");
    let held = cache.get("a", 0..1 << 30, CLASS).await;
    let held: u64 = held.iter().map(|piece| piece.bytes.len() as u64).sum();
    assert_eq!(held, stats.num_put_bytes);
}

#[tokio::test]
async fn the_same_bytes_again_are_not_written_again() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 2 << 20);
    put_block(&cache, 0).await;
    let path = files(folder.path()).remove(0);
    // A rewritten file would be a new file, without this mark.
    let mark = SystemTime::now() - Duration::from_secs(5);
    File::open(&path).unwrap().set_modified(mark).unwrap();
    put_block(&cache, 0).await;
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), mark);
}

#[test]
fn it_works_without_an_async_runtime() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path(), 2 << 20);
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(put_block(&cache, 0));
    let future = holds_block(&cache, 0);
    assert_eq!(future.now_or_never(), Some(true));
}

#[test]
fn a_folder_that_cannot_be_used_is_a_clear_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "x").unwrap();
    let error = DiskCache::open(&path, &options(0)).err().unwrap();
    assert!(error.message.contains("cannot be used"), "{error}");
    assert!(error.message.contains("file"), "{error}");
    let path = folder.path().join("new/deep");
    assert!(DiskCache::open(&path, &options(0)).is_ok());
}

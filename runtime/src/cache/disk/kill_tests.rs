//! Processes that share a folder, and are killed while they write to it.
//!
//! The test binary runs itself: with [`FOLDER_VAR`], the test is a process that writes endlessly.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::*;
use crate::cache::ClassOptions;

const FOLDER_VAR: &str = "CANTER_TEST_CACHE_FOLDER";
const SEED_VAR: &str = "CANTER_TEST_CACHE_SEED";
const THIS_TEST: &str =
    "cache::disk::kill_tests::killed_two_hundred_times_it_never_gives_a_wrong_byte";

const NUM_ROUNDS: u64 = 200;
const CLASS: ByteClass = ByteClass::DocStore;
const OBJECTS: [&str; 3] = ["one", "two", "three"];
const OBJECT_LEN: u64 = 3 << 20;
const NUM_ENTRIES: u64 = 20;
/// Less than is written, so that eviction runs all the time.
const MAX_BYTES: u64 = 4 << 20;

fn open(folder: &Path) -> DiskCache {
    let class = ClassOptions {
        max_bytes: MAX_BYTES,
        block_len: 64 << 10,
    };
    DiskCache::open(folder, &CacheOptions::disk().with_class(CLASS, class)).unwrap()
}

fn draw(seed: u64, number: u64) -> u64 {
    xxh3_64_with_seed(&number.to_le_bytes(), seed)
}

/// Returns bytes that depend on their object and position.
fn object_bytes(object: usize, range: Range<u64>) -> Bytes {
    range
        .map(|at| (at / 8 * 31 + at + 77 * object as u64) as u8)
        .collect()
}

/// Returns an entry that contains its key and its length.
fn entry_bytes(key: u64, len: u64) -> Bytes {
    let word = key << 32 | len;
    (0..len).flat_map(|_| word.to_le_bytes()).collect()
}

/// Writes until the process is killed, or for about ten seconds.
async fn write_on(folder: &Path, seed: u64) {
    let cache = open(folder);
    println!("writing");
    for number in 0..20_000u64 {
        let [object, offset, len, key] = [0, 1, 2, 3].map(|at| draw(seed, number * 4 + at));
        let object = object as usize % OBJECTS.len();
        let offset = offset % OBJECT_LEN;
        let end = (offset + len % 200_000).min(OBJECT_LEN);
        let bytes = object_bytes(object, offset..end);
        cache.put(OBJECTS[object], offset, bytes, CLASS).await;
        let (key, len) = (key % NUM_ENTRIES, len % 5000);
        let entry = entry_bytes(key, len);
        cache.put_entry(&format!("entry {key}"), entry, CLASS).await;
        if number % 8 == 0 {
            cache.flush().await;
        }
    }
}

/// Writing process, which is killed on drop.
struct Writing(Child);

impl Writing {
    /// Starts a process and waits until it writes.
    fn start(folder: &Path, seed: u64) -> Writing {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([THIS_TEST, "--exact", "--nocapture", "--test-threads=1"])
            .env(FOLDER_VAR, folder)
            .env(SEED_VAR, seed.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut writing = Writing(child);
        let lines = BufReader::new(writing.0.stdout.take().unwrap()).lines();
        let is_sign = |line: &Result<String, _>| line.as_ref().unwrap().contains("writing");
        assert!({ lines }.any(|line| is_sign(&line)), "it never began");
        writing
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Checks the whole content of the cache, and returns its number of bytes.
async fn verify(cache: &DiskCache) -> u64 {
    let mut num_bytes = 0;
    for (ord, object) in OBJECTS.iter().enumerate() {
        for piece in cache.get(object, 0..OBJECT_LEN, CLASS).await {
            let expect = object_bytes(ord, piece.offset..piece.end());
            assert!(piece.bytes == expect, "{object} at {}", piece.offset);
            num_bytes += piece.bytes.len() as u64;
        }
    }
    for key in 0..NUM_ENTRIES {
        if let Some(entry) = cache.get_entry(&format!("entry {key}"), CLASS).await {
            assert!(entry == entry_bytes(key, entry.len() as u64 / 8), "{key}");
            num_bytes += entry.len() as u64;
        }
    }
    num_bytes
}

#[tokio::test]
async fn killed_two_hundred_times_it_never_gives_a_wrong_byte() {
    if let Some(folder) = std::env::var_os(FOLDER_VAR) {
        let seed = std::env::var(SEED_VAR).unwrap().parse().unwrap();
        return write_on(Path::new(&folder), seed).await;
    }
    let folder = TempDir::new().unwrap();
    let mut num_bytes = 0;
    for round in 0..NUM_ROUNDS {
        // In every other round, two processes write concurrently.
        let writing: Vec<_> = (0..=round % 2)
            .map(|process| Writing::start(folder.path(), 2 * round + process))
            .collect();
        let micros = draw(1, round) % 20_000;
        tokio::time::sleep(Duration::from_micros(micros)).await;
        let is_read_meanwhile = round % 4 == 3;
        if is_read_meanwhile {
            num_bytes += verify(&open(folder.path())).await;
        }
        drop(writing);
        let cache = open(folder.path());
        num_bytes += verify(&cache).await;
        let stats = cache.stats().layers[0].class(CLASS);
        // Files are either complete or absent: a kill causes no checksum errors.
        assert_eq!(stats.num_corrupt, 0, "round {round}");
        let most = MAX_BYTES + MAX_BYTES / 16 + (1 << 20);
        assert!(cache.measure_bytes() <= most, "{}", cache.measure_bytes());
    }
    assert!(num_bytes > NUM_ROUNDS * MAX_BYTES / 4, "{num_bytes}");
}

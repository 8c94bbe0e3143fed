//! Conformance tests that apply to every cache: memory, disk, and combinations of both.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "a list of runs that happens to have one run"
)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{CacheOptions, ClassOptions, DiskCache, MemoryCache, RangeCache, TieredCache};
use crate::session::ByteClass;

const CLASS: ByteClass = ByteClass::FastField;
const BLOCK_LEN: u64 = 64 << 10;

fn options() -> CacheOptions {
    let class = ClassOptions {
        max_bytes: 16 << 20,
        block_len: BLOCK_LEN,
    };
    CacheOptions::disk().with_class(CLASS, class)
}

/// Cache under test, with its folder.
struct Subject {
    name: &'static str,
    cache: Arc<dyn RangeCache>,
    _folder: Option<TempDir>,
}

fn subjects() -> Vec<Subject> {
    let memory = || Arc::new(MemoryCache::with_options(&options()).unwrap());
    let on_disk = |name, upper: Option<Arc<MemoryCache>>| {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(DiskCache::open(folder.path(), &options()).unwrap());
        let cache: Arc<dyn RangeCache> = match upper {
            Some(upper) => Arc::new(TieredCache::new(upper, disk)),
            None => disk,
        };
        Subject {
            name,
            cache,
            _folder: Some(folder),
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let disk = DiskCache::open(folder.path(), &options()).unwrap();
    let for_one_search = Subject {
        name: "tiered for one search",
        cache: Arc::new(TieredCache::new(memory(), Arc::new(disk)).for_one_search()),
        _folder: Some(folder),
    };
    vec![
        Subject {
            name: "memory",
            cache: memory(),
            _folder: None,
        },
        on_disk("disk", None),
        on_disk("tiered", Some(memory())),
        on_disk("tiered over nothing", Some(Arc::new(MemoryCache::new(0)))),
        for_one_search,
        on_disk(
            "tiered over little",
            Some(Arc::new(MemoryCache::new(2 * BLOCK_LEN as usize))),
        ),
    ]
}

/// Returns bytes of an object that depend on their position.
fn object_bytes(range: Range<u64>) -> Bytes {
    range.map(|at| (at / 251 + at) as u8).collect()
}

async fn put(cache: &dyn RangeCache, range: Range<u64>) {
    let bytes = object_bytes(range.clone());
    cache.put("a", range.start, bytes, CLASS).await;
    cache.flush().await;
}

/// Returns the runs of `range` that the cache has, joined if they touch.
async fn get(cache: &dyn RangeCache, range: Range<u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for piece in cache.get("a", range.clone(), CLASS).await {
        let held = piece.offset..piece.end();
        assert!(range.start <= held.start && held.end <= range.end);
        assert_eq!(piece.bytes, object_bytes(held.clone()));
        match runs.last_mut() {
            Some(last) if last.end == held.start => last.end = held.end,
            last => {
                assert!(last.is_none_or(|last| last.end < held.start));
                runs.push(held);
            }
        }
    }
    runs
}

#[tokio::test]
async fn a_range_inside_what_another_query_fetched_is_a_hit() {
    for Subject { name, cache, .. } in &subjects() {
        put(&**cache, 40_000..300_000).await;
        let held = get(&**cache, 60_000..140_000).await;
        assert_eq!(held, [60_000..140_000], "{name}");
    }
}

#[tokio::test]
async fn a_range_that_two_fetches_cover_together_is_a_hit() {
    for Subject { name, cache, .. } in &subjects() {
        put(&**cache, 70_000..150_000).await;
        put(&**cache, 0..70_000).await;
        let held = get(&**cache, 10..149_000).await;
        assert_eq!(held, [10..149_000], "{name}");
    }
}

#[tokio::test]
async fn what_is_missing_is_left_out() {
    for Subject { name, cache, .. } in &subjects() {
        put(&**cache, 0..65_536).await;
        put(&**cache, 131_072..140_000).await;
        let held = get(&**cache, 60_000..200_000).await;
        assert_eq!(held, [60_000..65_536, 131_072..140_000], "{name}");
        assert_eq!(get(&**cache, 500_000..500_001).await, [], "{name}");
        let (start, end) = (140_000, 60_000);
        assert_eq!(get(&**cache, start..end.max(start)).await, [], "{name}");
    }
}

#[tokio::test]
async fn fresh_bytes_replace_damaged_ones() {
    for Subject { name, cache, .. } in &subjects() {
        let damaged = Bytes::from(vec![0xff; 1000]);
        cache.put("a", 0, damaged, CLASS).await;
        put(&**cache, 0..500).await;
        put(&**cache, 500..1000).await;
        assert_eq!(get(&**cache, 0..1000).await, [0..1000], "{name}");
    }
}

#[tokio::test]
async fn objects_and_classes_are_kept_apart() {
    for Subject { name, cache, .. } in &subjects() {
        put(&**cache, 0..1000).await;
        assert!(cache.get("b", 0..1000, CLASS).await.is_empty(), "{name}");
        let other = cache.get("a", 0..1000, ByteClass::Postings).await;
        assert!(other.is_empty(), "{name}");
        assert_eq!(cache.get_entry("a", CLASS).await, None, "{name}");
    }
}

#[tokio::test]
async fn an_entry_comes_back_until_it_is_replaced() {
    for Subject { name, cache, .. } in &subjects() {
        for class in [ByteClass::Manifest, ByteClass::PartialResult] {
            assert_eq!(cache.get_entry("k", class).await, None, "{name}");
            for value in [&b"first"[..], b"", b"second, longer"] {
                let bytes = Bytes::from_static(value);
                cache.put_entry("k", bytes, class).await;
                cache.flush().await;
                let entry = cache.get_entry("k", class).await;
                assert_eq!(entry.as_deref(), Some(value), "{name}");
            }
            assert_eq!(cache.get_entry("other", class).await, None, "{name}");
        }
    }
}

#[tokio::test]
async fn an_entry_that_does_not_fit_takes_the_old_one_with_it() {
    for Subject { name, cache, .. } in &subjects() {
        cache
            .put_entry("k", Bytes::from_static(b"old"), CLASS)
            .await;
        let large = Bytes::from(vec![0; 17 << 20]);
        cache.put_entry("k", large, CLASS).await;
        cache.flush().await;
        assert_eq!(cache.get_entry("k", CLASS).await, None, "{name}");
    }
}

#[tokio::test]
async fn ranges_of_a_manifest_are_never_kept() {
    for Subject { name, cache, .. } in &subjects() {
        let class = ByteClass::Manifest;
        cache.put("manifest", 0, object_bytes(0..100), class).await;
        cache.flush().await;
        let held = cache.get("manifest", 0..100, class).await;
        assert!(held.is_empty(), "{name}");
    }
}

#[tokio::test]
async fn ranges_at_the_end_of_all_numbers_do_no_harm() {
    for Subject { name, cache, .. } in &subjects() {
        put(&**cache, 0..100).await;
        assert_eq!(get(&**cache, 0..u64::MAX).await, [0..100], "{name}");
        let bytes = Bytes::from_static(b"0123456789");
        for offset in [u64::MAX, u64::MAX - 5, u64::MAX - 10] {
            cache.put("a", offset, bytes.clone(), CLASS).await;
            cache.flush().await;
        }
        let held = cache.get("a", u64::MAX - 8..u64::MAX, CLASS).await;
        assert_eq!(held[0].bytes, bytes.slice(2..), "{name}");
    }
}

#[tokio::test]
async fn lookups_are_counted() {
    for Subject { name, cache, .. } in &subjects() {
        put(&**cache, 0..1000).await;
        get(&**cache, 10..20).await;
        get(&**cache, 990..1010).await;
        get(&**cache, 5000..5001).await;
        cache.get_entry("k", CLASS).await;
        let stats = cache.stats();
        let sum = |count: fn(&super::ClassStats) -> u64| -> u64 {
            let layers = stats.layers.iter();
            layers.map(|layer| count(&layer.class(CLASS))).sum()
        };
        assert_eq!(sum(|class| class.num_hits), 1, "{name}");
        assert!(sum(|class| class.num_misses) >= 3, "{name}");
        assert_eq!(sum(|class| class.num_hit_bytes), 20, "{name}");
        assert!(sum(|class| class.num_put_bytes) >= 1000, "{name}");
        assert_eq!(sum(|class| class.num_corrupt), 0, "{name}");
    }
}

/// Contiguous bytes in a block, with the position of the first one.
struct BytesAt {
    start: u64,
    bytes: Vec<u8>,
}

impl BytesAt {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// Model of a cache without eviction: one run of bytes in each block.
#[derive(Default)]
struct Model {
    blocks: BTreeMap<u64, BytesAt>,
}

impl Model {
    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        let mut start = offset;
        while start < end {
            let number = start / BLOCK_LEN;
            let end_inside = end.min((number + 1) * BLOCK_LEN);
            let inside = &bytes[(start - offset) as usize..(end_inside - offset) as usize];
            let fresh = BytesAt {
                start,
                bytes: inside.to_vec(),
            };
            let kept = match self.blocks.remove(&number) {
                Some(held) => Self::kept(held, fresh),
                None => fresh,
            };
            self.blocks.insert(number, kept);
            start = end_inside;
        }
    }

    /// Returns both runs joined if they touch, otherwise the longer one.
    fn kept(held: BytesAt, fresh: BytesAt) -> BytesAt {
        if held.end() < fresh.start || fresh.end() < held.start {
            return match fresh.bytes.len() >= held.bytes.len() {
                true => fresh,
                false => held,
            };
        }
        let start = held.start.min(fresh.start);
        let end = held.end().max(fresh.end());
        let mut bytes = vec![0; (end - start) as usize];
        for run in [&held, &fresh] {
            bytes[(run.start - start) as usize..][..run.bytes.len()].copy_from_slice(&run.bytes);
        }
        BytesAt { start, bytes }
    }

    /// Returns the bytes of `range`, as far as they are present.
    fn get(&self, range: &Range<u64>) -> Vec<Option<u8>> {
        let mut found = vec![None; (range.end - range.start) as usize];
        for run in self.blocks.values() {
            let inside = run.start.max(range.start)..run.end().min(range.end);
            for at in inside {
                found[(at - range.start) as usize] = Some(run.bytes[(at - run.start) as usize]);
            }
        }
        found
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_cache_holds_what_the_model_holds(
        calls in prop::collection::vec(
            (any::<bool>(), 0u64..200_000, 0u64..150_000, any::<u8>()), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // The upper one of two layers may keep another run than the lower one; then both are
        // returned.
        for subject in subjects().into_iter().filter(|it| !it.name.starts_with("tiered over l")) {
            let Subject { name, cache, .. } = &subject;
            let mut model = Model::default();
            for (is_put, offset, len, salt) in calls.iter().copied() {
                if is_put {
                    let bytes: Bytes =
                        object_bytes(offset..offset + len).iter().map(|byte| byte ^ salt).collect();
                    model.put(offset, &bytes);
                    runtime.block_on(async {
                        cache.put("a", offset, bytes, CLASS).await;
                        cache.flush().await;
                    });
                } else {
                    let range = offset..offset + len;
                    let pieces = runtime.block_on(cache.get("a", range.clone(), CLASS));
                    let mut found = vec![None; len as usize];
                    for piece in pieces {
                        prop_assert!(piece.offset >= offset, "{name} before {offset}");
                        for (at, byte) in (piece.offset - offset..).zip(piece.bytes) {
                            let place = found.get_mut(at as usize);
                            prop_assert!(place.is_some(), "{name} behind {offset} + {len}");
                            let former = place.and_then(|place| place.replace(byte));
                            prop_assert!(former.is_none(), "{name} twice {at}");
                        }
                    }
                    prop_assert!(found == model.get(&range), "{}", name);
                }
            }
        }
    }
}

//! The memory cache against what queries ask of it.

#![allow(
    clippy::single_range_in_vec_init,
    reason = "a list of runs that happens to have one run"
)]

use proptest::prelude::*;

use super::*;

const CLASS: ByteClass = ByteClass::FastField;

/// An object whose bytes tell their place.
fn object_bytes(range: Range<u64>) -> Bytes {
    range.map(|at| (at / 251 + at) as u8).collect()
}

fn put(cache: &MemoryCache, range: Range<u64>) {
    cache.put_pieces("a", range.start, &object_bytes(range.clone()), CLASS);
}

fn get(cache: &MemoryCache, range: Range<u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for piece in cache.get_pieces("a", range, CLASS) {
        let held = piece.offset..piece.offset + piece.bytes.len() as u64;
        assert_eq!(piece.bytes, object_bytes(held.clone()));
        match runs.last_mut() {
            Some(last) if last.end == held.start => last.end = held.end,
            _ => runs.push(held),
        }
    }
    runs
}

#[test]
fn a_range_inside_what_another_query_fetched_is_a_hit() {
    let cache = MemoryCache::new(1 << 20);
    put(&cache, 40_000..300_000);
    assert_eq!(get(&cache, 60_000..140_000), [60_000..140_000]);
}

#[test]
fn a_range_that_two_fetches_cover_together_is_a_hit() {
    let cache = MemoryCache::new(1 << 20);
    put(&cache, 0..70_000);
    put(&cache, 70_000..150_000);
    assert_eq!(get(&cache, 10..149_000), [10..149_000]);
}

#[test]
fn what_is_missing_is_left_out() {
    let cache = MemoryCache::new(1 << 20);
    put(&cache, 0..65_536);
    put(&cache, 131_072..140_000);
    assert_eq!(
        get(&cache, 60_000..200_000),
        [60_000..65_536, 131_072..140_000]
    );
    assert_eq!(get(&cache, 500_000..500_001), []);
}

#[test]
fn fresh_bytes_replace_damaged_ones() {
    let cache = MemoryCache::new(1 << 20);
    cache.put_pieces("a", 0, &Bytes::from(vec![0xff; 1000]), CLASS);
    put(&cache, 0..500);
    put(&cache, 500..1000);
    assert_eq!(get(&cache, 0..1000), [0..1000]);
}

#[test]
fn the_least_recently_used_block_goes_first() {
    let cache = MemoryCache::new(3 * (BLOCK_LEN as usize + ENTRY_OVERHEAD));
    for block in 0..3 {
        put(&cache, block * BLOCK_LEN..(block + 1) * BLOCK_LEN);
    }
    assert_eq!(get(&cache, 0..10), [0..10]);
    put(&cache, 3 * BLOCK_LEN..4 * BLOCK_LEN);
    assert_eq!(get(&cache, 0..10), [0..10]);
    assert_eq!(get(&cache, BLOCK_LEN..BLOCK_LEN + 10), []);
}

#[test]
fn a_class_with_its_own_budget_is_not_pushed_out() {
    let cache = MemoryCache::new(4 * BLOCK_LEN as usize)
        .with_class_budget(ByteClass::Head, 4 * BLOCK_LEN as usize);
    cache.put_pieces("a", 0, &object_bytes(0..BLOCK_LEN), ByteClass::Head);
    put(&cache, 0..40 * BLOCK_LEN);
    let held = cache.get_pieces("a", 0..BLOCK_LEN, ByteClass::Head);
    assert_eq!(held.len(), 1);
}

#[tokio::test]
async fn opaque_entries_come_back_and_are_bounded() {
    let cache = MemoryCache::new(2000);
    let class = ByteClass::PartialResult;
    cache.put_entry("k", Bytes::from_static(b"v"), class).await;
    assert_eq!(
        cache.get_entry("k", class).await.as_deref(),
        Some(&b"v"[..])
    );
    assert_eq!(cache.get_entry("other", class).await, None);
    cache
        .put_entry("large", Bytes::from(vec![0; 4000]), class)
        .await;
    assert_eq!(cache.get_entry("large", class).await, None);
}

proptest! {
    #[test]
    fn what_comes_out_is_what_went_in_and_memory_stays_bounded(
        calls in prop::collection::vec((any::<bool>(), 0u64..500_000, 0u64..200_000), 1..40),
        max_bytes in 0usize..600_000,
    ) {
        let cache = MemoryCache::new(max_bytes);
        for (is_put, offset, len) in calls {
            if is_put {
                put(&cache, offset..offset + len);
            } else {
                for run in get(&cache, offset..offset + len) {
                    prop_assert!(offset <= run.start && run.end <= offset + len);
                }
            }
            prop_assert!(cache.num_bytes() <= max_bytes);
        }
    }
}

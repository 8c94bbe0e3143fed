//! Tests of the memory cache's budgets. `conformance.rs` tests the properties of all caches.

use proptest::prelude::*;

use super::*;

const CLASS: ByteClass = ByteClass::Postings;
const BLOCK_LEN: u64 = 64 << 10;

fn put(cache: &MemoryCache, range: Range<u64>, class: ByteClass) {
    let bytes: Bytes = range.clone().map(|at| at as u8).collect();
    cache.put_pieces("a", range.start, &bytes, class);
}

fn holds(cache: &MemoryCache, range: Range<u64>, class: ByteClass) -> bool {
    !cache.get_pieces("a", range, class).is_empty()
}

#[test]
fn the_least_recently_used_block_goes_first() {
    let cache = MemoryCache::new(3 * (BLOCK_LEN as usize + ENTRY_OVERHEAD));
    for block in 0..3 {
        put(&cache, block * BLOCK_LEN..(block + 1) * BLOCK_LEN, CLASS);
    }
    assert!(holds(&cache, 0..10, CLASS));
    put(&cache, 3 * BLOCK_LEN..4 * BLOCK_LEN, CLASS);
    assert!(holds(&cache, 0..10, CLASS));
    assert!(!holds(&cache, BLOCK_LEN..BLOCK_LEN + 10, CLASS));
    let stats = cache.stats().layers[0].class(CLASS);
    assert_eq!(stats.num_evictions, 1);
}

#[test]
fn a_class_with_its_own_budget_is_not_pushed_out() {
    let cache = MemoryCache::new(4 * BLOCK_LEN as usize)
        .with_class_budget(ByteClass::Head, 4 * BLOCK_LEN as usize);
    put(&cache, 0..BLOCK_LEN, ByteClass::Head);
    put(&cache, 0..40 * BLOCK_LEN, CLASS);
    assert!(holds(&cache, 0..BLOCK_LEN, ByteClass::Head));
}

#[test]
fn each_class_keeps_to_its_budget_and_its_block_length() {
    let mut options = CacheOptions::memory();
    for class in ByteClass::ALL {
        let block_len = BLOCK_LEN << (class.ord() % 4);
        let max_bytes = 4 * block_len;
        options = options.with_class(
            class,
            crate::cache::ClassOptions {
                max_bytes,
                block_len,
            },
        );
    }
    let cache = MemoryCache::with_options(&options).unwrap();
    for class in &ByteClass::ALL[1..] {
        put(&cache, 0..5 << 20, *class);
        assert_eq!(cache.block_len(*class), options.class(*class).block_len);
    }
    let stats = cache.stats().layers[0].clone();
    for class in &ByteClass::ALL[1..] {
        let held = stats.class(*class).held_bytes.unwrap();
        let max = options.class(*class).max_bytes;
        assert!(
            max * 3 / 4 <= held && held <= max,
            "{class:?}: {held} of {max}"
        );
    }
}

#[tokio::test]
async fn an_entry_over_the_budget_is_not_kept() {
    let cache = MemoryCache::new(2000);
    let class = ByteClass::PartialResult;
    let large = Bytes::from(vec![0; 4000]);
    cache.put_entry("large", large, class).await;
    assert_eq!(cache.get_entry("large", class).await, None);
    assert_eq!(cache.num_bytes(), 0);
}

proptest! {
    #[test]
    fn memory_stays_bounded(
        calls in prop::collection::vec((any::<bool>(), 0u64..500_000, 0u64..200_000), 1..40),
        max_bytes in 0usize..600_000,
    ) {
        let cache = MemoryCache::new(max_bytes);
        for (is_put, offset, len) in calls {
            match is_put {
                true => put(&cache, offset..offset + len, CLASS),
                false => {
                    cache.get_pieces("a", offset..offset + len, CLASS);
                }
            }
            prop_assert!(cache.num_bytes() <= max_bytes);
            let stats = cache.stats().layers[0].clone();
            let held = stats.classes.iter().filter_map(|class| class.held_bytes);
            prop_assert_eq!(held.sum::<u64>(), cache.num_bytes() as u64);
        }
    }
}

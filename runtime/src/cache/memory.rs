//! Least-recently-used cache in RAM, limited in bytes. `canter_stores::ranges` implements its
//! blocks.

use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use canter_stores::cache::Counters;
use canter_stores::ranges::blocks::{blocks_of, overlay};
use futures_util::future::{BoxFuture, FutureExt, ready};
use lru::LruCache;

use super::{CacheOptions, CacheStats, CachedPiece, LayerStats, RangeCache};
use crate::SearchError;
use crate::session::ByteClass;

/// Approximate overhead of an entry: key, list and hash table.
const ENTRY_OVERHEAD: usize = 128;

/// Least-recently-used cache in RAM.
pub struct MemoryCache {
    options: CacheOptions,
    parts: Vec<Mutex<Part>>,
    /// Index in `parts` for each class.
    part_of: [usize; ByteClass::ALL.len()],
    counters: Counters,
    hasher: RandomState,
}

impl MemoryCache {
    /// Creates a cache of at most `max_bytes`, shared by all classes, with the default block
    /// lengths.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            options: CacheOptions::memory(),
            parts: vec![Mutex::new(Part::new(max_bytes))],
            part_of: [0; ByteClass::ALL.len()],
            counters: Counters::default(),
            hasher: RandomState::new(),
        }
    }

    /// Creates a cache with a budget and a block length for each class.
    pub fn with_options(options: &CacheOptions) -> Result<Self, SearchError> {
        options.validate()?;
        let budget_of = |class| usize::try_from(options.class(class).max_bytes);
        Ok(Self {
            parts: ByteClass::ALL
                .map(|class| Mutex::new(Part::new(budget_of(class).unwrap_or(usize::MAX))))
                .into(),
            part_of: ByteClass::ALL.map(ByteClass::ord),
            options: options.clone(),
            counters: Counters::default(),
            hasher: RandomState::new(),
        })
    }

    /// Gives one class a separate budget of `max_bytes`, so that other classes cannot evict its
    /// entries.
    pub fn with_class_budget(mut self, class: ByteClass, max_bytes: usize) -> Self {
        self.part_of[class.ord()] = self.parts.len();
        self.parts.push(Mutex::new(Part::new(max_bytes)));
        self
    }

    /// Returns the number of used bytes, including the overhead of entries.
    pub fn num_bytes(&self) -> usize {
        (0..self.parts.len())
            .map(|part| self.lock(part).num_bytes)
            .sum()
    }

    fn lock(&self, part: usize) -> MutexGuard<'_, Part> {
        self.parts[part]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, class: ByteClass) -> MutexGuard<'_, Part> {
        self.lock(self.part_of[class.ord()])
    }

    fn get_pieces(&self, object: &str, range: Range<u64>, class: ByteClass) -> Vec<CachedPiece> {
        let block_len = self.options.class(class).block_len;
        let object = self.object_hash(object);
        let mut part = self.part(class);
        let mut pieces = Vec::new();
        for block in blocks_of(&range, block_len) {
            let key = Key::Block(class, object, block.number);
            pieces.extend(part.entries.get(&key).and_then(|held| held.clip(&range)));
        }
        drop(part);
        let num_bytes = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
        let wanted = range.end.saturating_sub(range.start);
        self.counters.class(class).looked_up(wanted, num_bytes);
        pieces
    }

    fn put_pieces(&self, object: &str, offset: u64, bytes: &Bytes, class: ByteClass) {
        let Some(end) = offset.checked_add(bytes.len() as u64) else {
            return;
        };
        if class == ByteClass::Manifest {
            return;
        }
        let block_len = self.options.class(class).block_len;
        let object = self.object_hash(object);
        let mut part = self.part(class);
        let mut num_evicted = 0;
        for block in blocks_of(&(offset..end), block_len) {
            let key = Key::Block(class, object, block.number);
            let slice = (block.range.start - offset) as usize..(block.range.end - offset) as usize;
            num_evicted += part.put_block(key, block.range.start, &bytes[slice]);
        }
        drop(part);
        self.counters.class(class).took_in(bytes.len() as u64);
        self.counters.class(class).evicted(num_evicted);
    }

    /// Returns a 128-bit keyed hash of an object's name, which keeps the keys of blocks small.
    fn object_hash(&self, object: &str) -> u128 {
        let low = self.hasher.hash_one((0u8, object));
        let high = self.hasher.hash_one((1u8, object));
        u128::from(high) << 64 | u128::from(low)
    }

    fn layer_stats(&self) -> LayerStats {
        let mut stats = self.counters.snapshot("memory");
        for (class, part) in self.part_of.into_iter().enumerate() {
            let is_first = self.part_of.iter().position(|other| *other == part) == Some(class);
            stats.classes[class].held_bytes = Some(match is_first {
                true => self.lock(part).num_bytes as u64,
                false => 0,
            });
        }
        stats
    }
}

impl RangeCache for MemoryCache {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.options.class(class).block_len
    }

    fn get<'a>(
        &'a self,
        object: &'a str,
        range: Range<u64>,
        class: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        ready(self.get_pieces(object, range, class)).boxed()
    }

    fn put<'a>(
        &'a self,
        object: &'a str,
        offset: u64,
        bytes: Bytes,
        class: ByteClass,
    ) -> BoxFuture<'a, ()> {
        self.put_pieces(object, offset, &bytes, class);
        ready(()).boxed()
    }

    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        let mut part = self.part(class);
        let entry = part.entries.get(&Key::Entry(class, key.to_owned()));
        let entry = entry.map(|entry| entry.bytes.clone());
        drop(part);
        let found = entry.as_ref().map(Bytes::len);
        self.counters.class(class).looked_up_entry(found);
        ready(entry).boxed()
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        let num_bytes = bytes.len() as u64;
        let entry = CachedPiece { offset: 0, bytes };
        let num_evicted = self
            .part(class)
            .insert(Key::Entry(class, key.to_owned()), entry);
        self.counters.class(class).took_in(num_bytes);
        self.counters.class(class).evicted(num_evicted);
        ready(()).boxed()
    }

    fn stats(&self) -> CacheStats {
        CacheStats {
            layers: vec![self.layer_stats()],
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Hash of the object's name, number of the block.
    Block(ByteClass, u128, u64),
    Entry(ByteClass, String),
}

/// Entries that share one budget. An opaque entry is a piece at offset 0.
struct Part {
    entries: LruCache<Key, CachedPiece>,
    num_bytes: usize,
    max_bytes: usize,
}

impl Part {
    fn new(max_bytes: usize) -> Self {
        Self {
            entries: LruCache::unbounded(),
            num_bytes: 0,
            max_bytes,
        }
    }

    /// Stores `bytes` of one block, joined with the present bytes if both touch. Returns the number
    /// of evicted entries.
    fn put_block(&mut self, key: Key, offset: u64, bytes: &[u8]) -> u64 {
        let entry = match self.entries.get(&key) {
            None => Some(CachedPiece {
                offset,
                bytes: Bytes::copy_from_slice(bytes),
            }),
            Some(held) => overlay(held, offset, bytes),
        };
        entry.map_or(0, |entry| self.insert(key, entry))
    }

    /// Stores an entry and returns the number of evicted ones. An entry that is too large for the
    /// cache removes the old one that it should replace.
    fn insert(&mut self, key: Key, entry: CachedPiece) -> u64 {
        let cost = cost_of(&key, &entry);
        if cost > self.max_bytes {
            if let Some(old) = self.entries.pop(&key) {
                self.num_bytes -= cost_of(&key, &old);
            }
            return 0;
        }
        self.num_bytes += cost;
        if let Some((old_key, old)) = self.entries.push(key, entry) {
            self.num_bytes -= cost_of(&old_key, &old);
        }
        let mut num_evicted = 0;
        while self.num_bytes > self.max_bytes {
            let Some((key, entry)) = self.entries.pop_lru() else {
                break;
            };
            self.num_bytes -= cost_of(&key, &entry);
            num_evicted += 1;
        }
        num_evicted
    }
}

fn cost_of(key: &Key, entry: &CachedPiece) -> usize {
    let key_len = match key {
        Key::Block(..) => 0,
        Key::Entry(_, key) => key.len(),
    };
    key_len + entry.bytes.len() + ENTRY_OVERHEAD
}

#[cfg(test)]
mod tests;

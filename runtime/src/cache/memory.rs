//! A least-recently-used cache in RAM, bounded in bytes.
//!
//! Objects are kept in blocks of 64 KiB, cut at multiples of 64 KiB of the object. Queries ask for
//! different ranges of the same column or dictionary, and the driver merges them differently each
//! time, so exact ranges would rarely be asked for twice; blocks are. A block may be partly filled
//! (the head ends anywhere, and a read may be smaller than a block):
//!
//! ```text
//!   object     |0        64K|        128K|        192K|
//!   put 40K..150K     [=====|============|===]
//!   blocks            0: 40K..64K   1: all    2: 128K..150K
//!   get 60K..140K         [=|============|=]            a hit: three pieces
//! ```

use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use futures_util::future::{BoxFuture, FutureExt, ready};
use lru::LruCache;

use super::{CachedPiece, RangeCache};
use crate::session::ByteClass;

/// Length of a cached block: 64 KiB.
pub const BLOCK_LEN: u64 = 64 << 10;

/// What an entry costs beyond its bytes, about: key, list and hash table.
const ENTRY_OVERHEAD: usize = 128;

/// A least-recently-used cache in RAM.
pub struct MemoryCache {
    parts: Vec<Mutex<Part>>,
    /// Which of `parts` a class uses.
    part_of: [usize; ByteClass::ALL.len()],
    hasher: RandomState,
}

impl MemoryCache {
    /// A cache of at most `max_bytes`, shared by all classes.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            parts: vec![Mutex::new(Part::new(max_bytes))],
            part_of: [0; ByteClass::ALL.len()],
            hasher: RandomState::new(),
        }
    }

    /// Gives one class `max_bytes` of its own, so that no other class can push its entries out.
    pub fn with_class_budget(mut self, class: ByteClass, max_bytes: usize) -> Self {
        self.part_of[class.ord()] = self.parts.len();
        self.parts.push(Mutex::new(Part::new(max_bytes)));
        self
    }

    /// Bytes in use, the entries' own cost included.
    pub fn num_bytes(&self) -> usize {
        self.parts
            .iter()
            .map(|part| {
                part.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .num_bytes
            })
            .sum()
    }

    fn part(&self, class: ByteClass) -> MutexGuard<'_, Part> {
        self.parts[self.part_of[class.ord()]]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn get_pieces(&self, object: &str, range: Range<u64>, class: ByteClass) -> Vec<CachedPiece> {
        let object = self.object_hash(object);
        let mut part = self.part(class);
        let mut pieces = Vec::new();
        for block in blocks_of(&range) {
            let Some(entry) = part.entries.get(&Key::Block(object, block)) else {
                continue;
            };
            let held = entry.offset..entry.offset + entry.bytes.len() as u64;
            let start = held.start.max(range.start);
            let end = held.end.min(range.end);
            if start < end {
                let slice = (start - held.start) as usize..(end - held.start) as usize;
                pieces.push(CachedPiece {
                    offset: start,
                    bytes: entry.bytes.slice(slice),
                });
            }
        }
        pieces
    }

    fn put_pieces(&self, object: &str, offset: u64, bytes: &Bytes, class: ByteClass) {
        let object = self.object_hash(object);
        let range = offset..offset + bytes.len() as u64;
        let mut part = self.part(class);
        for block in blocks_of(&range) {
            let start = range.start.max(block * BLOCK_LEN);
            let end = range.end.min((block + 1) * BLOCK_LEN);
            let slice = &bytes[(start - offset) as usize..(end - offset) as usize];
            part.put_block(Key::Block(object, block), start, slice);
        }
    }

    /// Objects are named by a 128-bit keyed hash, so that a block's key is small.
    fn object_hash(&self, object: &str) -> u128 {
        let low = self.hasher.hash_one((0u8, object));
        let high = self.hasher.hash_one((1u8, object));
        u128::from(high) << 64 | u128::from(low)
    }
}

/// The numbers of the blocks that `range` touches.
fn blocks_of(range: &Range<u64>) -> Range<u64> {
    match range.is_empty() {
        true => 0..0,
        false => range.start / BLOCK_LEN..(range.end - 1) / BLOCK_LEN + 1,
    }
}

impl RangeCache for MemoryCache {
    fn block_len(&self, _class: ByteClass) -> u64 {
        BLOCK_LEN
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
        let entry = part.entries.get(&Key::Entry(key.to_owned()));
        ready(entry.map(|entry| entry.bytes.clone())).boxed()
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        let mut part = self.part(class);
        part.insert(Key::Entry(key.to_owned()), Entry { offset: 0, bytes });
        ready(()).boxed()
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Hash of the object's name, number of the block.
    Block(u128, u64),
    Entry(String),
}

struct Entry {
    /// Where the bytes stand in the object; 0 for an opaque entry.
    offset: u64,
    bytes: Bytes,
}

/// One budget and the entries in it.
struct Part {
    entries: LruCache<Key, Entry>,
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

    /// Keeps `bytes` of one block, together with what the block already holds where the two touch.
    fn put_block(&mut self, key: Key, offset: u64, bytes: &[u8]) {
        let entry = match self.entries.peek(&key) {
            None => Some(Entry {
                offset,
                bytes: Bytes::copy_from_slice(bytes),
            }),
            Some(held) => overlay(held, offset, bytes),
        };
        if let Some(entry) = entry {
            self.insert(key, entry);
        }
    }

    fn insert(&mut self, key: Key, entry: Entry) {
        let cost = cost_of(&key, &entry);
        if cost > self.max_bytes {
            return;
        }
        self.num_bytes += cost;
        if let Some((old_key, old)) = self.entries.push(key, entry) {
            self.num_bytes -= cost_of(&old_key, &old);
        }
        while self.num_bytes > self.max_bytes {
            let Some((key, entry)) = self.entries.pop_lru() else {
                break;
            };
            self.num_bytes -= cost_of(&key, &entry);
        }
    }
}

/// The held bytes and the fresh ones as one run. Where both have a byte the fresh one stands: a range
/// is only fetched again when something was wrong with it. If the two do not touch, the longer one;
/// `None` if that is the held one.
fn overlay(held: &Entry, offset: u64, bytes: &[u8]) -> Option<Entry> {
    let end = offset + bytes.len() as u64;
    let held_end = held.offset + held.bytes.len() as u64;
    if held_end < offset || end < held.offset {
        return (bytes.len() >= held.bytes.len()).then(|| Entry {
            offset,
            bytes: Bytes::copy_from_slice(bytes),
        });
    }
    let start = offset.min(held.offset);
    let mut joined = BytesMut::zeroed((end.max(held_end) - start) as usize);
    let mut write = |at: u64, bytes: &[u8]| {
        let at = (at - start) as usize;
        joined[at..at + bytes.len()].copy_from_slice(bytes);
    };
    write(held.offset, &held.bytes);
    write(offset, bytes);
    Some(Entry {
        offset: start,
        bytes: joined.freeze(),
    })
}

fn cost_of(key: &Key, entry: &Entry) -> usize {
    let key_len = match key {
        Key::Block(..) => 0,
        Key::Entry(key) => key.len(),
    };
    key_len + entry.bytes.len() + ENTRY_OVERHEAD
}

#[cfg(test)]
mod tests;

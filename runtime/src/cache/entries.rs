//! Cache of entries that guests compute, without any fetched data.

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt, ready};

use super::{CachedPiece, MemoryCache, RangeCache};
use crate::session::ByteClass;

/// Keeps entries of guests, such as points in time, in memory, for a host without another cache.
pub struct EntryCache(MemoryCache);

impl EntryCache {
    /// Creates a cache of at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self(MemoryCache::new(max_bytes))
    }
}

impl RangeCache for EntryCache {
    fn block_len(&self, _: ByteClass) -> u64 {
        // Reads are not extended for this cache.
        1
    }

    fn get<'a>(
        &'a self,
        _: &'a str,
        _: Range<u64>,
        _: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        ready(Vec::new()).boxed()
    }

    fn put<'a>(&'a self, _: &'a str, _: u64, _: Bytes, _: ByteClass) -> BoxFuture<'a, ()> {
        ready(()).boxed()
    }

    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        match class {
            ByteClass::PartialResult => self.0.get_entry(key, class),
            _ => ready(None).boxed(),
        }
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        match class {
            ByteClass::PartialResult => self.0.put_entry(key, bytes, class),
            _ => ready(()).boxed(),
        }
    }
}

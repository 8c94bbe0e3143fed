//! Interface of a cache.

use std::ops::Range;

use bytes::Bytes;
use canter_stores::CachedPiece;
use futures_util::future::BoxFuture;

use super::CacheStats;
use crate::session::ByteClass;

/// Cache of ranges of immutable objects, and of entries under keys that only the guest interprets.
///
/// A cache may drop anything at any time. The calls are asynchronous because a cache may use a disk
/// or a network; an error counts as a miss. Reads of a disk take real time, so a host with a
/// virtual clock keeps the clock busy meanwhile.
///
/// Ranges of class [`ByteClass::Manifest`] are never cached, because manifests are replaced. A
/// manifest can be an entry, since a new entry replaces the previous one.
pub trait RangeCache: Send + Sync {
    /// Returns the length of the blocks in which the cache keeps objects, aligned to multiples of
    /// it. A host reads whole blocks if possible, so that similar queries share them.
    fn block_len(&self, class: ByteClass) -> u64;

    /// Returns the cached pieces of `range` of `object`: within the range, in order, without
    /// overlaps. The object name begins with the index's namespace.
    fn get<'a>(
        &'a self,
        object: &'a str,
        range: Range<u64>,
        class: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>>;

    /// Offers the bytes of `object` that begin at `offset`.
    fn put<'a>(
        &'a self,
        object: &'a str,
        offset: u64,
        bytes: Bytes,
        class: ByteClass,
    ) -> BoxFuture<'a, ()>;

    /// Returns the entry under an opaque key.
    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>>;

    /// Offers an entry under an opaque key.
    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()>;

    /// Waits until everything that was offered before is stored permanently or dropped. Only needed
    /// before the process ends.
    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns the statistics of the cache, layer by layer.
    fn stats(&self) -> CacheStats {
        CacheStats::default()
    }
}

//! The trait every cache implements.

use std::ops::Range;

use bytes::Bytes;
use canter_stores::CachedPiece;
use futures_util::future::BoxFuture;

use super::CacheStats;
use crate::session::ByteClass;

/// Keeps ranges of immutable objects, and entries under keys that only the guest understands.
///
/// A cache may forget anything at any time. The calls are asynchronous because a cache may sit on a
/// disk or behind a network; an error is a miss. A read of a disk is real work: a host that runs on a
/// virtual clock keeps the clock busy meanwhile.
///
/// Ranges of class [`ByteClass::Manifest`] are never kept, because a manifest is replaced; as an entry
/// it may be, since putting an entry replaces the one before.
pub trait RangeCache: Send + Sync {
    /// Length of the blocks in which the cache keeps objects, cut at multiples of it. A host reads
    /// whole blocks where it can, so that neighbouring queries share them.
    fn block_len(&self, class: ByteClass) -> u64;

    /// What the cache holds of `range` of `object`: pieces inside the range, in order, not
    /// overlapping. The object name begins with the index's namespace.
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

    /// The entry under an opaque key.
    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>>;

    /// Offers an entry under an opaque key.
    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()>;

    /// Waits until all that was offered before is where it will be found after a restart, or is
    /// dropped. Needed only by a process that is about to end.
    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// What the cache has done so far, layer by layer.
    fn stats(&self) -> CacheStats {
        CacheStats::default()
    }
}

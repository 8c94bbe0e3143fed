//! Cache that measures the time of its look-ups.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use canter_runtime::RangeCache;
use canter_runtime::cache::{CacheStats, CachedPiece};
use canter_runtime::clock::{Clock, VirtualClock};
use canter_runtime::session::ByteClass;
use futures_util::future::{BoxFuture, FutureExt};

/// Wrapper of a cache that measures the time of look-ups. It cannot advance a virtual clock by that
/// time itself: the runtime keeps the clock busy while it waits for a cache. Puts happen after the
/// search and are not measured.
pub(super) struct TimedCache {
    pub(super) inner: Arc<dyn RangeCache>,
    pub(super) clock: Arc<VirtualClock>,
    pub(super) spent_ns: Arc<AtomicU64>,
}

impl TimedCache {
    async fn time<T>(&self, look_up: impl Future<Output = T>) -> T {
        let _busy = self.clock.enter_busy();
        let started = Instant::now();
        let found = look_up.await;
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.spent_ns.fetch_add(took, Ordering::Relaxed);
        found
    }
}

impl RangeCache for TimedCache {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.inner.block_len(class)
    }

    fn get<'a>(
        &'a self,
        object: &'a str,
        range: Range<u64>,
        class: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        self.time(self.inner.get(object, range, class)).boxed()
    }

    fn put<'a>(
        &'a self,
        object: &'a str,
        offset: u64,
        bytes: Bytes,
        class: ByteClass,
    ) -> BoxFuture<'a, ()> {
        self.inner.put(object, offset, bytes, class)
    }

    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        self.time(self.inner.get_entry(key, class)).boxed()
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        self.inner.put_entry(key, bytes, class)
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        self.inner.flush()
    }

    fn stats(&self) -> CacheStats {
        self.inner.stats()
    }
}

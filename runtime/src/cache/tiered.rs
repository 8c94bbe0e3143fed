//! Fast cache in front of a persistent one.
//!
//! ```text
//!   get ─→ upper ── what it lacks ─→ lower ─→ put into upper ─→ upper's and lower's pieces
//!                                             (unless this is for one search)
//!   put ─→ both
//! ```

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};

use super::{CacheStats, CachedPiece, RangeCache};
use crate::session::ByteClass;

/// Two caches as one, usually memory over disk.
pub struct TieredCache {
    upper: Arc<dyn RangeCache>,
    lower: Arc<dyn RangeCache>,
    is_for_one_search: bool,
}

impl TieredCache {
    /// Creates a cache that reads from `upper` first, and copies pieces that only `lower` has to
    /// `upper`.
    pub fn new(upper: Arc<dyn RangeCache>, lower: Arc<dyn RangeCache>) -> Self {
        Self {
            upper,
            lower,
            is_for_one_search: false,
        }
    }

    /// Optimizes for a process that ends after one search, which hardly ever reads a range twice:
    /// `upper` only gets puts, for the time until `lower` has written them. Pieces of `lower` are
    /// not copied.
    pub fn for_one_search(mut self) -> Self {
        self.is_for_one_search = true;
        self
    }

    async fn get_pieces(
        &self,
        object: &str,
        range: Range<u64>,
        class: ByteClass,
    ) -> Vec<CachedPiece> {
        let mut pieces = self.upper.get(object, range.clone(), class).await;
        let gaps = gaps_of(&range, &pieces);
        let (Some(first), Some(last)) = (gaps.first(), gaps.last()) else {
            return pieces;
        };
        let lower = self.lower.get(object, first.start..last.end, class).await;
        for found in lower {
            let missing = gaps.partition_point(|gap| gap.end <= found.offset)
                ..gaps.partition_point(|gap| gap.start < found.end());
            for piece in gaps[missing].iter().filter_map(|gap| found.clip(gap)) {
                if !self.is_for_one_search {
                    let bytes = piece.bytes.clone();
                    self.upper.put(object, piece.offset, bytes, class).await;
                }
                pieces.push(piece);
            }
        }
        pieces.sort_unstable_by_key(|piece| piece.offset);
        pieces
    }
}

/// Returns the parts of `range` that no piece covers, in order.
fn gaps_of(range: &Range<u64>, pieces: &[CachedPiece]) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut at = range.start;
    for piece in pieces {
        if at < piece.offset {
            gaps.push(at..piece.offset);
        }
        at = piece.end();
    }
    if at < range.end {
        gaps.push(at..range.end);
    }
    gaps
}

impl RangeCache for TieredCache {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.upper.block_len(class).max(self.lower.block_len(class))
    }

    fn get<'a>(
        &'a self,
        object: &'a str,
        range: Range<u64>,
        class: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        self.get_pieces(object, range, class).boxed()
    }

    fn put<'a>(
        &'a self,
        object: &'a str,
        offset: u64,
        bytes: Bytes,
        class: ByteClass,
    ) -> BoxFuture<'a, ()> {
        async move {
            self.upper.put(object, offset, bytes.clone(), class).await;
            self.lower.put(object, offset, bytes, class).await;
        }
        .boxed()
    }

    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        async move {
            if let Some(entry) = self.upper.get_entry(key, class).await {
                return Some(entry);
            }
            let entry = self.lower.get_entry(key, class).await?;
            self.upper.put_entry(key, entry.clone(), class).await;
            Some(entry)
        }
        .boxed()
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        async move {
            self.upper.put_entry(key, bytes.clone(), class).await;
            self.lower.put_entry(key, bytes, class).await;
        }
        .boxed()
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        async move {
            self.upper.flush().await;
            self.lower.flush().await;
        }
        .boxed()
    }

    fn stats(&self) -> CacheStats {
        let mut stats = self.upper.stats();
        stats.layers.extend(self.lower.stats().layers);
        stats
    }
}

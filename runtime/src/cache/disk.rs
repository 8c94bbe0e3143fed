//! Cache in a folder, which survives restarts and crashes, and which any number of processes can
//! share.
//!
//! ```text
//!   get ─→ blocking thread ─→ open, read, check ─→ pieces        no index: the name is a hash of the key
//!   put ─→ bounded queue ─→ writer thread ─→ make room, write under a temporary name, rename
//! ```
//!
//! The format of the folder is that of `BlockFolder` in `canter_stores`, which hosts without
//! threads also use. This module adds the threads.
//!
//! **Integrity.** A file contains its full key, and checksums of its header and of each 64 KiB of
//! its bytes. A file that does not match counts as a miss and is removed. Nothing is synced to the
//! disk: a file that is incomplete after a power failure does not match either.
//!
//! **Limits.** Every group of folders is a separate least-recently-used cache. It is listed before
//! the first write of this process, and again after writes of a sixteenth of the group's budget.
//! One process stays within its budgets, plus the one file that it is writing; each other process
//! that writes at the same time may add a sixteenth. The modification time of a file is the time of
//! its last use; if the file system does not let readers set it, eviction uses the time of the
//! write.
//!
//! **Latency.** A put takes a lock and adds to a queue. If the disk is too slow for the queue,
//! full, or read-only, puts are dropped and counted, and the search continues.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use canter_stores::cache::BlockFolder;
use canter_stores::ranges::blocks::blocks_of;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt};
use tokio::runtime::Handle;

use super::{CacheOptions, CacheStats, CachedPiece, HeldFiles, MAX_BLOCK_LEN, RangeCache};
use crate::SearchError;
use crate::session::ByteClass;

mod queue;

use queue::{PutQueue, PutRequest, What};

/// Number of bytes that one thread reads into one buffer for a lookup: a multiple of any block
/// length.
const READ_LEN: u64 = MAX_BLOCK_LEN;
/// Maximum number of threads that read for one lookup.
const READS_AT_ONCE: usize = 4;

/// Maximum length of a queued part of a put: a multiple of any block length.
const PUT_LEN: u64 = 2 * MAX_BLOCK_LEN;

/// Cache in a folder. Data can be found as soon as it is written, which takes a moment: see
/// [`RangeCache::flush`], which a process should await before it ends. A
/// [`TieredCache`](super::TieredCache) finds it immediately.
pub struct DiskCache {
    store: Arc<BlockFolder>,
    queue: Arc<PutQueue>,
}

impl DiskCache {
    /// Opens the cache in `folder`, and creates a missing folder. Several caches of this process
    /// and of others can use one folder, each with its own options.
    ///
    /// Only invalid options and an unusable folder are errors. Valid content of the folder is used;
    /// other content is ignored or removed.
    pub fn open(folder: impl AsRef<Path>, options: &CacheOptions) -> Result<Self, SearchError> {
        options.validate()?;
        let folder = folder.as_ref();
        let store = BlockFolder::open(folder, options).map_err(|error| {
            SearchError::invalid(format!(
                "the cache folder {} cannot be used: {error}; name another folder, or search \
                 without one",
                folder.display()
            ))
        })?;
        let store = Arc::new(store);
        let queue = Arc::new(PutQueue::default());
        Ok(Self { store, queue })
    }

    /// Returns whether a cache of this format is in `folder`.
    pub fn is_in(folder: impl AsRef<Path>) -> bool {
        BlockFolder::is_in(folder.as_ref())
    }

    /// Measures the length of all blocks and entries by inspecting each of them.
    pub fn measure_bytes(&self) -> u64 {
        let classes = ByteClass::ALL.into_iter();
        classes.map(|class| self.measure(class).num_bytes).sum()
    }

    /// Measures the blocks and entries of one class by inspecting each of them.
    pub fn measure(&self, class: ByteClass) -> HeldFiles {
        self.store.measure(class)
    }

    /// Removes all blocks and entries, and returns their number. Searches can use the folder in the
    /// meantime, with misses, and may write to it.
    pub fn clear(&self) -> HeldFiles {
        self.store.clear()
    }

    /// Offers a range in parts, so that the beginning of a range is kept if it is longer than the
    /// queue.
    fn offer_range(&self, object: &str, piece: CachedPiece, class: ByteClass) {
        let Some(end) = piece.offset.checked_add(piece.bytes.len() as u64) else {
            return;
        };
        let object: Arc<str> = object.into();
        for part in blocks_of(&(piece.offset..end), PUT_LEN) {
            if let Some(piece) = piece.clip(&part.range) {
                let object = object.clone();
                self.offer(What::Range { object, piece }, class);
            }
        }
    }

    fn offer(&self, what: What, class: ByteClass) {
        let counters = self.store.counters().class(class);
        let num_bytes = what.num_bytes();
        match self.queue.push(PutRequest { what, class }, &self.store) {
            true => counters.took_in(num_bytes),
            false => counters.dropped_put(),
        }
    }
}

impl Drop for DiskCache {
    /// Drops the queued puts: a cache may forget, and the process should not wait.
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Reads a range in parts, several of them concurrently.
async fn get_pieces(
    store: Arc<BlockFolder>,
    object: Arc<str>,
    range: Range<u64>,
    class: ByteClass,
) -> Vec<CachedPiece> {
    // Parts start at the lookup's first block, so that a short range is always a single piece.
    let first = range.start - range.start % store.block_len(class);
    let from_first = range.start - first..range.end.saturating_sub(first);
    let parts = blocks_of(&from_first, READ_LEN);
    let reads = parts.map(|part| {
        let (store, object) = (store.clone(), object.clone());
        let part = first + part.range.start..first + part.range.end;
        off_the_async_threads(move || store.read_blocks(&object, &part, class))
    });
    let reads = stream::iter(reads).buffered(READS_AT_ONCE);
    let pieces: Vec<CachedPiece> = reads.concat().await;
    let num_bytes = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
    let wanted = range.end.saturating_sub(range.start);
    store.counters().class(class).looked_up(wanted, num_bytes);
    pieces
}

/// Runs `read` on a thread that may block. Without tokio, the caller waits for the disk.
async fn off_the_async_threads<T: Default + Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
) -> T {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(read).await.unwrap_or_default(),
        Err(_) => read(),
    }
}

impl RangeCache for DiskCache {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.store.block_len(class)
    }

    fn get<'a>(
        &'a self,
        object: &'a str,
        range: Range<u64>,
        class: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        let store = self.store.clone();
        get_pieces(store, object.into(), range, class).boxed()
    }

    fn put<'a>(
        &'a self,
        object: &'a str,
        offset: u64,
        bytes: Bytes,
        class: ByteClass,
    ) -> BoxFuture<'a, ()> {
        if class != ByteClass::Manifest {
            self.offer_range(object, CachedPiece { offset, bytes }, class);
        }
        std::future::ready(()).boxed()
    }

    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        let (store, key) = (self.store.clone(), key.to_owned());
        off_the_async_threads(move || store.read_entry(&key, class)).boxed()
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        let key = key.to_owned();
        self.offer(What::Entry { key, bytes }, class);
        std::future::ready(()).boxed()
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        self.queue.flush().boxed()
    }

    fn stats(&self) -> CacheStats {
        CacheStats {
            layers: vec![self.store.counters().snapshot("disk")],
        }
    }
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod tests;

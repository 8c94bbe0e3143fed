//! A cache in a folder: it survives restarts and kills, and any number of processes share it.
//!
//! ```text
//!   get ─→ blocking thread ─→ open, read, check ─→ pieces        no index: the name is a hash of the key
//!   put ─→ bounded queue ─→ writer thread ─→ make room, write under a temporary name, rename
//! ```
//!
//! What lies in the folder, and how, is `canter_stores`' `BlockFolder`: hosts without threads use the
//! same folders. Here are the threads.
//!
//! **Never a wrong byte.** A file carries its key in full and checksums of its header and of each 64 KiB
//! of its bytes. What does not match is a miss, is removed and counted. Nothing is synced to the disk:
//! what a power failure tears does not match either.
//!
//! **Bounds.** Every group of folders is a least-recently-used cache by itself, listed
//! before this process first writes there, and again when it has written a sixteenth of the group's
//! budget. One process stays within its budgets, plus the one file that it is writing; each further
//! process that writes at the same moment may add a sixteenth. A file's modification time says when it
//! was last used; where a file system lets no reader set it, eviction goes by when it was written.
//!
//! **Never in the way.** A put costs a lock and a push. If the disk is too slow for the queue, or full,
//! or read-only, puts are dropped and counted, and the search goes on.

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

/// What one thread reads for a lookup, into one piece of memory: a multiple of any block length.
const READ_LEN: u64 = MAX_BLOCK_LEN;
/// Threads that read for one lookup.
const READS_AT_ONCE: usize = 4;

/// Longest part of a put that is queued as one: a multiple of any block length.
const PUT_LEN: u64 = 2 * MAX_BLOCK_LEN;

/// A cache in a folder. What is put is found as soon as it is written, which is a moment later:
/// see [`RangeCache::flush`], which a process should await before it ends. A
/// [`TieredCache`](super::TieredCache) has it at once.
pub struct DiskCache {
    store: Arc<BlockFolder>,
    queue: Arc<PutQueue>,
}

impl DiskCache {
    /// Opens the cache in `folder`, which is made if it does not exist. Several caches, of this process
    /// and of others, may use one folder; each keeps to its own options.
    ///
    /// An error only if the options are not valid or the folder cannot be used at all. Whatever lies
    /// in it already is used where it is sound, and left alone or removed where it is not.
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

    /// Whether a cache of this format is in `folder`.
    pub fn is_in(folder: impl AsRef<Path>) -> bool {
        BlockFolder::is_in(folder.as_ref())
    }

    /// Bytes that all blocks and entries occupy, by looking at every one of them.
    pub fn measure_bytes(&self) -> u64 {
        let classes = ByteClass::ALL.into_iter();
        classes.map(|class| self.measure(class).num_bytes).sum()
    }

    /// The blocks and entries of one class, by looking at every one of them.
    pub fn measure(&self, class: ByteClass) -> HeldFiles {
        self.store.measure(class)
    }

    /// Removes all blocks and entries, and tells how many they were. Searches that use the folder
    /// meanwhile find nothing there, and may write again.
    pub fn clear(&self) -> HeldFiles {
        self.store.clear()
    }

    /// Offers a range in parts, so that of one longer than the queue is, the beginning is kept.
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
    /// What is still queued is given up: a cache may forget, and nobody should wait for it.
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// A long range is read in parts, a few at a time.
async fn get_pieces(
    store: Arc<BlockFolder>,
    object: Arc<str>,
    range: Range<u64>,
    class: ByteClass,
) -> Vec<CachedPiece> {
    // From the lookup's own first block on: what is no longer than a read is in one piece wherever it lies.
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

/// Runs `read` where it may block. A caller without tokio waits for the disk itself.
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

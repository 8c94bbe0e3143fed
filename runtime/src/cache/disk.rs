//! A cache in a folder: it survives restarts and kills, and any number of processes share it.
//!
//! ```text
//!   FOLDER/canter-cache-v1/               another format version is another folder
//!     postings/                           one folder for each class, with a budget of its own
//!       00/ … 3f/                         by the first six bits of the name
//!         5d0c…e1                         one block or entry: header, then bytes (block_file.rs)
//!         .tmp-8a41…-17                   one that is being written
//!
//!   get ─→ blocking thread ─→ open, read, check ─→ pieces        no index: the name is a hash of the key
//!   put ─→ bounded queue ─→ writer thread ─→ make room, write under a temporary name, rename
//! ```
//!
//! The folder is the whole state. There is no index to load, to keep or to lose, so a start costs one
//! call whatever lies in the folder, and there is nothing that a kill could leave half done: a file has
//! its final name only when it is complete. No file is ever locked; whatever two processes do at once
//! ends with one of two complete files, or with none.
//!
//! **Never a wrong byte.** A file carries its key in full and checksums of its header and of each 64 KiB
//! of its bytes. What does not match is a miss, is removed and counted. Nothing is synced to the disk:
//! what a power failure tears does not match either.
//!
//! **Bounds.** Every group of folders (`folder.rs`) is a least-recently-used cache by itself, listed
//! before this process first writes there, and again when it has written a sixteenth of the group's
//! budget. One process stays within its budgets, plus the one file that it is writing; each further
//! process that writes at the same moment may add a sixteenth. A file's modification time says when it
//! was last used; where a file system lets no reader set it, eviction goes by when it was written.
//!
//! **Never in the way.** A put costs a lock and a push. If the disk is too slow for the queue, or full,
//! or read-only, puts are dropped and counted, and the search goes on.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt};
use tokio::runtime::Handle;

use super::blocks::{blocks_of, clip};
use super::stats::Counters;
use super::{CacheOptions, CacheStats, CachedPiece, MAX_BLOCK_LEN, RangeCache};
use crate::SearchError;
use crate::session::ByteClass;

mod block_file;
mod folder;
mod queue;
mod writer;

use block_file::Key;
use folder::FoundFile;
use queue::{PutQueue, PutRequest, What};

/// Name of the folder of this format version.
const FORMAT_FOLDER: &str = "canter-cache-v1";

/// Blocks that one thread reads for a lookup.
const BLOCKS_PER_READ: u64 = 16;
/// Threads that read for one lookup.
const READS_AT_ONCE: usize = 4;

/// Longest part of a put that is queued as one: a multiple of any block length.
const PUT_LEN: u64 = 2 * MAX_BLOCK_LEN;

/// A cache in a folder. What is put is found as soon as it is written, which is a moment later:
/// see [`RangeCache::flush`], which a process should await before it ends. A
/// [`TieredCache`](super::TieredCache) has it at once.
pub struct DiskCache {
    store: Arc<Store>,
    queue: Arc<PutQueue>,
}

/// How much lies in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldFiles {
    /// Blocks and entries.
    pub num_files: u64,
    /// What they occupy on the disk.
    pub num_bytes: u64,
}

impl HeldFiles {
    fn of(files: impl Iterator<Item = FoundFile>) -> Self {
        files.fold(Self::default(), |held, file| Self {
            num_files: held.num_files + 1,
            num_bytes: held.num_bytes + file.cost,
        })
    }
}

/// What lookups and the writer share.
struct Store {
    root: PathBuf,
    options: CacheOptions,
    counters: Counters,
}

impl DiskCache {
    /// Opens the cache in `folder`, which is made if it does not exist. Several caches, of this process
    /// and of others, may use one folder; each keeps to its own options.
    ///
    /// An error only if the options are not valid or the folder cannot be used at all. Whatever lies
    /// in it already is used where it is sound, and left alone or removed where it is not.
    pub fn open(folder: impl AsRef<Path>, options: &CacheOptions) -> Result<Self, SearchError> {
        options.validate()?;
        let root = folder.as_ref().join(FORMAT_FOLDER);
        folder::make_private(&root)
            .and_then(|()| std::fs::read_dir(&root))
            .map_err(|error| {
                SearchError::invalid(format!(
                    "the cache folder {} cannot be used: {error}; name another folder, or search \
                     without one",
                    folder.as_ref().display()
                ))
            })?;
        let store = Arc::new(Store {
            root,
            options: options.clone(),
            counters: Counters::default(),
        });
        let queue = Arc::new(PutQueue::default());
        Ok(Self { store, queue })
    }

    /// Whether a cache of this format is in `folder`.
    pub fn is_in(folder: impl AsRef<Path>) -> bool {
        folder.as_ref().join(FORMAT_FOLDER).is_dir()
    }

    /// Bytes that all blocks and entries occupy, by looking at every one of them.
    pub fn measure_bytes(&self) -> u64 {
        let classes = ByteClass::ALL.into_iter();
        classes.map(|class| self.measure(class).num_bytes).sum()
    }

    /// The blocks and entries of one class, by looking at every one of them.
    pub fn measure(&self, class: ByteClass) -> HeldFiles {
        HeldFiles::of(folder::files_of_class(&self.store.class_folder(class)))
    }

    /// Removes all blocks and entries, and tells how many they were. Searches that use the folder
    /// meanwhile find nothing there, and may write again.
    pub fn clear(&self) -> HeldFiles {
        let folders = ByteClass::ALL.map(|class| self.store.class_folder(class));
        let files = folders
            .iter()
            .flat_map(|folder| folder::files_of_class(folder));
        HeldFiles::of(files.filter(|file| folder::remove(&file.path)))
    }

    /// Offers a range in parts, so that of one longer than the queue is, the beginning is kept.
    fn offer_range(&self, object: &str, piece: CachedPiece, class: ByteClass) {
        let Some(end) = piece.offset.checked_add(piece.bytes.len() as u64) else {
            return;
        };
        let object: Arc<str> = object.into();
        for part in blocks_of(&(piece.offset..end), PUT_LEN) {
            if let Some(piece) = clip(&piece, &part.range) {
                let object = object.clone();
                self.offer(What::Range { object, piece }, class);
            }
        }
    }

    fn offer(&self, what: What, class: ByteClass) {
        let counters = self.store.counters.class(class);
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

impl Store {
    fn class_folder(&self, class: ByteClass) -> PathBuf {
        self.root.join(class.as_str())
    }

    fn path_of(&self, key: &Key, class: ByteClass) -> PathBuf {
        let mut path = self.class_folder(class);
        path.push(key.folder_name());
        path.push(key.file_name());
        path
    }

    fn block_len(&self, class: ByteClass) -> u64 {
        self.options.class(class).block_len
    }

    /// What the file of `key` holds, `wanted` of it or all. A damaged file is removed and counted.
    fn read(
        &self,
        key: &Key,
        class: ByteClass,
        wanted: Option<&Range<u64>>,
    ) -> Option<CachedPiece> {
        let path = self.path_of(key, class);
        match block_file::read(&path, key, wanted) {
            Ok(piece) => piece,
            Err(block_file::Damaged) => {
                self.counters.class(class).corrupt();
                folder::remove(&path);
                None
            }
        }
    }

    fn read_blocks(&self, object: &str, range: &Range<u64>, class: ByteClass) -> Vec<CachedPiece> {
        let block_len = self.block_len(class);
        let blocks = blocks_of(range, block_len);
        let pieces = blocks.filter_map(|block| {
            let key = Key::block(object, block_len, block.number);
            let held = self.read(&key, class, Some(&block.range))?;
            clip(&held, &block.range)
        });
        pieces.collect()
    }

    /// A long range is read in parts, a few at a time.
    async fn get_pieces(
        self: Arc<Self>,
        object: Arc<str>,
        range: Range<u64>,
        class: ByteClass,
    ) -> Vec<CachedPiece> {
        let parts = blocks_of(&range, self.block_len(class) * BLOCKS_PER_READ);
        let reads = parts.map(|part| {
            let (store, object) = (self.clone(), object.clone());
            off_the_async_threads(move || store.read_blocks(&object, &part.range, class))
        });
        let reads = stream::iter(reads).buffered(READS_AT_ONCE);
        let pieces: Vec<CachedPiece> = reads.concat().await;
        let num_bytes = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
        let wanted = range.end.saturating_sub(range.start);
        self.counters.class(class).looked_up(wanted, num_bytes);
        pieces
    }

    fn get_entry(&self, key: &str, class: ByteClass) -> Option<Bytes> {
        let entry = self.read(&Key::entry(key), class, None);
        let found = entry.as_ref().map(|entry| entry.bytes.len());
        self.counters.class(class).looked_up_entry(found);
        entry.map(|entry| entry.bytes)
    }
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
        store.get_pieces(object.into(), range, class).boxed()
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
        off_the_async_threads(move || store.get_entry(&key, class)).boxed()
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
            layers: vec![self.store.counters.snapshot("disk")],
        }
    }
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod tests;

//! Caches of a host: a folder, a store of blobs under keys, or none.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use canter_protocol::ByteClass;
use canter_stores::CachedPiece;
use canter_stores::cache::block_file::{self, Key};
use canter_stores::cache::{BlockFolder, BlockWriter, CacheOptions};
use canter_stores::ranges::blocks::{blocks_of, overlay};

/// Cache of ranges of immutable objects in aligned blocks, and of entries under opaque keys. It may
/// drop anything at any time; an error counts as a miss.
pub trait Cache {
    /// Returns whether the cache keeps anything at all.
    fn keeps(&self) -> bool {
        true
    }

    /// Returns the length of the blocks of a class.
    fn block_len(&self, class: ByteClass) -> u64;

    /// Returns the cached pieces of `range` of `object`, in order and within the range.
    fn get(&mut self, object: &str, range: &Range<u64>, class: ByteClass) -> Vec<CachedPiece>;

    /// Offers a range of `object` to the cache.
    fn put(&mut self, object: &str, piece: &CachedPiece, class: ByteClass);

    /// Returns the entry under an opaque key.
    fn get_entry(&mut self, key: &str, class: ByteClass) -> Option<Bytes>;

    /// Offers an entry, which replaces the previous one.
    fn put_entry(&mut self, key: &str, bytes: Bytes, class: ByteClass);

    /// Returns the number of damaged blocks and entries, each of which counted as a miss.
    fn num_damaged(&self) -> u64;
}

/// `None` keeps nothing.
impl<C: Cache> Cache for Option<C> {
    fn keeps(&self) -> bool {
        self.as_ref().is_some_and(Cache::keeps)
    }

    fn block_len(&self, class: ByteClass) -> u64 {
        self.as_ref().map_or(1, |cache| cache.block_len(class))
    }

    fn get(&mut self, object: &str, range: &Range<u64>, class: ByteClass) -> Vec<CachedPiece> {
        let cache = self.as_mut();
        cache.map_or_else(Vec::new, |cache| cache.get(object, range, class))
    }

    fn put(&mut self, object: &str, piece: &CachedPiece, class: ByteClass) {
        if let Some(cache) = self {
            cache.put(object, piece, class);
        }
    }

    fn get_entry(&mut self, key: &str, class: ByteClass) -> Option<Bytes> {
        self.as_mut()?.get_entry(key, class)
    }

    fn put_entry(&mut self, key: &str, bytes: Bytes, class: ByteClass) {
        if let Some(cache) = self {
            cache.put_entry(key, bytes, class);
        }
    }

    fn num_damaged(&self) -> u64 {
        self.as_ref().map_or(0, Cache::num_damaged)
    }
}

/// Folder in the format of the runtime's disk cache, which several processes can share.
#[derive(Debug)]
pub struct FolderCache {
    folder: Arc<BlockFolder>,
    writer: BlockWriter,
}

impl FolderCache {
    /// Opens `folder` as a cache of at most `max_bytes`.
    ///
    /// # Errors
    /// The folder cannot be used, or `max_bytes` is too little for any block.
    pub fn open(folder: &Path, max_bytes: u64) -> io::Result<Self> {
        let options = CacheOptions::with_max_bytes(max_bytes);
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        options.validate().map_err(invalid)?;
        let folder = Arc::new(BlockFolder::open(folder, &options)?);
        let writer = BlockWriter::new(Arc::clone(&folder));
        Ok(Self { folder, writer })
    }
}

impl Cache for FolderCache {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.folder.block_len(class)
    }

    fn get(&mut self, object: &str, range: &Range<u64>, class: ByteClass) -> Vec<CachedPiece> {
        self.folder.read_blocks(object, range, class)
    }

    fn put(&mut self, object: &str, piece: &CachedPiece, class: ByteClass) {
        self.writer.write_range(object, piece, class);
    }

    fn get_entry(&mut self, key: &str, class: ByteClass) -> Option<Bytes> {
        self.folder.read_entry(key, class)
    }

    fn put_entry(&mut self, key: &str, bytes: Bytes, class: ByteClass) {
        self.writer.write_entry(key, bytes, class);
    }

    fn num_damaged(&self) -> u64 {
        let classes = ByteClass::ALL.into_iter();
        let stats = self.folder.counters().snapshot("folder");
        classes.map(|class| stats.class(class).num_corrupt).sum()
    }
}

/// Cache of a platform: values under keys. The platform limits its size.
pub trait BlobStore {
    /// Returns the value under a key.
    fn get(&mut self, key: &str) -> Option<Vec<u8>>;

    /// Stores a value, which replaces the previous one.
    fn put(&mut self, key: &str, value: Vec<u8>);
}

/// Blocks and entries in a [`BlobStore`], each with its key and checksums, like in the files of a
/// folder.
#[derive(Debug)]
pub struct BlobCache<S> {
    store: S,
    options: CacheOptions,
    num_damaged: u64,
}

impl<S: BlobStore> BlobCache<S> {
    /// Creates a cache with the default block lengths.
    pub fn new(store: S) -> Self {
        Self {
            store,
            options: CacheOptions::memory(),
            num_damaged: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    fn read(&mut self, key: &Key) -> Option<CachedPiece> {
        let value = self.store.get(&key.file_name())?;
        let piece = block_file::read_bytes(&value, key).ok();
        self.num_damaged += u64::from(piece.is_none());
        piece
    }

    fn write(&mut self, key: &Key, piece: &CachedPiece) {
        let mut value = Vec::with_capacity(piece.bytes.len() + 1024);
        if key.may_hold(piece.bytes.len()) && block_file::write(&mut value, key, piece).is_ok() {
            self.store.put(&key.file_name(), value);
        }
    }
}

impl<S: BlobStore> Cache for BlobCache<S> {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.options.class(class).block_len
    }

    fn get(&mut self, object: &str, range: &Range<u64>, class: ByteClass) -> Vec<CachedPiece> {
        let block_len = self.block_len(class);
        let blocks = blocks_of(range, block_len).filter_map(|block| {
            let key = Key::block(object, block_len, block.number);
            self.read(&key)?.clip(&block.range)
        });
        blocks.collect()
    }

    fn put(&mut self, object: &str, piece: &CachedPiece, class: ByteClass) {
        let block_len = self.block_len(class);
        for block in blocks_of(&(piece.offset..piece.end()), block_len) {
            let key = Key::block(object, block_len, block.number);
            let Some(fresh) = piece.clip(&block.range) else {
                continue;
            };
            let is_whole = fresh.bytes.len() as u64 == block_len;
            let held = match is_whole {
                true => None,
                false => self.read(&key),
            };
            match held {
                None => self.write(&key, &fresh),
                Some(held) => {
                    if let Some(joined) = overlay(&held, fresh.offset, &fresh.bytes) {
                        self.write(&key, &joined);
                    }
                }
            }
        }
    }

    fn get_entry(&mut self, key: &str, _: ByteClass) -> Option<Bytes> {
        self.read(&Key::entry(key)).map(|entry| entry.bytes)
    }

    fn put_entry(&mut self, key: &str, bytes: Bytes, _: ByteClass) {
        self.write(&Key::entry(key), &CachedPiece { offset: 0, bytes });
    }

    fn num_damaged(&self) -> u64 {
        self.num_damaged
    }
}

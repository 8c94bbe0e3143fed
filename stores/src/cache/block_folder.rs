//! Folder of blocks and entries, one checked file each. It survives restarts and kills, and any
//! number of processes may share it.
//!
//! ```text
//!   FOLDER/canter-cache-v1/               another format version is another folder
//!     postings/                           one folder for each class, with a budget of its own
//!       00/ … 3f/                         by the first six bits of the hash
//!         5d0c…e1                         one block or entry: header, then bytes (block_file.rs)
//!         .tmp-8a41…-17                   a file that is being written
//! ```
//!
//! The folder is the whole state. There is no index to load, store or lose: starting takes one
//! call, whatever the folder contains, and a kill leaves nothing half done, because a file gets its
//! final name only when it is complete. Files are never locked; concurrent writes of one file end
//! with one of the complete files, or with none. Every call blocks on the file system; this module
//! starts no threads.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use canter_protocol::ByteClass;

use super::block_file::{self, Key};
use super::folder::{self, FoundFile};
use super::{CacheOptions, Counters};
use crate::ranges::blocks::blocks_of;
use crate::{Buffer, CachedPiece};

/// Name of the folder of this format version.
pub const FORMAT_FOLDER: &str = "canter-cache-v1";

/// Maximum length of a run of blocks for which memory is allocated at once.
const MAX_RUN_LEN: u64 = 4 << 20;

/// Size of a folder's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldFiles {
    /// Number of blocks and entries.
    pub num_files: u64,
    /// Number of bytes that they occupy on disk.
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

/// Reader of a folder of blocks. A [`BlockWriter`](super::BlockWriter) writes to it.
#[derive(Debug)]
pub struct BlockFolder {
    root: PathBuf,
    options: CacheOptions,
    counters: Counters,
}

impl BlockFolder {
    /// Opens the folder, and creates it if it is missing. The options must be valid.
    ///
    /// # Errors
    /// The folder cannot be created or listed. Its contents never cause an error: valid files are
    /// used, others are ignored or removed.
    pub fn open(folder: &Path, options: &CacheOptions) -> io::Result<Self> {
        let root = folder.join(FORMAT_FOLDER);
        folder::make_private(&root)?;
        std::fs::read_dir(&root)?;
        Ok(Self {
            root,
            options: options.clone(),
            counters: Counters::default(),
        })
    }

    /// Returns whether `folder` contains a cache of this format version.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FORMAT_FOLDER).is_dir()
    }

    /// Returns the budgets and block lengths.
    pub fn options(&self) -> &CacheOptions {
        &self.options
    }

    /// Returns the counters of this folder.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the block length of a class, in bytes.
    pub fn block_len(&self, class: ByteClass) -> u64 {
        self.options.class(class).block_len
    }

    /// Returns the cached parts of `range` of `object`, in order and within the range. Consecutive
    /// blocks make one piece. Counts no lookup, since a caller may look up a range in parts.
    pub fn read_blocks(
        &self,
        object: &str,
        range: &Range<u64>,
        class: ByteClass,
    ) -> Vec<CachedPiece> {
        let block_len = self.block_len(class);
        let mut pieces = Vec::new();
        let mut run = Run::for_range(range);
        for block in blocks_of(range, block_len) {
            let key = Key::block(object, block_len, block.number);
            let len_before = run.bytes.len();
            let read = self.read(&key, class, Some(&block.range), &mut run.bytes);
            let Some(offset) = read else { continue };
            if len_before == 0 {
                run.offset = offset;
            } else if offset != run.offset + len_before as u64 {
                // The two blocks leave a gap.
                let bytes = run.bytes.split_off(len_before);
                pieces.extend(std::mem::replace(&mut run, Run { offset, bytes }).clip(range));
            }
            run.end_at(block.range.end);
        }
        pieces.extend(run.clip(range));
        pieces
    }

    /// Returns the entry under an opaque key.
    pub fn read_entry(&self, key: &str, class: ByteClass) -> Option<Bytes> {
        let entry = self.read_file(&Key::entry(key), class);
        let found = entry.as_ref().map(|entry| entry.bytes.len());
        self.counters.class(class).looked_up_entry(found);
        entry.map(|entry| entry.bytes)
    }

    /// Measures the blocks and entries of one class by listing all of them.
    pub fn measure(&self, class: ByteClass) -> HeldFiles {
        HeldFiles::of(folder::files_of_class(&self.class_folder(class)))
    }

    /// Removes all blocks and entries, and returns their number and size. Other processes may use
    /// the folder meanwhile: they find it empty and may write again.
    pub fn clear(&self) -> HeldFiles {
        let folders = ByteClass::ALL.map(|class| self.class_folder(class));
        let files = folders
            .iter()
            .flat_map(|folder| folder::files_of_class(folder));
        HeldFiles::of(files.filter(|file| folder::remove(&file.path)))
    }

    pub(super) fn class_folder(&self, class: ByteClass) -> PathBuf {
        self.root.join(class.as_str())
    }

    pub(super) fn path_of(&self, key: &Key, class: ByteClass) -> PathBuf {
        let mut path = self.class_folder(class);
        path.push(key.folder_name());
        path.push(key.file_name());
        path
    }

    /// Reads all bytes of the file of `key`.
    pub(super) fn read_file(&self, key: &Key, class: ByteClass) -> Option<CachedPiece> {
        let mut bytes = Buffer::default();
        let offset = self.read(key, class, None, &mut bytes)?;
        let bytes = bytes.into_bytes();
        Some(CachedPiece { offset, bytes })
    }

    /// Appends the bytes of the file of `key` that cover `wanted` (all if `None`) to `out`, and
    /// returns their offset in the object. Removes and counts a damaged file.
    fn read(
        &self,
        key: &Key,
        class: ByteClass,
        wanted: Option<&Range<u64>>,
        out: &mut Buffer,
    ) -> Option<u64> {
        let path = self.path_of(key, class);
        match block_file::read(&path, key, wanted, out) {
            Ok(offset) => offset,
            Err(block_file::Damaged) => {
                self.counters.class(class).corrupt();
                folder::remove(&path);
                None
            }
        }
    }
}

/// Consecutive blocks in one allocation, so that a reader of all of them need not join them.
struct Run {
    offset: u64,
    bytes: Buffer,
}

impl Run {
    /// Creates a run with room for all of `range` and for the bytes around it that checksums cover.
    /// Unused memory is never touched.
    fn for_range(range: &Range<u64>) -> Self {
        let len = range.end.saturating_sub(range.start).min(MAX_RUN_LEN);
        Self {
            offset: range.start,
            bytes: Buffer::with_capacity((len + 2 * block_file::CHUNK_LEN) as usize),
        }
    }

    /// Cuts the run at `end`, which the last checksummed piece of a file may exceed.
    fn end_at(&mut self, end: u64) {
        let len = end.saturating_sub(self.offset);
        self.bytes
            .truncate(usize::try_from(len).unwrap_or(usize::MAX));
    }

    fn clip(self, range: &Range<u64>) -> Option<CachedPiece> {
        let (offset, bytes) = (self.offset, self.bytes.into_bytes());
        CachedPiece { offset, bytes }.clip(range)
    }
}

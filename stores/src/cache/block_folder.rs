//! Blocks and entries in a folder, one checked file each: it survives restarts and kills, and any number
//! of processes share it.
//!
//! ```text
//!   FOLDER/canter-cache-v1/               another format version is another folder
//!     postings/                           one folder for each class, with a budget of its own
//!       00/ … 3f/                         by the first six bits of the name
//!         5d0c…e1                         one block or entry: header, then bytes (block_file.rs)
//!         .tmp-8a41…-17                   one that is being written
//! ```
//!
//! The folder is the whole state. There is no index to load, to keep or to lose, so a start costs one
//! call whatever lies in the folder, and there is nothing that a kill could leave half done: a file has
//! its final name only when it is complete. No file is ever locked; whatever two processes do at once
//! ends with one of two complete files, or with none. Every call blocks on the file system, and there are
//! no threads here.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::block_file::{self, Key};
use super::folder::{self, FoundFile};
use super::{CacheOptions, Counters};
use crate::ranges::blocks::blocks_of;
use crate::{Buffer, ByteClass, CachedPiece};

/// Name of the folder of this format version.
pub const FORMAT_FOLDER: &str = "canter-cache-v1";

/// Longest run of blocks that memory is set apart for at once.
const MAX_RUN_LEN: u64 = 4 << 20;

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

/// A folder of blocks, to be read. A [`BlockWriter`](super::BlockWriter) writes to it.
#[derive(Debug)]
pub struct BlockFolder {
    root: PathBuf,
    options: CacheOptions,
    counters: Counters,
}

impl BlockFolder {
    /// Opens the folder, which is made if it does not exist. The options must be valid.
    ///
    /// # Errors
    /// If the folder cannot be used at all. Whatever lies in it already is used where it is sound, and
    /// left alone or removed where it is not.
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

    /// Whether blocks of this format are in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FORMAT_FOLDER).is_dir()
    }

    /// The budgets and block lengths.
    pub fn options(&self) -> &CacheOptions {
        &self.options
    }

    /// What was done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Length of the blocks of a class.
    pub fn block_len(&self, class: ByteClass) -> u64 {
        self.options.class(class).block_len
    }

    /// What is held of `range` of `object`: pieces inside the range, in order; one for blocks that follow one
    /// another. Not counted as a lookup, since a caller may look in parts.
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
                // Something is missing in between.
                let bytes = run.bytes.split_off(len_before);
                pieces.extend(std::mem::replace(&mut run, Run { offset, bytes }).clip(range));
            }
            run.end_at(block.range.end);
        }
        pieces.extend(run.clip(range));
        pieces
    }

    /// The entry under an opaque key.
    pub fn read_entry(&self, key: &str, class: ByteClass) -> Option<Bytes> {
        let entry = self.read_file(&Key::entry(key), class);
        let found = entry.as_ref().map(|entry| entry.bytes.len());
        self.counters.class(class).looked_up_entry(found);
        entry.map(|entry| entry.bytes)
    }

    /// The blocks and entries of one class, by looking at every one of them.
    pub fn measure(&self, class: ByteClass) -> HeldFiles {
        HeldFiles::of(folder::files_of_class(&self.class_folder(class)))
    }

    /// Removes all blocks and entries, and tells how many they were. Whoever uses the folder meanwhile
    /// finds nothing there, and may write again.
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

    /// What the file of `key` holds.
    pub(super) fn read_file(&self, key: &Key, class: ByteClass) -> Option<CachedPiece> {
        let mut bytes = Buffer::default();
        let offset = self.read(key, class, None, &mut bytes)?;
        let bytes = bytes.into_bytes();
        Some(CachedPiece { offset, bytes })
    }

    /// Appends what the file of `key` holds to `out`, what covers `wanted` or all, and tells where it stands in the
    /// object. A damaged file is removed and counted.
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

/// Blocks that follow one another, in one piece of memory: whoever wants them all need not put them together.
struct Run {
    offset: u64,
    bytes: Buffer,
}

impl Run {
    /// Room for all of `range`, and for what is read around it to be checked. What is not filled is never touched.
    fn for_range(range: &Range<u64>) -> Self {
        let len = range.end.saturating_sub(range.start).min(MAX_RUN_LEN);
        Self {
            offset: range.start,
            bytes: Buffer::with_capacity((len + 2 * block_file::CHUNK_LEN) as usize),
        }
    }

    /// Cuts what reaches beyond `end`, as a file's last checked bytes may.
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

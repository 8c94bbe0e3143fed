//! Writer of a cache: splits ranges into files, within the budgets.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use canter_protocol::ByteClass;

use super::BlockFolder;
use super::block_file::{self, Key};
use super::folder::{self, ClassFolder};
use crate::CachedPiece;
use crate::ranges::blocks::{blocks_of, overlay};

/// Writer of a [`BlockFolder`], within its budgets. Drops and counts the puts that fail.
#[derive(Debug)]
pub struct BlockWriter {
    store: Arc<BlockFolder>,
    classes: [ClassFolder; ByteClass::ALL.len()],
    /// Random number in this writer's temporary names, which makes them unique among all processes
    /// and containers.
    token: u64,
    num_files: u64,
}

impl BlockWriter {
    /// Creates a writer, which has not listed the folder yet.
    pub fn new(store: Arc<BlockFolder>) -> Self {
        Self {
            classes: ByteClass::ALL.map(|class| {
                ClassFolder::new(store.class_folder(class), store.options().class(class))
            }),
            // The keys of this hash are random.
            token: RandomState::new().hash_one(0),
            num_files: 0,
            store,
        }
    }

    /// Writes an entry under an opaque key, replacing an earlier one.
    pub fn write_entry(&mut self, key: &str, bytes: Bytes, class: ByteClass) {
        let entry = CachedPiece { offset: 0, bytes };
        self.write_file(&Key::entry(key), &entry, class);
    }

    /// Writes a range of an object, block by block.
    pub fn write_range(&mut self, object: &str, piece: &CachedPiece, class: ByteClass) {
        let Some(end) = piece.offset.checked_add(piece.bytes.len() as u64) else {
            return;
        };
        let block_len = self.store.block_len(class);
        for block in blocks_of(&(piece.offset..end), block_len) {
            let key = Key::block(object, block_len, block.number);
            let Some(fresh) = piece.clip(&block.range) else {
                continue;
            };
            if let Some(joined) = self.join(&key, fresh.offset, fresh.bytes, class) {
                self.write_file(&key, &joined, class);
            }
        }
    }

    /// Merges fresh bytes of a block with those of its file if the two touch. Returns `None` if the
    /// file may stay as it is.
    fn join(&self, key: &Key, offset: u64, fresh: Bytes, class: ByteClass) -> Option<CachedPiece> {
        match self.store.read_file(key, class) {
            Some(held) => overlay(&held, offset, &fresh),
            None => Some(CachedPiece {
                offset,
                bytes: fresh,
            }),
        }
    }

    fn write_file(&mut self, key: &Key, piece: &CachedPiece, class: ByteClass) {
        let path = self.store.path_of(key, class);
        let counters = self.store.counters().class(class);
        let folder = &mut self.classes[class.ord()];
        let cost = folder::cost_of(block_file::file_len(key, piece.bytes.len() as u64));
        if !key.may_hold(piece.bytes.len()) || !folder.may_hold(cost) {
            // The old file is out of date.
            folder::remove(&path);
            counters.dropped_put();
            return;
        }
        let Some(num_evicted) = folder.make_room(key.folder_ord(), cost) else {
            counters.dropped_put();
            return;
        };
        counters.evicted(num_evicted);
        let temporary = path.with_file_name(format!(
            "{}{:016x}-{}",
            folder::TEMPORARY_PREFIX,
            self.token,
            self.num_files
        ));
        self.num_files += 1;
        let replaced = fs::symlink_metadata(&path).map_or(0, |meta| folder::cost_of(meta.len()));
        match write_and_rename(&temporary, &path, key, piece) {
            Ok(()) => folder.wrote(key.folder_ord(), cost, replaced),
            Err(_) => {
                folder::remove(&temporary);
                counters.dropped_put();
            }
        }
    }
}

fn write_and_rename(
    temporary: &Path,
    path: &PathBuf,
    key: &Key,
    piece: &CachedPiece,
) -> io::Result<()> {
    let file = match File::create_new(temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            temporary.parent().map_or(Ok(()), fs::create_dir_all)?;
            File::create_new(temporary)?
        }
        created => created?,
    };
    block_file::write(file, key, piece)?;
    fs::rename(temporary, path)
}

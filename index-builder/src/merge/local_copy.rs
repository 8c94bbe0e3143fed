//! A split on its way from storage onto this machine: every byte is checked against the head, and the
//! head against the manifest, before anything reads it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use canter_split_format::{Head, SplitEntry, checksum64, split_object};

use crate::BuildError;
use crate::blocking;
use crate::storage::IndexStore;

/// What one request brings, unless a block is longer.
const READ_NUM_BYTES: u64 = 8 << 20;

/// The body of a split in a file without a name, which vanishes with it.
pub(super) struct LocalBody {
    file: Mutex<File>,
}

impl LocalBody {
    /// Reads `len` bytes from `start`.
    pub(super) fn read(&self, start: u64, len: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Brings a split here.
///
/// # Errors
/// `Data` if it is not there or not what the manifest says; `Unavailable` if storage or the folder for
/// temporary files cannot be used.
pub(super) fn fetch_split(
    store: &IndexStore,
    entry: &SplitEntry,
    folder: &Path,
) -> Result<(Head, LocalBody), BuildError> {
    blocking::run(fetch(store, entry, folder))
}

async fn fetch(
    store: &IndexStore,
    entry: &SplitEntry,
    folder: &Path,
) -> Result<(Head, LocalBody), BuildError> {
    let damaged = |problem: String| {
        BuildError::data(format!(
            "split {}: {problem}: restore the object or build the split again",
            entry.id
        ))
    };
    let object = split_object(&entry.id);
    let read = async |start: u64, end: u64| {
        let bytes = store.get_range(&object, start..end).await?;
        let bytes = bytes.ok_or_else(|| damaged("its object is missing".to_owned()))?;
        match bytes.len() as u64 == end - start {
            true => Ok(bytes),
            false => Err(damaged(format!(
                "its object ends within bytes {start} to {end}"
            ))),
        }
    };
    let head = read(0, entry.head_len).await?;
    if checksum64(&head) != entry.head_checksum {
        return Err(damaged(
            "the head is not the one that the manifest names (checksum mismatch)".to_owned(),
        ));
    }
    let head = Head::open(&head).map_err(|error| damaged(error.to_string()))?;
    let checksums = &head.block_checksums;
    if entry.head_len.checked_add(checksums.body_len()) != Some(entry.len)
        || u64::from(head.metadata.num_docs) != entry.num_docs
    {
        return Err(damaged(
            "its head says another length or number of documents than the manifest".to_owned(),
        ));
    }
    let failed = |error| {
        BuildError::unavailable(format!(
            "cannot write a temporary file into `{}` (a merge needs as much room there as its splits \
             have bytes)",
            folder.display()
        ))
        .caused_by(error)
    };
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    let blocks_at_once = (READ_NUM_BYTES / checksums.block_len()).max(1);
    let mut first_block = 0;
    while first_block < checksums.num_blocks() {
        let blocks = first_block..(first_block + blocks_at_once).min(checksums.num_blocks());
        let in_body = checksums.bytes_of(blocks.clone());
        let bytes = read(entry.head_len + in_body.start, entry.head_len + in_body.end).await?;
        checksums.verify(first_block, &bytes).map_err(|block| {
            let start = entry.head_len + block * checksums.block_len();
            damaged(format!(
                "checksum mismatch in block {block} (from byte {start})"
            ))
        })?;
        file.write_all(&bytes).map_err(failed)?;
        first_block = blocks.end;
    }
    let file = Mutex::new(file);
    Ok((head, LocalBody { file }))
}

//! Transfer of a split from storage to this machine, completely or on demand. Every byte is checked
//! against the head, and the head against the manifest, before it is used.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use canter_split_format::{BlockChecksums, Head, SplitEntry, checksum64, split_object};

use crate::BuildError;
use crate::blocking;
use crate::index::storage::IndexStore;

/// Number of bytes of a request, unless a block is longer.
const READ_NUM_BYTES: u64 = 8 << 20;

/// Body of a split.
pub(super) enum LocalBody {
    /// Copy in a file without a name, which is removed when it is closed.
    Copied(Mutex<File>),
    /// Body in its store: each read is a request.
    Stored(Box<StoredBody>),
}

/// Body of a split in its store.
pub(super) struct StoredBody {
    store: IndexStore,
    split_id: String,
    head_len: u64,
    checksums: BlockChecksums,
}

impl LocalBody {
    /// Reads `len` bytes from `start`.
    pub(super) fn read(&self, start: u64, len: usize) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Copied(file) => {
                let mut bytes = vec![0; len];
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes)
            }
            Self::Stored(body) => body.read(start, len),
        }
    }
}

impl StoredBody {
    fn read(&self, start: u64, len: usize) -> std::io::Result<Vec<u8>> {
        let end = start.saturating_add(len as u64);
        let block_len = self.checksums.block_len().max(1);
        let blocks = start / block_len..end.div_ceil(block_len);
        let in_body = self.checksums.bytes_of(blocks.clone());
        let range = self.head_len + in_body.start..self.head_len + in_body.end;
        let object = split_object(&self.split_id);
        let found = blocking::run(self.store.get_range(&object, range));
        let found = found.map_err(std::io::Error::other)?;
        let bytes = found.unwrap_or_default();
        let is_sound = self.checksums.verify(blocks.start, &bytes).is_ok();
        let skipped = usize::try_from(start - in_body.start).ok();
        let wanted = skipped.and_then(|skipped| bytes.get(skipped..skipped.checked_add(len)?));
        wanted
            .filter(|_| is_sound)
            .map(<[u8]>::to_vec)
            .ok_or_else(|| std::io::Error::other("its bytes are not those that were written"))
    }
}

/// Downloads a split.
///
/// # Errors
/// `Data` if the split does not exist or does not match the manifest, `Unavailable` if storage or
/// the folder for temporary files cannot be used.
pub(super) fn fetch_split(
    store: &IndexStore,
    entry: &SplitEntry,
    folder: &Path,
) -> Result<(Head, LocalBody), BuildError> {
    blocking::run(fetch(store, entry, folder))
}

/// Returns the head of a split, and its body, which stays in the store.
///
/// # Errors
/// Same as for [`fetch_split`].
pub(super) fn open_stored(
    store: &IndexStore,
    entry: &SplitEntry,
) -> Result<(Head, LocalBody), BuildError> {
    let head = blocking::run(fetch_head(store, entry))?;
    let body = LocalBody::Stored(Box::new(StoredBody {
        store: store.clone(),
        split_id: entry.id.clone(),
        head_len: entry.head_len,
        checksums: head.block_checksums.clone(),
    }));
    Ok((head, body))
}

fn damaged(entry: &SplitEntry, problem: &str) -> BuildError {
    BuildError::data(format!(
        "split {}: {problem}: restore the object or build the split again",
        entry.id
    ))
}

async fn read(
    store: &IndexStore,
    entry: &SplitEntry,
    start: u64,
    end: u64,
) -> Result<Bytes, BuildError> {
    let bytes = store
        .get_range(&split_object(&entry.id), start..end)
        .await?;
    let bytes = bytes.ok_or_else(|| damaged(entry, "its object is missing"))?;
    match bytes.len() as u64 == end - start {
        true => Ok(bytes),
        false => {
            let problem = format!("its object ends within bytes {start} to {end}");
            Err(damaged(entry, &problem))
        }
    }
}

async fn fetch_head(store: &IndexStore, entry: &SplitEntry) -> Result<Head, BuildError> {
    let head = read(store, entry, 0, entry.head_len).await?;
    if checksum64(&head) != entry.head_checksum {
        return Err(damaged(
            entry,
            "the head is not the one that the manifest names (checksum mismatch)",
        ));
    }
    let head = Head::open(&head).map_err(|error| damaged(entry, &error.to_string()))?;
    let checksums = &head.block_checksums;
    if entry.head_len.checked_add(checksums.body_len()) != Some(entry.len)
        || u64::from(head.metadata.num_docs) != entry.num_docs
    {
        return Err(damaged(
            entry,
            "its head says another length or number of documents than the manifest",
        ));
    }
    Ok(head)
}

async fn fetch(
    store: &IndexStore,
    entry: &SplitEntry,
    folder: &Path,
) -> Result<(Head, LocalBody), BuildError> {
    let head = fetch_head(store, entry).await?;
    let checksums = &head.block_checksums;
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
        let (start, end) = (entry.head_len + in_body.start, entry.head_len + in_body.end);
        let bytes = read(store, entry, start, end).await?;
        checksums.verify(first_block, &bytes).map_err(|block| {
            let start = entry.head_len + block * checksums.block_len();
            let problem = format!("checksum mismatch in block {block} (from byte {start})");
            damaged(entry, &problem)
        })?;
        file.write_all(&bytes).map_err(failed)?;
        first_block = blocks.end;
    }
    Ok((head, LocalBody::Copied(Mutex::new(file))))
}

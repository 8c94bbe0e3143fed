//! Putting a split together: head first, then the body.

use crate::version::object_id;
use crate::{
    BlockChecksums, FileTable, FormatError, Head, Hotcache, Rollup, SplitMetadata, TimeIndex,
    checksum64,
};

/// A finished split in memory.
#[derive(Clone, Debug)]
pub struct WrittenSplit {
    /// Lower-case hexadecimal of the first 128 bits of the BLAKE3 hash of all its bytes.
    pub id: String,
    /// The whole object: head, then body.
    pub bytes: Vec<u8>,
    /// Length of the head in bytes.
    pub head_len: u64,
    /// XXH3-64 of the head's bytes, prefix included: what the manifest promises.
    pub head_checksum: u64,
}

/// Assembles a split from its files.
///
/// `files` are `(name, bytes)` in body order. `hot_ranges` are `(file_ord, start, bytes)`.
///
/// # Errors
/// If the metadata cannot be written as JSON.
pub fn write_split(
    metadata: SplitMetadata,
    files: &[(&str, &[u8])],
    hot_ranges: Vec<(u32, u64, Vec<u8>)>,
    time_index: Option<TimeIndex>,
    rollup: Option<Rollup>,
) -> Result<WrittenSplit, FormatError> {
    let table = FileTable::lay_out(
        files
            .iter()
            .map(|(name, bytes)| (*name, bytes.len() as u64)),
    );
    let mut body = Vec::with_capacity(files.iter().map(|(_, bytes)| bytes.len()).sum());
    for (_, bytes) in files {
        body.extend_from_slice(bytes);
    }
    let head = Head {
        metadata,
        files: table,
        hotcache: Hotcache::from_ranges(hot_ranges),
        time_index,
        rollup,
        block_checksums: BlockChecksums::of_body(&body),
    }
    .write()?;
    let head_len = head.len() as u64;
    let head_checksum = checksum64(&head);
    let mut bytes = head;
    bytes.append(&mut body);
    let id = object_id(&bytes);
    Ok(WrittenSplit {
        id,
        bytes,
        head_len,
        head_checksum,
    })
}

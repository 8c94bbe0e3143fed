//! Assembly of a split: the head, then the body.

use super::packed::Piece;
use crate::version::object_id;
use crate::{
    BlockChecksums, CoOccurrence, FileTable, FormatError, Head, Hotcache, Rollup, SplitMetadata,
    TimeIndex, checksum64,
};

/// Complete split in memory.
#[derive(Clone, Debug)]
pub struct WrittenSplit {
    /// First 128 bits of the BLAKE3 hash of all its bytes, in lower-case hexadecimal.
    pub id: String,
    /// Bytes of the whole object: head, then body.
    pub bytes: Vec<u8>,
    /// Length of the head in bytes.
    pub head_len: u64,
    /// XXH3-64 of the head's bytes, including the prefix, for the manifest.
    pub head_checksum: u64,
}

/// Estimated length of a head without its hot ranges: more than most need.
const HEAD_ROOM_NUM_BYTES: usize = 256 << 10;

/// Summaries of a split's documents in its head, which spare queries from reading them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summaries {
    /// First document of each time bucket.
    pub time_index: Option<TimeIndex>,
    /// Counts by time bucket and value.
    pub rollup: Option<Rollup>,
    /// Co-occurrence of frequent terms.
    pub co_occurrence: Option<CoOccurrence>,
}

/// File to put into a body.
#[derive(Clone, Debug)]
pub struct BodyFile<'a, B> {
    /// Name in the file table.
    pub name: &'a str,
    /// Bytes of the body.
    pub bytes: B,
    /// What they are, if some are packed; else nothing.
    pub pieces: Vec<Piece>,
}

impl<'a, B> From<(&'a str, B)> for BodyFile<'a, B> {
    fn from((name, bytes): (&'a str, B)) -> Self {
        Self {
            name,
            bytes,
            pieces: Vec::new(),
        }
    }
}

/// Assembles a split from its files.
///
/// `files` are in body order; each is dropped once it has been copied. `hot_ranges` are `(file_ord, start, bytes)`,
/// counted in files as readers see them.
///
/// # Errors
/// The metadata cannot be serialized to JSON.
pub fn write_split<'a, B: AsRef<[u8]>>(
    metadata: SplitMetadata,
    files: Vec<impl Into<BodyFile<'a, B>>>,
    hot_ranges: Vec<(u32, u64, Vec<u8>)>,
    summaries: Summaries,
) -> Result<WrittenSplit, FormatError> {
    let mut files: Vec<BodyFile<'a, B>> = files.into_iter().map(Into::into).collect();
    let lens = files
        .iter()
        .map(|file| (file.name, file.bytes.as_ref().len() as u64));
    let mut table = FileTable::lay_out(lens);
    for (file_ord, file) in files.iter_mut().enumerate() {
        table.set_pieces(file_ord, std::mem::take(&mut file.pieces));
    }
    // A single allocation: a merged split may be large.
    let body_len: usize = files.iter().map(|file| file.bytes.as_ref().len()).sum();
    let hot_len: usize = hot_ranges.iter().map(|(_, _, bytes)| bytes.len()).sum();
    let mut bytes = Vec::with_capacity(body_len + hot_len + HEAD_ROOM_NUM_BYTES);
    for file in files {
        bytes.extend_from_slice(file.bytes.as_ref());
    }
    let head = Head {
        metadata,
        files: table,
        hotcache: Hotcache::from_ranges(hot_ranges),
        time_index: summaries.time_index,
        rollup: summaries.rollup,
        co_occurrence: summaries.co_occurrence,
        block_checksums: BlockChecksums::of_body(&bytes),
    }
    .write()?;
    let head_len = head.len() as u64;
    let head_checksum = checksum64(&head);
    bytes.splice(..0, head);
    let id = object_id(&bytes);
    Ok(WrittenSplit {
        id,
        bytes,
        head_len,
        head_checksum,
    })
}

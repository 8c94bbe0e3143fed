//! Rewriting of a field's postings and positions: grouped by dictionary block, with positions in a
//! more compact format.

use std::io::{self, Write};
use std::ops::Range;

use canter_matching::repack_positions;
use tantivy::HasLen;
use tantivy::directory::{FileSlice, OwnedBytes};
use tantivy::postings::TermInfo;

/// Length of the number of tokens, with which a field's postings begin.
pub(super) const HEADER_LEN: usize = 8;

/// Writer of the lists of one field.
///
/// ```text
///   tokens  postings of block 0  positions of block 0  postings of block 1  …
///   8 bytes ├────────────────────┼─────────────────────┼────────────────────┼─
///   ▲       ▲
///   │       └ offsets of postings start here
///   └ offsets of positions start here, as in tantivy's two files
/// ```
pub(super) struct ListsWriter<'a> {
    postings: FileSlice,
    positions: FileSlice,
    out: &'a mut dyn Write,
    /// Number of bytes written after the number of tokens.
    len: usize,
}

impl<'a> ListsWriter<'a> {
    /// Starts with the files that tantivy wrote for the field; `positions` is empty if the field
    /// has none.
    pub(super) fn start(
        postings: FileSlice,
        positions: FileSlice,
        out: &'a mut dyn Write,
    ) -> io::Result<Self> {
        if postings.len() < HEADER_LEN {
            return Err(cut_short());
        }
        let (header, postings) = postings.split(HEADER_LEN);
        out.write_all(&header.read_bytes()?)?;
        Ok(Self {
            postings,
            positions,
            out,
            len: 0,
        })
    }

    /// Writes the lists of the terms of one block, and updates `infos` with their new locations.
    pub(super) fn write(&mut self, infos: &mut [TermInfo]) -> io::Result<()> {
        let (Some(first), Some(last)) = (infos.first(), infos.last()) else {
            return Ok(());
        };
        let postings = first.postings_range.start..last.postings_range.end;
        let new_postings = self.len;
        self.put(&slice_of(&self.postings, &postings)?)?;
        for info in infos.iter_mut() {
            let range = &mut info.postings_range;
            *range = range.start - postings.start + new_postings
                ..range.end - postings.start + new_postings;
        }
        if self.positions.is_empty() {
            return Ok(());
        }
        let new_positions = HEADER_LEN + self.len;
        let mut repacked = Vec::new();
        for info in infos {
            let range = &mut info.positions_range;
            let start = repacked.len();
            if range.start < range.end {
                repack_positions(slice_of(&self.positions, range)?, &mut repacked)?;
            }
            *range = new_positions + start..new_positions + repacked.len();
        }
        self.put(&repacked)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.len += bytes.len();
        Ok(())
    }
}

/// Reads the bytes of a list, which must lie within those of its field.
pub(crate) fn slice_of(file: &FileSlice, range: &Range<usize>) -> io::Result<OwnedBytes> {
    if range.start > range.end || range.end > file.len() {
        return Err(cut_short());
    }
    file.read_bytes_slice(range.clone())
}

/// Returns an error about a dictionary that refers to missing lists.
pub(crate) fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a posting list lies outside its field's",
    )
}

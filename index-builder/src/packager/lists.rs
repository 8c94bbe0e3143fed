//! Postings and positions of a field, written anew: those of each dictionary block together.

use std::io::{self, Write};
use std::ops::Range;

use tantivy::HasLen;
use tantivy::directory::FileSlice;
use tantivy::postings::TermInfo;

/// A field's postings begin with the number of its tokens.
const HEADER_LEN: usize = 8;

/// Writes the lists of one field.
///
/// ```text
///   tokens  postings of block 0  positions of block 0  postings of block 1  …
///   8 bytes ├────────────────────┼─────────────────────┼────────────────────┼─
///   ▲       ▲
///   │       └ postings are counted from here,
///   └ positions from here, as tantivy does in its two files
/// ```
pub(super) struct ListsWriter<'a> {
    postings: FileSlice,
    positions: FileSlice,
    out: &'a mut dyn Write,
    /// Bytes behind the number of tokens so far.
    len: usize,
}

impl<'a> ListsWriter<'a> {
    /// Of what tantivy wrote for the field; `positions` is empty without any.
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

    /// Writes the lists of the terms of one block, and says in `infos` where they are now.
    pub(super) fn write(&mut self, infos: &mut [TermInfo]) -> io::Result<()> {
        let (Some(first), Some(last)) = (infos.first(), infos.last()) else {
            return Ok(());
        };
        let postings = first.postings_range.start..last.postings_range.end;
        let positions = first.positions_range.start..last.positions_range.end;
        let new_postings = self.len;
        self.copy(&self.postings.clone(), &postings)?;
        let new_positions = HEADER_LEN + self.len;
        self.copy(&self.positions.clone(), &positions)?;
        let has_positions = !self.positions.is_empty();
        for info in infos {
            move_to(&mut info.postings_range, postings.start, new_postings);
            if has_positions {
                move_to(&mut info.positions_range, positions.start, new_positions);
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: &FileSlice, range: &Range<usize>) -> io::Result<()> {
        if range.start > range.end || range.end > from.len() {
            return Err(cut_short());
        }
        self.out.write_all(&from.read_bytes_slice(range.clone())?)?;
        self.len += range.len();
        Ok(())
    }
}

/// The same range where what was at `old` is at `new`.
fn move_to(range: &mut Range<usize>, old: usize, new: usize) {
    *range = range.start - old + new..range.end - old + new;
}

fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a posting list lies outside its field's",
    )
}

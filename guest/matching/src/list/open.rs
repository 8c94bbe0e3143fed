//! Start of a posting list, and the layout of its parts.
//!
//! ```text
//!   ≥ 128 documents   length ╎ skip list: an entry for each full block ╎ full blocks ╎ the rest
//!   fewer             the rest
//!
//!   entry   last document (4) ╎ width ╎ width of frequencies ╎ sum of them (4) ╎ for scores (2)
//!           always                    ╎ with frequencies     ╎ with positions  ╎ with frequencies
//! ```

use std::io;

use tantivy_common::OwnedBytes;

use super::PostingList;

/// Information recorded about each document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Its number only.
    Documents,
    /// The frequency of the term.
    Frequencies,
    /// The positions of the term.
    Positions,
}

/// Number of documents in a full block.
pub(super) const BLOCK_LEN: u32 = 128;

impl Recorded {
    /// Returns the length of a skip list entry in bytes.
    pub(super) fn entry_len(self) -> usize {
        match self {
            Self::Documents => 5,
            Self::Frequencies => 8,
            Self::Positions => 12,
        }
    }
}

impl PostingList {
    /// Opens the list of a term that is in `num_docs` documents of a field with this information.
    ///
    /// # Errors
    /// The bytes end within the skip list.
    pub fn open(num_docs: u32, bytes: OwnedBytes, recorded: Recorded) -> io::Result<Self> {
        let num_full = (num_docs / BLOCK_LEN) as usize;
        let (skips, blocks) = match num_full {
            0 => (OwnedBytes::empty(), bytes),
            _ => skip_list(bytes)?,
        };
        // Numbers in a JSON field have no frequencies, even if its texts have.
        let has_none = skips.len() < Recorded::Frequencies.entry_len() * num_full;
        let recorded = match has_none {
            true => Recorded::Documents,
            false => recorded,
        };
        let entry_len = recorded.entry_len();
        if skips.len() < entry_len * num_full {
            return Err(damaged());
        }
        Ok(Self::at_start(num_docs, recorded, entry_len, skips, blocks))
    }
}

fn skip_list(mut bytes: OwnedBytes) -> io::Result<(OwnedBytes, OwnedBytes)> {
    let len = read_vint(&mut bytes).ok_or_else(damaged)?;
    let len = usize::try_from(len).map_err(|_| damaged())?;
    match len <= bytes.len() {
        true => Ok(bytes.split(len)),
        false => Err(damaged()),
    }
}

/// Reads a varint, whose last byte has the highest bit set.
pub(crate) fn read_vint(bytes: &mut OwnedBytes) -> Option<u64> {
    let mut number = 0u64;
    for (ord, byte) in (0u32..10).zip(bytes.iter().copied()) {
        number |= u64::from(byte & 127).checked_shl(7 * ord)?;
        if byte >= 128 {
            bytes.advance(ord as usize + 1);
            return Some(number);
        }
    }
    None
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a posting list ends before its skip list does",
    )
}

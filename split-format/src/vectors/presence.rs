//! Which documents have a vector, and the place of each among the exact vectors, if some have none.
//!
//! ```text
//!   for each 4,096 documents, of the last time what is left:
//!     u32 vectors of the documents before · a bit for each document, lowest first
//! ```
//!
//! A document's place takes one read of at most 516 bytes.

use std::ops::Range;

use crate::FormatError;
use crate::version::VECTORS_NAME;

/// Number of documents of a block.
const BLOCK_DOCS: u32 = 4_096;

const COUNT_LEN: usize = 4;

/// Length of a block but the last.
const BLOCK_LEN: u64 = COUNT_LEN as u64 + BLOCK_DOCS as u64 / 8;

/// Number of documents, of which some have a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presence {
    num_docs: u32,
    num_vectors: u32,
}

impl Presence {
    /// Returns `None` if all documents have a vector.
    pub(super) fn new(num_docs: u32, num_vectors: u32) -> Option<Self> {
        (num_vectors < num_docs).then_some(Self {
            num_docs,
            num_vectors,
        })
    }

    /// Returns the number of bytes of all blocks.
    pub(super) fn len(self) -> u64 {
        let num_blocks = self.num_docs.div_ceil(BLOCK_DOCS);
        u64::from(num_blocks) * COUNT_LEN as u64 + u64::from(self.num_docs.div_ceil(8))
    }

    /// Returns where the block of a document is; an empty range if there is no such document.
    pub(super) fn range(self, doc: u32) -> Range<u64> {
        if doc >= self.num_docs {
            return 0..0;
        }
        let start = u64::from(doc / BLOCK_DOCS) * BLOCK_LEN;
        start..(start + BLOCK_LEN).min(self.len())
    }

    /// Returns the place of a document's vector. `bytes` are those of its block.
    pub(super) fn place_of(self, doc: u32, bytes: &[u8]) -> Result<Option<u32>, FormatError> {
        let error = |problem| FormatError::new(VECTORS_NAME, problem);
        let range = self.range(doc);
        if range.is_empty() {
            return Ok(None);
        }
        if bytes.len() as u64 != range.end - range.start {
            return Err(error(
                "a block of documents with vectors has another length",
            ));
        }
        let (count, bits) = bytes
            .split_first_chunk::<COUNT_LEN>()
            .unwrap_or((&[0; 4], &[]));
        let bit = doc % BLOCK_DOCS;
        let place = usize::try_from(bit / 8).unwrap_or(usize::MAX);
        let byte = bits.get(place).copied().unwrap_or(0);
        if byte >> (bit % 8) & 1 == 0 {
            return Ok(None);
        }
        let before = bits.get(..place).unwrap_or_default();
        let num_before = before.iter().map(|byte| byte.count_ones()).sum::<u32>()
            + (byte & ((1 << (bit % 8)) - 1)).count_ones();
        let found = u32::from_le_bytes(*count).checked_add(num_before);
        let found = found.filter(|found| *found < self.num_vectors);
        found
            .map(Some)
            .ok_or_else(|| error("a document's vector has a place behind all vectors"))
    }

    /// Appends the blocks of documents, which ascend.
    pub(super) fn write(self, docs: &[u32], out: &mut Vec<u8>) {
        let mut rest = docs;
        let mut num_before = 0u32;
        for first in (0..self.num_docs).step_by(BLOCK_DOCS as usize) {
            let end = first.saturating_add(BLOCK_DOCS).min(self.num_docs);
            let (here, behind) = rest.split_at(rest.partition_point(|doc| *doc < end));
            out.extend_from_slice(&num_before.to_le_bytes());
            let mut bits = vec![0u8; (end - first).div_ceil(8) as usize];
            for doc in here {
                let bit = doc - first;
                if let Some(byte) = bits.get_mut(bit as usize / 8) {
                    *byte |= 1 << (bit % 8);
                }
            }
            out.extend(bits);
            num_before = num_before.saturating_add(u32::try_from(here.len()).unwrap_or(u32::MAX));
            rest = behind;
        }
    }
}

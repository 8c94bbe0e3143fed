//! The place of each document's vector among the exact ones, which stand in the order of clusters.
//!
//! ```text
//!   for each 1,024 vectors in the order of documents, of the last time what is left:
//!     u32 checksum · if some documents have no vector: num × document id · num × place
//!                    packed bits, then zeros up to a byte
//! ```
//!
//! The index has the first document of each block, unless every document has a vector: then that follows from the number of
//! the block. A document's place takes one read of a few KiB.

use std::ops::Range;

use super::{CHECKSUM_LEN, content, packed, packed_len, unpacked, width_of_places, write_piece};
use crate::FormatError;
use crate::codec::bits::bits_at;
use crate::codec::groups::{read_groups, write_groups};
use crate::codec::{Reader, Writer};
use crate::version::VECTORS_NAME;

/// Number of vectors of a block.
const BLOCK_LEN: u32 = 1_024;

/// Where the places of a field's vectors are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    num_docs: u32,
    num_vectors: u32,
    /// First document of each block; `None` if all documents have a vector.
    first_docs: Option<Vec<u32>>,
}

impl Places {
    /// Describes the places of the vectors of `docs`, which ascend.
    pub(super) fn of_docs(num_docs: u32, num_vectors: u32, docs: &[u32]) -> Self {
        let first_docs = docs.iter().step_by(BLOCK_LEN as usize).copied().collect();
        Self {
            num_docs,
            num_vectors,
            first_docs: (num_vectors < num_docs).then_some(first_docs),
        }
    }

    pub(super) fn read(
        reader: &mut Reader<'_>,
        num_docs: u32,
        num_vectors: u32,
    ) -> Result<Self, FormatError> {
        let mut places = Self {
            num_docs,
            num_vectors,
            first_docs: None,
        };
        if num_vectors < num_docs {
            let num_blocks = usize::try_from(places.num_blocks()).unwrap_or(usize::MAX);
            let first_docs: Vec<[u64; 1]> = read_groups(reader, num_blocks)?;
            let first_docs = first_docs.into_iter();
            let first_docs = first_docs
                .map(|[doc]| u32::try_from(doc).ok().filter(|doc| *doc < num_docs))
                .collect::<Option<Vec<u32>>>()
                .filter(|docs| docs.is_sorted_by(|one, next| one < next));
            let first_docs =
                first_docs.ok_or_else(|| reader.error("its documents are not in order"))?;
            places.first_docs = Some(first_docs);
        }
        Ok(places)
    }

    pub(super) fn write(&self, out: &mut Writer) {
        if let Some(first_docs) = &self.first_docs {
            let docs: Vec<u64> = first_docs.iter().copied().map(u64::from).collect();
            write_groups(out, [&docs]);
        }
    }

    fn num_blocks(&self) -> u32 {
        self.num_vectors.div_ceil(BLOCK_LEN)
    }

    /// Returns the number of vectors of a block.
    fn num_of(&self, block: u32) -> u32 {
        let before = block.saturating_mul(BLOCK_LEN);
        self.num_vectors.saturating_sub(before).min(BLOCK_LEN)
    }

    /// Returns the length of a block of `num` vectors.
    fn block_len(&self, num: u32) -> u64 {
        let docs = match self.first_docs {
            Some(_) => packed_len(num, width_of_places(self.num_docs)),
            None => 0,
        };
        CHECKSUM_LEN + docs + packed_len(num, width_of_places(self.num_vectors))
    }

    /// Returns the number of bytes of all blocks.
    pub(super) fn len(&self) -> u64 {
        let num_full = u64::from(self.num_vectors / BLOCK_LEN);
        let rest = match self.num_vectors % BLOCK_LEN {
            0 => 0,
            num => self.block_len(num),
        };
        num_full * self.block_len(BLOCK_LEN) + rest
    }

    /// Returns where each block is.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        (0..self.num_blocks()).map(|block| self.block_range(block))
    }

    fn block_range(&self, block: u32) -> Range<u64> {
        let start = u64::from(block) * self.block_len(BLOCK_LEN);
        start..start + self.block_len(self.num_of(block))
    }

    /// Returns the block that a document would be in.
    fn block_of(&self, doc: u32) -> Option<u32> {
        let block = match &self.first_docs {
            Some(first_docs) => {
                let next = first_docs.partition_point(|first| *first <= doc);
                u32::try_from(next.checked_sub(1)?).ok()?
            }
            None => doc / BLOCK_LEN,
        };
        (doc < self.num_docs).then_some(block)
    }

    /// Returns where the block of a document is; an empty range if it has no vector.
    pub(super) fn range(&self, doc: u32) -> Range<u64> {
        let block = self.block_of(doc);
        block.map_or(0..0, |block| self.block_range(block))
    }

    /// Returns the place of a document's vector. `bytes` are those of its block.
    pub(super) fn place_of(&self, doc: u32, bytes: &[u8]) -> Result<Option<u32>, FormatError> {
        let error = |problem| FormatError::new(VECTORS_NAME, problem);
        let Some(block) = self.block_of(doc) else {
            return Ok(None);
        };
        let num = self.num_of(block);
        if bytes.len() as u64 != self.block_len(num) {
            return Err(error("a block of places has another length"));
        }
        let mut places = content(bytes);
        let mut ord = doc % BLOCK_LEN;
        if self.first_docs.is_some() {
            let len = packed_len(num, width_of_places(self.num_docs));
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let (docs, rest) = places.split_at_checked(len).unwrap_or_default();
            let docs = unpacked(docs, num, self.num_docs);
            let docs = docs.filter(|docs| docs.is_sorted_by(|one, next| one < next));
            let docs =
                docs.ok_or_else(|| error("the documents of a block of places are not in order"))?;
            let Ok(found) = docs.binary_search(&doc) else {
                return Ok(None);
            };
            ord = u32::try_from(found).unwrap_or(u32::MAX);
            places = rest;
        }
        let place = bits_at(places, ord.into(), width_of_places(self.num_vectors));
        let place = place.and_then(|place| u32::try_from(place).ok());
        let place = place.filter(|place| *place < self.num_vectors);
        place
            .map(Some)
            .ok_or_else(|| error("a document's vector has a place behind all vectors"))
    }

    /// Appends the blocks of documents, which ascend, with the place of each.
    pub(super) fn write_blocks(&self, docs: &[u32], places: &[u32], out: &mut Vec<u8>) {
        let blocks = docs.chunks(BLOCK_LEN as usize);
        for (docs, places) in blocks.zip(places.chunks(BLOCK_LEN as usize)) {
            write_piece(out, |out| {
                if self.first_docs.is_some() {
                    out.extend(packed(docs, width_of_places(self.num_docs)));
                }
                out.extend(packed(places, width_of_places(self.num_vectors)));
            });
        }
    }
}

//! The documents of a split, as they were stored: blocks that are compressed each on its own, and where they stand.
//!
//! ```text
//!   docindex   version · dictionary, packed · templates, packed · longest block │ group of 64 blocks: documents, lengths │ …
//!   docs       block 0 │ block 1 │ …                  each begins at a multiple of 64 bytes
//!
//!   a block    zstd frame, made with the dictionary, zeros behind it
//!              └▶ columns of what tells its documents apart: `documents/block.rs`
//! ```
//!
//! Templates are what the documents of the split have in common, as far as it is whole values and words; the dictionary is
//! what their columns do. The dictionary is what lets blocks be short: it holds what all documents of the split have in common, so that a
//! block of few documents is hardly larger than the same documents within a long one. Lengths are said in units of
//! 64 bytes, because the index is in the head of the split, and what it says of a block costs a few bits so.

use std::ops::Range;

use crate::FormatError;
use crate::codec::groups::{read_groups, write_groups};
use crate::codec::{Reader, Writer};
use crate::version::{DOCUMENTS_NAME, DOCUMENTS_VERSION, TOO_OLD};

mod block;
mod block_writer;
mod column;
mod decoder;
mod templates;
mod variables;

pub use block::DocumentsBlock;
pub use block_writer::{BlockWriter, shape_of, template_of};
pub use decoder::{BlockDecoder, reserve_for_frame};
pub use templates::{Part, Templates};

/// A dictionary is no longer than this.
const MAX_DICTIONARY_NUM_BYTES: usize = 1 << 20;

/// Templates are no longer than this together.
const MAX_TEMPLATES_NUM_BYTES: usize = 1 << 20;

/// A block, and each document of it, is no longer than this: twice the longest `docstore_blocksize`. A reader holds one
/// at a time, and never more than what is packed can come to.
const MAX_BLOCK_NUM_BYTES: u64 = 2 << 30;

/// Blocks begin at multiples of this.
const UNIT_NUM_BYTES: usize = 64;

/// Where the documents of a split stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentIndex {
    /// A zstd frame; empty if there is none.
    packed_dictionary: Vec<u8>,
    /// The same.
    packed_templates: Vec<u8>,
    /// Length in bytes of the longest block: of its documents, or of its columns.
    max_block_len: u64,
    /// The first document of each block, and behind it the number of all documents.
    first_docs: Vec<u32>,
    /// Where each block begins in the file of documents, in bytes, and behind it where the last one ends.
    starts: Vec<u64>,
}

/// A block of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocBlock {
    /// Its place among the blocks.
    pub ord: usize,
    /// The documents in it.
    pub docs: Range<u32>,
    /// Its bytes within the file of documents.
    pub bytes: Range<u64>,
}

impl DocumentIndex {
    /// What the blocks were compressed with; empty if with nothing.
    ///
    /// # Errors
    /// If it cannot be decompressed, or is longer than a dictionary may be.
    pub fn dictionary(&self) -> Result<Vec<u8>, FormatError> {
        decoder::unpack(&self.packed_dictionary, MAX_DICTIONARY_NUM_BYTES)
    }

    /// What documents are made of, beside the columns of their block.
    ///
    /// # Errors
    /// If they cannot be decompressed, or are longer than templates may be.
    pub fn templates(&self) -> Result<Templates, FormatError> {
        let unpacked = decoder::unpack(&self.packed_templates, MAX_TEMPLATES_NUM_BYTES)?;
        Templates::open(&unpacked)
    }

    /// Number of documents.
    pub fn num_docs(&self) -> u32 {
        self.first_docs.last().copied().unwrap_or(0)
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.first_docs.len().saturating_sub(1)
    }

    /// Length in bytes of the longest block, uncompressed: of its documents, or of its columns if they are longer.
    pub fn max_block_len(&self) -> u64 {
        self.max_block_len
    }

    /// Length of the file of documents.
    pub fn num_bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The block that a document is in; `None` if there is no such document.
    pub fn block_of(&self, doc: u32) -> Option<DocBlock> {
        let next = self.first_docs.partition_point(|first| *first <= doc);
        self.block(next.checked_sub(1)?)
    }

    /// A block by its place among them.
    pub fn block(&self, ord: usize) -> Option<DocBlock> {
        let next = ord.checked_add(1)?;
        Some(DocBlock {
            ord,
            docs: *self.first_docs.get(ord)?..*self.first_docs.get(next)?,
            bytes: *self.starts.get(ord)?..*self.starts.get(next)?,
        })
    }

    /// Encodes it.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(DOCUMENTS_VERSION);
        out.bytes(&self.packed_dictionary);
        out.bytes(&self.packed_templates);
        out.varint(self.max_block_len);
        out.varint(self.num_blocks() as u64);
        let docs = differences(self.first_docs.iter().map(|doc| u64::from(*doc)));
        let units = differences(self.starts.iter().map(|at| at / UNIT_NUM_BYTES as u64));
        write_groups(&mut out, [&docs, &units]);
        out.into_bytes()
    }

    /// Decodes it.
    ///
    /// # Errors
    /// If the bytes are no index of documents, or of a version that this reader does not know.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(DOCUMENTS_NAME, bytes);
        let version = reader.u32()?;
        if version < DOCUMENTS_VERSION {
            return Err(reader.error(TOO_OLD));
        }
        if version != DOCUMENTS_VERSION {
            return Err(reader.error(format!(
                "version {version} is not known (this reader knows {DOCUMENTS_VERSION}): use a newer Canter"
            )));
        }
        let packed_dictionary = reader.bytes()?.to_vec();
        let packed_templates = reader.bytes()?.to_vec();
        let max_block_len = reader.varint()?;
        if max_block_len > MAX_BLOCK_NUM_BYTES {
            return Err(reader.error(format!(
                "a block of {max_block_len} bytes is longer than the {MAX_BLOCK_NUM_BYTES} that one may have"
            )));
        }
        let num_blocks = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
        let blocks = read_groups(&mut reader, num_blocks)?;
        let (mut doc, mut unit) = (0_u32, 0_u64);
        let (mut first_docs, mut starts) = (vec![0], vec![0]);
        for [num_docs, num_units] in blocks {
            let next = u32::try_from(num_docs)
                .ok()
                .and_then(|num| doc.checked_add(num));
            let end = unit
                .checked_add(num_units)
                .filter(|end| end.checked_mul(UNIT_NUM_BYTES as u64).is_some());
            (doc, unit) = match (next, end) {
                (Some(next), Some(end)) if next > doc && end > unit => (next, end),
                _ => return Err(reader.error("a block is empty, or longer than can be")),
            };
            first_docs.push(doc);
            starts.push(unit * UNIT_NUM_BYTES as u64);
        }
        reader.finish()?;
        Ok(Self {
            packed_dictionary,
            packed_templates,
            max_block_len,
            first_docs,
            starts,
        })
    }
}

/// Puts blocks one after the other.
#[derive(Debug, Default)]
pub struct DocumentsWriter {
    bytes: Vec<u8>,
    first_docs: Vec<u32>,
    starts: Vec<u64>,
    num_docs: u32,
    max_block_len: u64,
}

impl DocumentsWriter {
    /// Adds a block of documents. `frame` is what it was compressed to, and `block_len` the length of its documents or of
    /// its columns, whichever is longer.
    ///
    /// # Errors
    /// If these are more documents than a split may have.
    pub fn add_block(
        &mut self,
        num_docs: u32,
        block_len: usize,
        frame: &[u8],
    ) -> Result<(), FormatError> {
        let next = self.num_docs.checked_add(num_docs).ok_or_else(|| {
            FormatError::new(
                DOCUMENTS_NAME,
                "a split has more documents than can be counted",
            )
        })?;
        self.first_docs.push(self.num_docs);
        self.starts.push(self.bytes.len() as u64);
        self.num_docs = next;
        self.max_block_len = self.max_block_len.max(block_len as u64);
        self.bytes.extend_from_slice(frame);
        let padded = self.bytes.len().next_multiple_of(UNIT_NUM_BYTES);
        self.bytes.resize(padded, 0);
        Ok(())
    }

    /// Where the blocks are, and their bytes. `packed_dictionary` is what they were compressed with, as a zstd frame;
    /// empty if with nothing. So are the [`Templates`] that they were written with.
    pub fn finish(
        mut self,
        packed_dictionary: Vec<u8>,
        packed_templates: Vec<u8>,
    ) -> (DocumentIndex, Vec<u8>) {
        self.first_docs.push(self.num_docs);
        self.starts.push(self.bytes.len() as u64);
        let index = DocumentIndex {
            packed_dictionary,
            packed_templates,
            max_block_len: self.max_block_len,
            first_docs: self.first_docs,
            starts: self.starts,
        };
        (index, self.bytes)
    }
}

fn differences(numbers: impl Iterator<Item = u64> + Clone) -> Vec<u64> {
    let next = numbers.clone().skip(1);
    let pairs = numbers.zip(next);
    pairs
        .map(|(number, next)| next.saturating_sub(number))
        .collect()
}

#[cfg(test)]
mod tests;

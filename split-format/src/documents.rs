//! Stored documents of a split: separately compressed blocks, and their index.
//!
//! ```text
//!   docindex   version · dictionary, packed · templates, packed · longest block │ group of 64 blocks: documents, lengths │ …
//!   docs       block 0 │ block 1 │ …                  each begins at a multiple of 64 bytes
//!
//!   a block    checksum · content · zeros
//!              ├▶ either a zstd frame, made with the dictionary: columns of the differences between its documents (`block.rs`)
//!              └▶ or rows, coded with the split's models (`rows`), which stand in the place of the dictionary
//! ```
//!
//! Templates contain the whole values and words that documents of the split share, and the
//! dictionary contains common parts of their columns. A block has a checksum of its own, so that a reader
//! of one document need not read a whole block of the split's body. The dictionary permits short blocks: a block
//! of few documents is hardly larger than the same documents within a long one. Lengths are stored
//! in units of 64 bytes, so that the index, which is in the head of the split, takes a few bits for
//! each block.

use std::ops::Range;

use crate::FormatError;
use crate::codec::groups::{read_groups, write_groups};
use crate::codec::{Reader, Writer};
use crate::version::{
    DOCUMENTS_NAME, DOCUMENTS_VERSION, DOCUMENTS_WITHOUT_CHECKSUMS, TOO_OLD, checksum64,
};

mod block;
mod block_writer;
mod column;
mod decoder;
mod layout;
mod rows;
mod slots;
mod templates;
mod variables;

pub use block_writer::BlockWriter;
pub(crate) use decoder::unpack as unpack_frame;
pub use decoder::{BlockDecoder, reserve_for_frame};
pub use layout::{BlockLayout, DocumentsBlock};
pub use rows::{RowTraining, RowWriter};
pub use slots::{shape_of, template_of};
pub use templates::{Part, Templates};

/// Maximum length of a dictionary.
const MAX_DICTIONARY_NUM_BYTES: usize = 1 << 20;

/// Maximum length of the models of rows.
const MAX_MODELS_NUM_BYTES: usize = 1 << 20;

/// Maximum length of all templates together.
const MAX_TEMPLATES_NUM_BYTES: usize = 1 << 20;

/// Maximum length of a block, and of each document in it: twice the largest `docstore_blocksize`. A
/// reader holds one at a time, and never more than its compressed form can contain.
const MAX_BLOCK_NUM_BYTES: u64 = 2 << 30;

/// Length of a block's checksum, with which the block begins.
const CHECKSUM_NUM_BYTES: usize = 4;

/// Alignment of blocks in bytes.
const UNIT_NUM_BYTES: usize = 64;

/// Locations of a split's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentIndex {
    /// Dictionary as a zstd frame; empty if there is none.
    packed_dictionary: Vec<u8>,
    /// Models of rows as a zstd frame; empty if blocks are columns.
    packed_models: Vec<u8>,
    /// Templates as a zstd frame; empty if there are none.
    packed_templates: Vec<u8>,
    /// Length in bytes of the longest block: of its documents, or of its columns.
    max_block_len: u64,
    /// First document of each block, followed by the number of all documents.
    first_docs: Vec<u32>,
    /// Offset of each block in the file of documents, followed by the end of the last.
    starts: Vec<u64>,
    /// Seed of the blocks' checksums: a hash of the encoded index, so that no block passes for one of
    /// another split. `None` if blocks have no checksums, as in version 3.
    seed: Option<u64>,
}

/// Location of a block of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocBlock {
    /// Index among the blocks.
    pub ord: usize,
    /// Documents in the block.
    pub docs: Range<u32>,
    /// Bytes of the block within the file of documents.
    pub bytes: Range<u64>,
    /// How its bytes are checked.
    pub check: BlockCheck,
}

/// Check of a block's bytes, which begin with their checksum if they have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCheck {
    seed: Option<u64>,
}

impl BlockCheck {
    /// Creates the check of a block whose checksum has this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed: Some(seed) }
    }

    /// Puts the checksum of a block before its content.
    pub(crate) fn seal(&self, block: &mut [u8]) {
        if let Some((checksum, content)) = block.split_first_chunk_mut()
            && let Some(seed) = self.seed
        {
            *checksum = checksum_of(content, seed);
        }
    }

    /// Returns whether blocks have checksums.
    pub fn is_own(&self) -> bool {
        self.seed.is_some()
    }

    /// Returns what follows the checksum of a block's bytes, which is not verified.
    pub fn skip<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        match self.seed {
            Some(_) => bytes.get(CHECKSUM_NUM_BYTES..).unwrap_or_default(),
            None => bytes,
        }
    }

    /// Returns what follows the checksum of a block's bytes.
    ///
    /// # Errors
    /// The bytes are not those of the block.
    pub fn content<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], FormatError> {
        let Some(seed) = self.seed else {
            return Ok(bytes);
        };
        let parts = bytes.split_first_chunk();
        parts
            .filter(|(checksum, content)| **checksum == checksum_of(content, seed))
            .map(|(_, content)| content)
            .ok_or_else(|| FormatError::new(DOCUMENTS_NAME, "a block of documents is damaged"))
    }
}

/// Returns the low 32 bits of a hash, as they stand before a block.
fn checksum_of(content: &[u8], seed: u64) -> [u8; CHECKSUM_NUM_BYTES] {
    let [first, second, third, fourth, ..] =
        xxhash_rust::xxh3::xxh3_64_with_seed(content, seed).to_le_bytes();
    [first, second, third, fourth]
}

impl DocumentIndex {
    /// Returns the dictionary of the blocks; empty if they have none.
    ///
    /// # Errors
    /// It cannot be decompressed, or exceeds the limit.
    pub fn dictionary(&self) -> Result<Vec<u8>, FormatError> {
        decoder::unpack(&self.packed_dictionary, MAX_DICTIONARY_NUM_BYTES)
    }

    /// Returns the models of rows; empty if blocks are columns.
    ///
    /// # Errors
    /// They cannot be decompressed, or exceed the limit.
    pub fn models(&self) -> Result<Vec<u8>, FormatError> {
        decoder::unpack(&self.packed_models, MAX_MODELS_NUM_BYTES)
    }

    /// Returns the templates of the documents.
    ///
    /// # Errors
    /// They cannot be decompressed, or exceed the limit.
    pub fn templates(&self) -> Result<Templates, FormatError> {
        let unpacked = decoder::unpack(&self.packed_templates, MAX_TEMPLATES_NUM_BYTES)?;
        Templates::open(&unpacked)
    }

    /// Returns the number of documents.
    pub fn num_docs(&self) -> u32 {
        self.first_docs.last().copied().unwrap_or(0)
    }

    /// Returns the number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.first_docs.len().saturating_sub(1)
    }

    /// Returns the uncompressed length in bytes of the longest block: of its documents, or of its
    /// columns if they are longer.
    pub fn max_block_len(&self) -> u64 {
        self.max_block_len
    }

    /// Returns the length of the file of documents in bytes.
    pub fn num_bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the block of a document; `None` if the document does not exist.
    pub fn block_of(&self, doc: u32) -> Option<DocBlock> {
        let next = self.first_docs.partition_point(|first| *first <= doc);
        self.block(next.checked_sub(1)?)
    }

    /// Returns a block by its index.
    pub fn block(&self, ord: usize) -> Option<DocBlock> {
        let next = ord.checked_add(1)?;
        Some(DocBlock {
            ord,
            docs: *self.first_docs.get(ord)?..*self.first_docs.get(next)?,
            bytes: *self.starts.get(ord)?..*self.starts.get(next)?,
            check: BlockCheck {
                seed: self.seed.map(|seed| seed.wrapping_add(ord as u64)),
            },
        })
    }

    /// Puts the checksum of each block into the file of documents.
    pub fn seal(&self, file: &mut [u8]) {
        for block in (0..self.num_blocks()).map_while(|ord| self.block(ord)) {
            let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let bytes = file.get_mut(at(block.bytes.start)..at(block.bytes.end));
            if let Some(bytes) = bytes {
                block.check.seal(bytes);
            }
        }
    }

    /// Encodes the index.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self.seed {
            Some(_) => out.u32(DOCUMENTS_VERSION),
            None => out.u32(DOCUMENTS_WITHOUT_CHECKSUMS),
        }
        out.bytes(&self.packed_dictionary);
        if self.seed.is_some() {
            out.bytes(&self.packed_models);
        }
        out.bytes(&self.packed_templates);
        out.varint(self.max_block_len);
        out.varint(self.num_blocks() as u64);
        let docs = differences(self.first_docs.iter().map(|doc| u64::from(*doc)));
        let units = differences(self.starts.iter().map(|at| at / UNIT_NUM_BYTES as u64));
        write_groups(&mut out, [&docs, &units]);
        out.into_bytes()
    }

    /// Decodes the index.
    ///
    /// # Errors
    /// The bytes are no index of documents, or have an unknown version.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(DOCUMENTS_NAME, bytes);
        let version = reader.u32()?;
        if version < DOCUMENTS_WITHOUT_CHECKSUMS {
            return Err(reader.error(TOO_OLD));
        }
        if version > DOCUMENTS_VERSION {
            return Err(reader.error(format!(
                "version {version} is not known (this reader knows {DOCUMENTS_VERSION}): use a newer Canter"
            )));
        }
        let packed_dictionary = reader.bytes()?.to_vec();
        let is_new = version == DOCUMENTS_VERSION;
        let packed_models = match is_new {
            true => reader.bytes()?.to_vec(),
            false => Vec::new(),
        };
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
            seed: is_new.then(|| checksum64(bytes)),
            packed_dictionary,
            packed_models,
            packed_templates,
            max_block_len,
            first_docs,
            starts,
        })
    }
}

/// Writer of consecutive blocks.
#[derive(Debug, Default)]
pub struct DocumentsWriter {
    bytes: Vec<u8>,
    first_docs: Vec<u32>,
    starts: Vec<u64>,
    num_docs: u32,
    max_block_len: u64,
}

impl DocumentsWriter {
    /// Adds a block of documents. `frame` is its compressed form, and `block_len` the length of its
    /// documents or of its columns, whichever is larger.
    ///
    /// # Errors
    /// The split would have too many documents.
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
        // The place of the checksum, which depends on the index of all blocks.
        self.bytes.extend_from_slice(&[0; CHECKSUM_NUM_BYTES]);
        self.bytes.extend_from_slice(frame);
        let padded = self.bytes.len().next_multiple_of(UNIT_NUM_BYTES);
        self.bytes.resize(padded, 0);
        Ok(())
    }

    /// Returns the index and the bytes of the blocks. `packed_dictionary` is the dictionary that
    /// they were compressed with, as a zstd frame, or empty; `packed_models` likewise are the models
    /// of blocks of rows, and `packed_templates` the [`Templates`] that they were written with.
    pub fn finish(
        mut self,
        packed_dictionary: Vec<u8>,
        packed_models: Vec<u8>,
        packed_templates: Vec<u8>,
    ) -> (DocumentIndex, Vec<u8>) {
        self.first_docs.push(self.num_docs);
        self.starts.push(self.bytes.len() as u64);
        let mut index = DocumentIndex {
            packed_dictionary,
            packed_models,
            packed_templates,
            max_block_len: self.max_block_len,
            first_docs: self.first_docs,
            starts: self.starts,
            seed: Some(0),
        };
        index.seed = Some(checksum64(&index.write()));
        index.seal(&mut self.bytes);
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

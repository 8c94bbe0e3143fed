//! Stores the documents of a split: blocks that are compressed with a dictionary made of a sample of them.
//!
//! ```text
//!   sample ──▶ dictionary, and how many documents make a block
//!                   │
//!   documents ──────┴──▶ blocks ──▶ frames ──▶ the files `docs` and `docindex`
//! ```

use canter_doc_mapper::DocstoreSettings;
use canter_split_format::{DocumentsWriter, add_document};
use zstd::bulk::Compressor;

use crate::BuildError;

/// What a dictionary holds at most. It is in the head of the split: with half of it documents take 5 % more, with
/// twice of it 1 % less.
const MAX_DICTIONARY_NUM_BYTES: usize = 8 << 10;

/// Of so many bytes of documents one may be in the dictionary: who asks a small split for no document reads its head all
/// the same.
const BYTES_PER_DICTIONARY_BYTE: u64 = 512;

/// How hard it is compressed itself: it is short, and every head has it.
const DICTIONARY_LEVEL: i32 = 19;

/// A dictionary of less is not worth the time that making it takes: splits of less than 2 MiB have none.
const MIN_DICTIONARY_NUM_BYTES: usize = 4 << 10;

/// Documents that a sample has at most.
const SAMPLE_NUM_DOCS: usize = 2_048;

/// Bytes of each of them that a dictionary is made of at most: what a document begins with says enough of it.
const SAMPLE_DOC_NUM_BYTES: usize = 2_048;

/// The documents of a split as they are stored, in their order.
#[derive(Debug)]
pub struct StoredDocuments {
    /// The file that says where they stand.
    pub(super) index: Vec<u8>,
    /// The file of blocks.
    pub(super) blocks: Vec<u8>,
}

/// Which of so many documents are in the sample: every one, or one of each so many, in ascending order.
pub(crate) fn sampled(num_docs: usize) -> impl Iterator<Item = usize> {
    let step = num_docs.div_ceil(SAMPLE_NUM_DOCS).max(1);
    (0..num_docs).step_by(step)
}

/// What is known of documents before they are stored, from some of them.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Their beginnings, one after the other, and how long each is.
    bytes: Vec<u8>,
    lens: Vec<usize>,
    /// How long they are in all.
    num_bytes: u64,
}

impl Sample {
    /// Adds one of the documents that are [`sampled`].
    pub(crate) fn add(&mut self, document: &[u8]) {
        let beginning = document.get(..SAMPLE_DOC_NUM_BYTES).unwrap_or(document);
        self.bytes.extend_from_slice(beginning);
        self.lens.push(beginning.len());
        self.num_bytes += document.len() as u64;
    }

    /// Length of a document on average, at least 1.
    fn mean_num_bytes(&self) -> u64 {
        (self.num_bytes / (self.lens.len() as u64).max(1)).max(1)
    }

    /// A dictionary for so many documents; empty if it is not worth its bytes.
    fn dictionary(&self, num_docs: usize) -> Vec<u8> {
        let num_bytes = self.mean_num_bytes().saturating_mul(num_docs as u64);
        let wanted = usize::try_from(num_bytes / BYTES_PER_DICTIONARY_BYTE).unwrap_or(usize::MAX);
        let max_len = wanted.min(MAX_DICTIONARY_NUM_BYTES);
        if max_len < MIN_DICTIONARY_NUM_BYTES {
            return Vec::new();
        }
        // It refuses a sample of which it can learn nothing.
        zstd::dict::from_continuous(&self.bytes, &self.lens, max_len).unwrap_or_default()
    }
}

/// Compresses documents as they come.
pub(crate) struct DocumentsBuilder {
    compressor: Compressor<'static>,
    dictionary: Vec<u8>,
    writer: DocumentsWriter,
    /// What is not compressed yet, and how many documents it is.
    block: Vec<u8>,
    num_block_docs: u32,
    docs_per_block: u32,
    max_block_num_bytes: usize,
}

fn failed(error: std::io::Error) -> BuildError {
    BuildError::internal("stored documents cannot be compressed").caused_by(error)
}

impl DocumentsBuilder {
    /// `sample` is of the documents, which are `num_docs`.
    ///
    /// # Errors
    /// If the machine has no memory for it.
    pub(crate) fn new(
        sample: &Sample,
        num_docs: usize,
        settings: DocstoreSettings,
    ) -> Result<Self, BuildError> {
        // The same number of documents in every block costs the index nothing to say.
        let docs_per_block = settings.block_num_bytes as u64 / sample.mean_num_bytes();
        let dictionary = sample.dictionary(num_docs);
        let level = settings.compression_level;
        let mut compressor = Compressor::with_dictionary(level, &dictionary).map_err(failed)?;
        // Blocks have checksums, and know their dictionary.
        compressor.include_checksum(false).map_err(failed)?;
        compressor.include_dictid(false).map_err(failed)?;
        compressor.include_contentsize(true).map_err(failed)?;
        Ok(Self {
            compressor,
            dictionary,
            writer: DocumentsWriter::default(),
            block: Vec::new(),
            num_block_docs: 0,
            docs_per_block: u32::try_from(docs_per_block.max(1)).unwrap_or(u32::MAX),
            max_block_num_bytes: settings.block_num_bytes.saturating_mul(2),
        })
    }

    /// Adds the next document.
    ///
    /// # Errors
    /// If it cannot be compressed, or a split cannot have so many.
    pub(crate) fn add(&mut self, document: &[u8]) -> Result<(), BuildError> {
        // A long document stands alone rather than behind others that then cost as much to read.
        if self.num_block_docs > 0 && self.block.len() + document.len() > self.max_block_num_bytes {
            self.close_block()?;
        }
        add_document(&mut self.block, document);
        self.num_block_docs += 1;
        match self.num_block_docs >= self.docs_per_block {
            true => self.close_block(),
            false => Ok(()),
        }
    }

    fn close_block(&mut self) -> Result<(), BuildError> {
        let frame = self.compressor.compress(&self.block).map_err(failed)?;
        self.writer
            .add_block(self.num_block_docs, self.block.len(), &frame)
            .map_err(|error| BuildError::internal(error.to_string()))?;
        self.block.clear();
        self.num_block_docs = 0;
        Ok(())
    }

    /// The files.
    ///
    /// # Errors
    /// As [`DocumentsBuilder::add`].
    pub(crate) fn finish(mut self) -> Result<StoredDocuments, BuildError> {
        if self.num_block_docs > 0 {
            self.close_block()?;
        }
        let dictionary = match self.dictionary.is_empty() {
            true => Vec::new(),
            false => zstd::bulk::compress(&self.dictionary, DICTIONARY_LEVEL).map_err(failed)?,
        };
        let (index, blocks) = self.writer.finish(dictionary);
        Ok(StoredDocuments {
            index: index.write(),
            blocks,
        })
    }
}

#[cfg(test)]
mod tests;

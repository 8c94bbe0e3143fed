//! Stores the documents of a split: blocks of columns that are compressed with a dictionary, both made of a sample.
//!
//! ```text
//!   sample ──▶ templates, and how many documents make a block ──▶ blocks of the sample ──▶ dictionary
//!                   │                                                                         │
//!   documents ──────┴──▶ blocks ──────────────────────────────────────────────────────────────┴──▶ frames ──▶ the files
//!                                                                                            `docs` and `docindex`
//! ```

mod mining;
mod parts;

use canter_doc_mapper::DocstoreSettings;
use canter_split_format::{BlockWriter, DocumentsWriter, Templates};
use zstd::bulk::Compressor;

use crate::BuildError;
use mining::mined;
use parts::parts_of;

/// What a dictionary holds at most. It is in the head of the split.
const MAX_DICTIONARY_NUM_BYTES: usize = 8 << 10;

/// The same where templates hold most of what documents have in common: a longer one saves them a hundredth more.
const MAX_DICTIONARY_BESIDE_TEMPLATES_NUM_BYTES: usize = 2 << 10;

/// That is so if columns have less than one of so many bytes of their documents.
const TEMPLATES_HOLD_MOST: usize = 4;

/// Of so many bytes of documents one may be in templates, which are in the head, too, and compress well.
const BYTES_PER_TEMPLATE_BYTE: u64 = 128;

/// And no more than these in all.
const MAX_TEMPLATES_NUM_BYTES: u64 = 16 << 10;

/// Documents of a block of which dictionaries are made: a sample has a dozen of these.
const SAMPLE_BLOCK_NUM_DOCS: usize = 128;

/// A dictionary is made of pieces of blocks.
const SAMPLE_PIECE_NUM_BYTES: usize = 1 << 10;

/// Of so many bytes of documents one may be in the dictionary: who asks a small split for no document reads its head all
/// the same.
const BYTES_PER_DICTIONARY_BYTE: u64 = 512;

/// How hard dictionary and templates are compressed themselves: they are short, and every head has them.
const HEAD_LEVEL: i32 = 19;

/// A dictionary of less is not worth the time that making it takes: splits of less than 2 MiB have none.
const MIN_DICTIONARY_NUM_BYTES: usize = 4 << 10;

/// Documents that a sample has at most.
const SAMPLE_NUM_DOCS: usize = 2_048;

/// Bytes of each of them that are looked at: what a long document begins with says enough of it.
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

    /// How many bytes so many documents have, or about so many.
    fn estimated_num_bytes(&self, num_docs: usize) -> u64 {
        self.mean_num_bytes().saturating_mul(num_docs as u64)
    }

    fn documents(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        self.lens.iter().map_while(move |len| {
            let document;
            (document, rest) = rest.split_at_checked(*len)?;
            Some(document)
        })
    }

    /// What so many documents have in common.
    fn templates(&self, num_docs: usize) -> Templates {
        let max_num_bytes = self.estimated_num_bytes(num_docs) / BYTES_PER_TEMPLATE_BYTE;
        let max_num_bytes = max_num_bytes.min(MAX_TEMPLATES_NUM_BYTES);
        mined(self.documents(), max_num_bytes as usize)
    }

    /// A dictionary for the blocks that `writer` makes of so many documents; empty if it is not worth its bytes.
    fn dictionary(&self, num_docs: usize, writer: &mut BlockWriter) -> Vec<u8> {
        let wanted = self.estimated_num_bytes(num_docs) / BYTES_PER_DICTIONARY_BYTE;
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        if wanted < MIN_DICTIONARY_NUM_BYTES {
            return Vec::new();
        }
        let (mut bytes, mut lens) = (Vec::new(), Vec::new());
        let mut close = |writer: &mut BlockWriter| {
            let block = writer.finish();
            lens.extend(block.chunks(SAMPLE_PIECE_NUM_BYTES).map(<[u8]>::len));
            bytes.extend_from_slice(&block);
        };
        for document in self.documents() {
            writer.add(document, &parts_of(document));
            if writer.num_docs() == SAMPLE_BLOCK_NUM_DOCS {
                close(writer);
            }
        }
        if writer.num_docs() > 0 {
            close(writer);
        }
        let most = match bytes.len() * TEMPLATES_HOLD_MOST < self.bytes.len() {
            true => MAX_DICTIONARY_BESIDE_TEMPLATES_NUM_BYTES,
            false => MAX_DICTIONARY_NUM_BYTES,
        };
        // It refuses a sample of which it can learn nothing.
        zstd::dict::from_continuous(&bytes, &lens, wanted.min(most)).unwrap_or_default()
    }
}

/// Compresses documents as they come.
pub(crate) struct DocumentsBuilder {
    compressor: Compressor<'static>,
    dictionary: Vec<u8>,
    writer: DocumentsWriter,
    /// What is not compressed yet.
    block: BlockWriter,
    docs_per_block: usize,
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
        let mut block = BlockWriter::new(sample.templates(num_docs));
        let dictionary = sample.dictionary(num_docs, &mut block);
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
            block,
            docs_per_block: usize::try_from(docs_per_block.max(1)).unwrap_or(usize::MAX),
            max_block_num_bytes: settings.block_num_bytes.saturating_mul(2),
        })
    }

    /// Adds the next document.
    ///
    /// # Errors
    /// If it cannot be compressed, or a split cannot have so many.
    pub(crate) fn add(&mut self, document: &[u8]) -> Result<(), BuildError> {
        // A long document stands alone rather than behind others that then cost as much to read.
        let num_bytes = self.block.num_bytes() + document.len();
        if self.block.num_docs() > 0 && num_bytes > self.max_block_num_bytes {
            self.close_block()?;
        }
        self.block.add(document, &parts_of(document));
        match self.block.num_docs() >= self.docs_per_block {
            true => self.close_block(),
            false => Ok(()),
        }
    }

    fn close_block(&mut self) -> Result<(), BuildError> {
        let num_docs = u32::try_from(self.block.num_docs());
        let num_docs = num_docs.map_err(|error| BuildError::internal(error.to_string()))?;
        let num_bytes = self.block.num_bytes();
        let block = self.block.finish();
        let frame = self.compressor.compress(&block).map_err(failed)?;
        self.writer
            .add_block(num_docs, num_bytes.max(block.len()), &frame)
            .map_err(|error| BuildError::internal(error.to_string()))
    }

    /// The files.
    ///
    /// # Errors
    /// As [`DocumentsBuilder::add`].
    pub(crate) fn finish(mut self) -> Result<StoredDocuments, BuildError> {
        if self.block.num_docs() > 0 {
            self.close_block()?;
        }
        let pack = |bytes: &[u8]| match bytes {
            [] => Ok(Vec::new()),
            bytes => zstd::bulk::compress(bytes, HEAD_LEVEL).map_err(failed),
        };
        let dictionary = pack(&self.dictionary)?;
        let templates = pack(&self.block.templates().write())?;
        let (index, blocks) = self.writer.finish(dictionary, templates);
        Ok(StoredDocuments {
            index: index.write(),
            blocks,
        })
    }
}

#[cfg(test)]
mod tests;

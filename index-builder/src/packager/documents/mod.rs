//! Storage of a split's documents: blocks of columns, compressed with a dictionary, or of rows. A sample
//! determines templates, form, and dictionary or models.
//!
//! ```text
//!   sample ──▶ templates, and how many documents make a block ──▶ blocks of the sample ──▶ dictionary
//!                   │                                                                         │
//!   documents ──────┴──▶ blocks ──────────────────────────────────────────────────────────────┴──▶ frames ──▶ the files
//!                                                                                            `docs` and `docindex`
//! ```

mod form;
mod mining;
mod parts;

use canter_doc_mapper::DocstoreSettings;
use canter_split_format::{BlockWriter, DocumentsWriter, Templates};

use crate::BuildError;
use form::Form;
use mining::mined;
use parts::parts_of;

/// Maximum length of a dictionary, which is in the head of the split.
const MAX_DICTIONARY_NUM_BYTES: usize = 8 << 10;

/// Maximum length of a dictionary if templates hold most of what documents have in common. A longer
/// one would only save another hundredth.
const MAX_DICTIONARY_BESIDE_TEMPLATES_NUM_BYTES: usize = 2 << 10;

/// Templates hold most of it if columns take less than one in `TEMPLATES_HOLD_MOST` bytes of their
/// documents.
const TEMPLATES_HOLD_MOST: usize = 4;

/// Number of document bytes per byte of templates, which are also in the head and compress well.
const BYTES_PER_TEMPLATE_BYTE: u64 = 128;

/// Maximum length of all templates.
const MAX_TEMPLATES_NUM_BYTES: u64 = 16 << 10;

/// Number of documents in a block from which dictionaries are made. A sample has a dozen of these
/// blocks.
const SAMPLE_BLOCK_NUM_DOCS: usize = 128;

/// Length of the pieces of blocks from which a dictionary is made.
const SAMPLE_PIECE_NUM_BYTES: usize = 1 << 10;

/// Number of document bytes per byte of dictionary. Searches read the head of a small split even if
/// they need none of its documents.
const BYTES_PER_DICTIONARY_BYTE: u64 = 512;

/// Compression level of dictionary and templates, which are short and part of every head.
const HEAD_LEVEL: i32 = 19;

/// Minimum length of a dictionary that is worth the time to make it. Splits of less than 2 MiB have
/// none.
const MIN_DICTIONARY_NUM_BYTES: usize = 4 << 10;

/// Maximum number of documents in a sample.
const SAMPLE_NUM_DOCS: usize = RUN_NUM_DOCS * NUM_RUNS;

/// Number of neighbours in a sample, and how many such runs it has at most.
const RUN_NUM_DOCS: usize = 32;
const NUM_RUNS: usize = 128;

/// Maximum number of bytes of each sampled document: the beginning of a long document represents it
/// well enough.
const SAMPLE_DOC_NUM_BYTES: usize = 2_048;

/// Stored documents of a split, in order.
#[derive(Debug)]
pub struct StoredDocuments {
    /// File with the locations of blocks.
    pub(super) index: Vec<u8>,
    /// File of blocks.
    pub(super) blocks: Vec<u8>,
}

/// Returns the indexes of the documents in the sample, in ascending order: all of them, or runs of
/// neighbours that are evenly spread, because neighbours are often alike.
pub(crate) fn sampled(num_docs: usize) -> impl Iterator<Item = usize> {
    let step = match num_docs > SAMPLE_NUM_DOCS {
        true => num_docs / NUM_RUNS,
        false => RUN_NUM_DOCS,
    };
    let runs = (0..num_docs).step_by(step);
    runs.flat_map(move |start| start..num_docs.min(start + RUN_NUM_DOCS))
        .take(SAMPLE_NUM_DOCS)
}

/// Sample of the documents that will be stored.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Concatenated beginnings of documents, with their places in the split and lengths.
    bytes: Vec<u8>,
    lens: Vec<(usize, usize)>,
    /// Total length of the sampled documents.
    num_bytes: u64,
}

impl Sample {
    /// Adds one of the documents that are [`sampled`].
    pub(crate) fn add(&mut self, place: usize, document: &[u8]) {
        let beginning = document.get(..SAMPLE_DOC_NUM_BYTES).unwrap_or(document);
        self.bytes.extend_from_slice(beginning);
        self.lens.push((place, beginning.len()));
        self.num_bytes += document.len() as u64;
    }

    /// Returns the mean length of a document, at least 1.
    fn mean_num_bytes(&self) -> u64 {
        (self.num_bytes / (self.lens.len() as u64).max(1)).max(1)
    }

    /// Returns the approximate length of `num_docs` documents.
    fn estimated_num_bytes(&self, num_docs: usize) -> u64 {
        self.mean_num_bytes().saturating_mul(num_docs as u64)
    }

    /// Returns the beginnings of documents, with their places in the split.
    fn documents(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.lens.iter().map_while(move |(place, len)| {
            let document;
            (document, rest) = rest.split_at_checked(*len)?;
            Some((*place, document))
        })
    }

    fn num_docs(&self) -> usize {
        self.lens.len()
    }

    /// Returns templates for `num_docs` documents.
    fn templates(&self, num_docs: usize) -> Templates {
        let max_num_bytes = self.estimated_num_bytes(num_docs) / BYTES_PER_TEMPLATE_BYTE;
        let max_num_bytes = max_num_bytes.min(MAX_TEMPLATES_NUM_BYTES);
        let documents = self.documents().map(|(_, document)| document);
        mined(documents, max_num_bytes as usize)
    }

    /// Returns a dictionary for the blocks that `writer` makes of `num_docs` documents, or an empty
    /// one if it is not worth its bytes.
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
        for (_, document) in self.documents() {
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
        // Training fails for a sample that offers nothing to learn.
        zstd::dict::from_continuous(&bytes, &lens, wanted.min(most)).unwrap_or_default()
    }
}

/// Stores documents one by one.
pub(crate) struct DocumentsBuilder {
    writer: DocumentsWriter,
    form: Form,
    docs_per_block: usize,
    max_block_num_bytes: usize,
}

fn failed(error: std::io::Error) -> BuildError {
    BuildError::internal("stored documents cannot be compressed").caused_by(error)
}

impl DocumentsBuilder {
    /// Creates a builder for `num_docs` documents with the given sample.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(
        sample: &Sample,
        num_docs: usize,
        settings: DocstoreSettings,
    ) -> Result<Self, BuildError> {
        // The index takes no space if all blocks have the same number of documents.
        let docs_per_block = settings.block_num_bytes as u64 / sample.mean_num_bytes();
        let docs_per_block = usize::try_from(docs_per_block.max(1)).unwrap_or(usize::MAX);
        Ok(Self {
            writer: DocumentsWriter::default(),
            form: Form::of(sample, num_docs, docs_per_block, settings.compression_level)?,
            docs_per_block,
            max_block_num_bytes: settings.block_num_bytes.saturating_mul(2),
        })
    }

    /// Adds the next document.
    ///
    /// # Errors
    /// The document cannot be compressed, or the split has too many documents.
    pub(crate) fn add(&mut self, document: &[u8]) -> Result<(), BuildError> {
        // A long document gets a separate block, so that the documents before it stay cheap to
        // read.
        let num_bytes = self.form.num_bytes() + document.len();
        if self.form.num_docs() > 0 && num_bytes > self.max_block_num_bytes {
            self.close_block()?;
        }
        self.form.add(document);
        match self.form.num_docs() >= self.docs_per_block {
            true => self.close_block(),
            false => Ok(()),
        }
    }

    fn close_block(&mut self) -> Result<(), BuildError> {
        let block = self.form.close()?;
        let num_docs = u32::try_from(block.num_docs);
        let num_docs = num_docs.map_err(|error| BuildError::internal(error.to_string()))?;
        self.writer
            .add_block(num_docs, block.num_bytes, &block.bytes)
            .map_err(|error| BuildError::internal(error.to_string()))
    }

    /// Returns the files.
    ///
    /// # Errors
    /// Same as for [`DocumentsBuilder::add`].
    pub(crate) fn finish(mut self) -> Result<StoredDocuments, BuildError> {
        if self.form.num_docs() > 0 {
            self.close_block()?;
        }
        let pack = |bytes: &[u8]| match bytes {
            [] => Ok(Vec::new()),
            bytes => zstd::bulk::compress(bytes, HEAD_LEVEL).map_err(failed),
        };
        let [dictionary, models, templates] = self.form.into_head();
        let (index, blocks) =
            self.writer
                .finish(pack(&dictionary)?, pack(&models)?, pack(&templates)?);
        Ok(StoredDocuments {
            index: index.write(),
            blocks,
        })
    }
}

#[cfg(test)]
mod tests;

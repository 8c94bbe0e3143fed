//! Form of a split's blocks: compressed columns, or rows, whichever a sample shows to be better.

use canter_split_format::{BlockWriter, RowTraining, RowWriter, Templates};
use zstd::bulk::Compressor;

use super::parts::parts_of;
use super::{Sample, failed};
use crate::BuildError;

/// Rows are chosen if they take up to `MAX_ROWS_LEN` / `COLUMNS_LEN` of the bytes of columns: a hit costs a
/// tenth of its time in them.
const MAX_ROWS_LEN: u64 = 11;
const COLUMNS_LEN: u64 = 10;

/// Maximum length of models, and the number of document bytes for each of their bytes.
const MAX_MODELS_NUM_BYTES: u64 = 8 << 10;
const BYTES_PER_MODEL_BYTE: u64 = 512;

/// Writer of blocks in a form.
pub(super) enum Form {
    Columns(Box<Columns>),
    Rows(Box<RowWriter>),
}

/// Columns that are compressed with a dictionary.
pub(super) struct Columns {
    writer: BlockWriter,
    compressor: Compressor<'static>,
    dictionary: Vec<u8>,
}

/// Block in the form of the split.
pub(super) struct Block {
    pub(super) num_docs: usize,
    /// Length of its documents, or of its uncompressed columns if these are longer.
    pub(super) num_bytes: usize,
    pub(super) bytes: Vec<u8>,
}

impl Columns {
    fn new(
        sample: &Sample,
        num_docs: usize,
        templates: Templates,
        level: i32,
    ) -> Result<Self, BuildError> {
        let mut writer = BlockWriter::new(templates);
        let dictionary = sample.dictionary(num_docs, &mut writer);
        let mut compressor = Compressor::with_dictionary(level, &dictionary).map_err(failed)?;
        // Blocks have their own checksums and use a known dictionary.
        compressor.include_checksum(false).map_err(failed)?;
        compressor.include_dictid(false).map_err(failed)?;
        compressor.include_contentsize(true).map_err(failed)?;
        Ok(Self {
            writer,
            compressor,
            dictionary,
        })
    }
}

impl Form {
    /// Chooses the form of a split of `num_docs` documents.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn of(
        sample: &Sample,
        num_docs: usize,
        docs_per_block: usize,
        level: i32,
    ) -> Result<Self, BuildError> {
        let templates = sample.templates(num_docs);
        let mut columns = Self::Columns(Box::new(Columns::new(
            sample,
            num_docs,
            templates.clone(),
            level,
        )?));
        let mut training = RowTraining::new(templates);
        let mut before = None;
        for (place, document) in sample.documents() {
            if before.is_none_or(|before: usize| before + 1 != place) {
                training.start_run();
            }
            before = Some(place);
            training.add(document, &parts_of(document));
        }
        let max_num_bytes = sample.estimated_num_bytes(num_docs) / BYTES_PER_MODEL_BYTE;
        let max_num_bytes = max_num_bytes.min(MAX_MODELS_NUM_BYTES) as usize;
        let mut rows = Self::Rows(Box::new(training.writer(num_docs, max_num_bytes)));
        let of_columns = columns.estimate(sample, num_docs, docs_per_block)?;
        let of_rows = rows.estimate(sample, num_docs, docs_per_block)?;
        match of_rows.saturating_mul(COLUMNS_LEN) <= of_columns.saturating_mul(MAX_ROWS_LEN) {
            true => Ok(rows),
            false => Ok(columns),
        }
    }

    /// Returns about how many bytes `num_docs` documents take.
    fn estimate(
        &mut self,
        sample: &Sample,
        num_docs: usize,
        docs_per_block: usize,
    ) -> Result<u64, BuildError> {
        let mut num_bytes = 0_u64;
        for (_, document) in sample.documents() {
            self.add(document);
            if self.num_docs() >= docs_per_block {
                num_bytes += self.close()?.bytes.len() as u64;
            }
        }
        if self.num_docs() > 0 {
            num_bytes += self.close()?.bytes.len() as u64;
        }
        let num_sampled = (sample.num_docs() as u64).max(1);
        let of_head = match self {
            Self::Columns(columns) => columns.dictionary.len(),
            Self::Rows(rows) => rows.models().len(),
        };
        Ok(num_bytes.saturating_mul(num_docs as u64) / num_sampled + of_head as u64)
    }

    pub(super) fn add(&mut self, document: &[u8]) {
        let parts = parts_of(document);
        match self {
            Self::Columns(columns) => columns.writer.add(document, &parts),
            Self::Rows(rows) => rows.add(document, &parts),
        }
    }

    /// Returns the number of documents since the last block.
    pub(super) fn num_docs(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.writer.num_docs(),
            Self::Rows(rows) => rows.num_docs(),
        }
    }

    /// Returns the number of bytes of these documents.
    pub(super) fn num_bytes(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.writer.num_bytes(),
            Self::Rows(rows) => rows.num_bytes(),
        }
    }

    /// Returns these documents as a block.
    ///
    /// # Errors
    /// They cannot be compressed.
    pub(super) fn close(&mut self) -> Result<Block, BuildError> {
        let (num_docs, num_bytes) = (self.num_docs(), self.num_bytes());
        Ok(match self {
            Self::Columns(columns) => {
                let content = columns.writer.finish();
                Block {
                    num_docs,
                    num_bytes: num_bytes.max(content.len()),
                    bytes: columns.compressor.compress(&content).map_err(failed)?,
                }
            }
            Self::Rows(rows) => Block {
                num_docs,
                num_bytes,
                bytes: rows.finish(),
            },
        })
    }

    /// Returns the dictionary, models and templates of all blocks.
    pub(super) fn into_head(self) -> [Vec<u8>; 3] {
        match self {
            Self::Columns(columns) => {
                let templates = columns.writer.templates().write();
                [columns.dictionary, Vec::new(), templates]
            }
            Self::Rows(rows) => [Vec::new(), rows.models(), rows.templates().write()],
        }
    }
}

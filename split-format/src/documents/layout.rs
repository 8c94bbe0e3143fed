//! Layout of a split's blocks: columns, or rows.

use std::sync::Arc;

use super::block::ColumnsBlock;
use super::rows::{RowContext, RowsBlock};
use super::{DocumentIndex, Templates};
use crate::FormatError;

/// What the blocks of a split have in common.
#[derive(Clone, Debug)]
pub struct BlockLayout {
    form: Form,
    max_len: usize,
}

#[derive(Clone, Debug)]
enum Form {
    Columns(Arc<Templates>),
    Rows(Arc<RowContext>),
}

impl BlockLayout {
    /// Reads the layout of an index.
    ///
    /// # Errors
    /// Its templates or its models are invalid.
    pub fn of(index: &DocumentIndex) -> Result<Self, FormatError> {
        let max_len = usize::try_from(index.max_block_len()).unwrap_or(usize::MAX);
        let (templates, models) = (index.templates()?, index.models()?);
        if models.is_empty() {
            return Ok(Self::columns(templates, max_len));
        }
        Self::rows(templates, &models, max_len)
    }

    /// Layout of columns with these templates, for documents of `max_len` bytes at most.
    pub fn columns(templates: Templates, max_len: usize) -> Self {
        Self {
            form: Form::Columns(Arc::new(templates)),
            max_len,
        }
    }

    /// Layout of rows with these templates and models, for documents of `max_len` bytes at most.
    ///
    /// # Errors
    /// The models are invalid.
    pub fn rows(templates: Templates, models: &[u8], max_len: usize) -> Result<Self, FormatError> {
        Ok(Self {
            form: Form::Rows(Arc::new(RowContext::open(&templates, models)?)),
            max_len,
        })
    }

    /// Returns whether blocks are zstd frames.
    pub fn is_compressed(&self) -> bool {
        matches!(self.form, Form::Columns(_))
    }

    /// Reads a block of `num_docs` documents from its uncompressed bytes.
    ///
    /// # Errors
    /// The bytes are no block of that many documents. A damaged document may be reported only when
    /// it is read.
    pub fn open(&self, content: Vec<u8>, num_docs: u32) -> Result<DocumentsBlock, FormatError> {
        Ok(DocumentsBlock(match &self.form {
            Form::Columns(templates) => Block::Columns(ColumnsBlock::open(
                content,
                num_docs,
                templates,
                self.max_len,
            )?),
            Form::Rows(context) => {
                Block::Rows(RowsBlock::open(content, num_docs, context, self.max_len)?)
            }
        }))
    }
}

/// Documents of a block, assembled on demand, so that reading one of hundreds does not pay for all.
#[derive(Clone, Debug)]
pub struct DocumentsBlock(Block);

#[derive(Clone, Debug)]
enum Block {
    Columns(ColumnsBlock),
    Rows(RowsBlock),
}

impl DocumentsBlock {
    /// Returns a document by its index in the block. Reading forwards costs least.
    ///
    /// # Errors
    /// The document does not exist, is damaged, or exceeds the maximum length of the split's
    /// documents.
    pub fn get(&mut self, place: usize) -> Result<&[u8], FormatError> {
        match &mut self.0 {
            Block::Columns(block) => block.get(place),
            Block::Rows(block) => block.get(place),
        }
    }
}

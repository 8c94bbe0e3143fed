//! The stored documents of an open split.

use std::ops::Range;

use canter_doc_mapper::read_stored;
use canter_protocol::ByteClass;
use canter_split_format::{
    BlockDecoder, DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, DocBlock, DocumentIndex, DocumentsBlock,
    FileTable, FormatError, TOO_OLD,
};
use tantivy::TantivyDocument;
use tantivy::directory::OwnedBytes;

use super::directory::BodyFile;
use super::open::OpenSplit;
use crate::SearchError;

/// Position of a split's stored documents.
pub(crate) struct DocumentFiles {
    index: BodyFile,
    blocks: BodyFile,
}

impl DocumentFiles {
    /// # Errors
    /// If the split has none, or in an unknown format.
    pub(super) fn of(files: &FileTable) -> Result<Self, String> {
        let find = |name| BodyFile::find(files, name).ok_or_else(|| TOO_OLD.to_owned());
        Ok(Self {
            index: find(DOCUMENT_INDEX_FILE)?,
            blocks: find(DOCUMENTS_FILE)?,
        })
    }
}

/// Reads documents of one split. Consecutive reads from one block decompress it once.
pub(crate) struct Documents<'a> {
    split: &'a OpenSplit,
    index: DocumentIndex,
    /// Created on first use: it takes some hundred kilobytes of memory.
    decoder: Option<BlockDecoder>,
    block: Option<(DocBlock, DocumentsBlock)>,
}

impl<'a> Documents<'a> {
    /// Reads the index of the doc store: no request if the head contains it, as heads of our writer do.
    ///
    /// # Errors
    /// If it cannot be fetched.
    pub(crate) async fn open(split: &'a OpenSplit) -> Result<Self, SearchError> {
        let files = &split.document_files;
        let bytes = files.index.whole(&split.body, ByteClass::DocStore).await?;
        let named = |error: FormatError| split.error(error);
        let index = DocumentIndex::open(&bytes).map_err(named)?;
        if index.num_docs() != split.metadata.num_docs || index.num_bytes() != files.blocks.len() {
            return Err(split.error("it says of other documents where they stand than it has"));
        }
        Ok(Self {
            decoder: None,
            split,
            index,
            block: None,
        })
    }

    /// Returns the split's id.
    pub(crate) fn split_id(&self) -> &'a str {
        &self.split.entry.id
    }

    /// Returns the range of the body that must be resident for a document to be read.
    ///
    /// # Errors
    /// If there is no such document.
    pub(crate) fn range_of(&self, doc: u32) -> Result<Range<u64>, SearchError> {
        self.in_body(&self.block_of(doc)?)
    }

    /// Loads the block of a document alone; readers of many documents load [`Documents::range_of`] each.
    ///
    /// # Errors
    /// If there is no such document, or it cannot be fetched.
    pub(crate) async fn load(&self, doc: u32) -> Result<(), SearchError> {
        let block = self.block_of(doc)?;
        let (body, range) = (&self.split.body, self.in_body(&block)?);
        match block.check.is_own() {
            true => {
                body.load_piece(range, block.check, ByteClass::DocStore)
                    .await
            }
            false => body.load(range, ByteClass::DocStore).await,
        }
    }

    fn block_of(&self, doc: u32) -> Result<DocBlock, SearchError> {
        let block = self.index.block_of(doc);
        block.ok_or_else(|| self.split.error(format!("it has no document {doc}")))
    }

    fn in_body(&self, block: &DocBlock) -> Result<Range<u64>, SearchError> {
        let in_body = self.split.document_files.blocks.in_body(&block.bytes);
        in_body.ok_or_else(|| self.split.error("documents lie outside of their file"))
    }

    /// Returns the bytes of a block if they are here.
    fn bytes_of(&self, block: &DocBlock) -> Option<OwnedBytes> {
        let blocks = &self.split.document_files.blocks;
        blocks.bytes_here(&self.split.body, &block.bytes)
    }

    /// Returns whether a document can be read now.
    pub(crate) fn is_here(&self, doc: u32) -> bool {
        let is_open = self.block.as_ref();
        is_open.is_some_and(|(block, _)| block.docs.contains(&doc))
            || self
                .index
                .block_of(doc)
                .is_some_and(|block| self.bytes_of(&block).is_some())
    }

    /// Reads a document whose bytes are resident.
    ///
    /// # Errors
    /// If they are not resident, or are damaged.
    pub(crate) fn read(&mut self, doc: u32) -> Result<TantivyDocument, SearchError> {
        let split = self.split;
        let is_open = self.block.as_ref();
        if !is_open.is_some_and(|(block, _)| block.docs.contains(&doc)) {
            self.open_block(doc)?;
        }
        let missing = || split.error(format!("it has no document {doc}"));
        let (block, documents) = self.block.as_mut().ok_or_else(missing)?;
        let place = usize::try_from(doc.saturating_sub(block.docs.start)).unwrap_or(usize::MAX);
        let stored = documents.get(place).map_err(|error| split.error(error))?;
        read_stored(stored).map_err(|error| split.error(format!("document {doc}: {error}")))
    }

    fn open_block(&mut self, doc: u32) -> Result<(), SearchError> {
        let split = self.split;
        let block = self.block_of(doc)?;
        let blocks = &split.document_files.blocks;
        let bytes = blocks.loaded(&split.body, &block.bytes)?;
        let decoder = match self.decoder.take() {
            Some(decoder) => Ok(decoder),
            None => BlockDecoder::new(&self.index),
        };
        let mut decoder = decoder.map_err(|error| split.error(error))?;
        let documents = decoder.decode(&block, &bytes);
        let documents = documents.map_err(|error| split.error(error))?;
        self.decoder = Some(decoder);
        self.block = Some((block, documents));
        Ok(())
    }
}

//! Reader of stored documents, for a local split or one whose blocks are fetched on demand.

use std::fmt;
use std::io;

use canter_split_format::{
    BlockLayout, DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, DocBlock, DocumentIndex, DocumentsBlock,
    TOO_OLD, reserve_for_frame,
};
use tantivy::directory::FileHandle;
use zstd::bulk::Decompressor;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use super::directory::SplitFiles;

/// Stored documents of a split. Successive reads from one block cost one read of the file.
pub(crate) struct StoredReader {
    index: DocumentIndex,
    file: Box<dyn FileHandle>,
    // The guest's decoder would also work, but takes five times as long.
    decompressor: Decompressor<'static>,
    layout: BlockLayout,
    block: Option<(DocBlock, DocumentsBlock)>,
}

impl fmt::Debug for StoredReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "StoredReader({} documents)",
            self.index.num_docs()
        )
    }
}

fn damaged(problem: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.to_string())
}

impl StoredReader {
    /// # Errors
    /// The split does not have documents in a supported form, or they cannot be read.
    pub(crate) fn open(split: &SplitFiles) -> io::Result<Self> {
        let index = split.read(DOCUMENT_INDEX_FILE)?;
        let file = split.file(DOCUMENTS_FILE);
        let (Some(index), Some(file)) = (index, file) else {
            return Err(damaged(TOO_OLD));
        };
        let index = DocumentIndex::open(&index).map_err(damaged)?;
        if file.len() as u64 != index.num_bytes() {
            return Err(damaged(
                "its documents take other bytes than their index says",
            ));
        }
        let decompressor = Decompressor::with_dictionary(&index.dictionary().map_err(damaged)?)?;
        Ok(Self {
            layout: BlockLayout::of(&index).map_err(damaged)?,
            index,
            file,
            decompressor,
            block: None,
        })
    }

    pub(crate) fn num_docs(&self) -> u32 {
        self.index.num_docs()
    }

    /// Returns a document in its stored form.
    ///
    /// # Errors
    /// The document cannot be read, is damaged, or does not exist.
    pub(crate) fn get(&mut self, doc: u32) -> io::Result<&[u8]> {
        let is_here = |block: &Option<(DocBlock, _)>| {
            block
                .as_ref()
                .is_some_and(|(place, _)| place.docs.contains(&doc))
        };
        if !is_here(&self.block) {
            let place = self.index.block_of(doc);
            let place = place.ok_or_else(|| damaged("there is no such document"))?;
            let block = self.read_block(&place)?;
            self.block = Some((place, block));
        }
        let (place, block) = self
            .block
            .as_mut()
            .ok_or_else(|| damaged("there is no such document"))?;
        let place = usize::try_from(doc.saturating_sub(place.docs.start)).map_err(damaged)?;
        block.get(place).map_err(damaged)
    }

    fn read_block(&mut self, place: &DocBlock) -> io::Result<DocumentsBlock> {
        let at = |byte: u64| usize::try_from(byte).map_err(damaged);
        let bytes = self
            .file
            .read_bytes(at(place.bytes.start)?..at(place.bytes.end)?)?;
        let bytes = place.check.content(&bytes).map_err(damaged)?;
        let num_docs = place.docs.end.saturating_sub(place.docs.start);
        if !self.layout.is_compressed() {
            return self.layout.open(bytes.to_vec(), num_docs).map_err(damaged);
        }
        // Zeros pad the block after its frame.
        let frame_len = find_frame_compressed_size(bytes)
            .map_err(|_| damaged("a block of documents is none"))?;
        let frame = bytes.get(..frame_len).unwrap_or(bytes);
        let max_len = at(self.index.max_block_len())?;
        // Reserves memory by the length in the frame, since the maximum in the index may be wrong.
        let content_len = get_frame_content_size(frame)
            .map_err(|_| damaged("a block of documents is none"))?
            .ok_or_else(|| damaged("a block of documents does not say its length"))?;
        let mut block = reserve_for_frame(frame.len(), content_len, max_len).map_err(damaged)?;
        self.decompressor.decompress_to_buffer(frame, &mut block)?;
        self.layout.open(block, num_docs).map_err(damaged)
    }
}

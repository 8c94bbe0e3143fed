//! A block of documents, uncompressed: each with its length before it.

use std::ops::Range;

use crate::FormatError;
use crate::codec::{Reader, put_varint};
use crate::version::DOCUMENTS_NAME;

/// Appends a document to a block.
pub fn add_document(block: &mut Vec<u8>, document: &[u8]) {
    put_varint(block, document.len() as u64);
    block.extend_from_slice(document);
}

/// The documents of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentsBlock {
    bytes: Vec<u8>,
    documents: Vec<Range<usize>>,
}

impl DocumentsBlock {
    /// Finds the documents in a block's uncompressed bytes.
    ///
    /// # Errors
    /// If they are not exactly so many.
    pub fn open(bytes: Vec<u8>, num_docs: u32) -> Result<Self, FormatError> {
        let mut reader = Reader::new(DOCUMENTS_NAME, &bytes);
        let mut documents = Vec::new();
        for _ in 0..num_docs {
            let document = reader.bytes()?;
            let end = bytes.len() - reader.remaining();
            documents.push(end - document.len()..end);
        }
        reader.finish()?;
        Ok(Self { bytes, documents })
    }

    /// A document, by its place in the block.
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        self.bytes.get(self.documents.get(place)?.clone())
    }

    /// Gives back the memory of the block.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

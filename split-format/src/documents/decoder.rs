//! Decompresses blocks of documents: `ruzstd`, because it is zstd in plain Rust and so runs in wasm, too. It reads
//! what the C library writes at 280 MB of documents a second, a fifth of that library's rate.

use std::fmt;

use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};
use ruzstd::io::Read as _;

use super::{DocBlock, DocumentIndex, DocumentsBlock};
use crate::FormatError;
use crate::version::DOCUMENTS_NAME;

/// Decompresses the blocks of a split, one at a time.
pub struct BlockDecoder {
    decoder: FrameDecoder,
    dictionary_id: Option<u32>,
    max_block_len: usize,
}

impl fmt::Debug for BlockDecoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BlockDecoder")
    }
}

fn failed(error: impl fmt::Display) -> FormatError {
    FormatError::new(DOCUMENTS_NAME, error.to_string())
}

impl BlockDecoder {
    /// For the blocks of an index.
    ///
    /// # Errors
    /// If its dictionary is none.
    pub fn new(index: &DocumentIndex) -> Result<Self, FormatError> {
        let mut decoder = FrameDecoder::new();
        let dictionary_id = match index.dictionary() {
            [] => None,
            dictionary => {
                let dictionary = Dictionary::decode_dict(dictionary).map_err(failed)?;
                let id = dictionary.id;
                decoder.add_dict(dictionary).map_err(failed)?;
                Some(id)
            }
        };
        Ok(Self {
            decoder,
            dictionary_id,
            max_block_len: usize::try_from(index.max_block_len()).map_err(failed)?,
        })
    }

    /// The documents of a block, whose bytes these are.
    ///
    /// # Errors
    /// If they are no block of so many documents.
    pub fn decode(
        &mut self,
        place: &DocBlock,
        mut bytes: &[u8],
    ) -> Result<DocumentsBlock, FormatError> {
        self.decoder.reset(&mut bytes).map_err(failed)?;
        if let Some(id) = self.dictionary_id {
            self.decoder.force_dict(id).map_err(failed)?;
        }
        let len = usize::try_from(self.decoder.content_size()).map_err(failed)?;
        if len > self.max_block_len {
            return Err(failed("a block is longer than its index says"));
        }
        let mut block = vec![0; len];
        let strategy = BlockDecodingStrategy::UptoBytes(len.saturating_add(1));
        self.decoder
            .decode_blocks(&mut bytes, strategy)
            .map_err(failed)?;
        let num_read = self.decoder.read(&mut block).map_err(failed)?;
        if num_read != len || !self.decoder.is_finished() || self.decoder.can_collect() != 0 {
            return Err(failed("a block has another length than it says"));
        }
        DocumentsBlock::open(block, place.docs.end.saturating_sub(place.docs.start))
    }
}

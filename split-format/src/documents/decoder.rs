//! Decoder of document blocks. It uses `ruzstd`, zstd in plain Rust, which also runs in wasm. It
//! decodes 280 MB of documents a second, a fifth of the C library's rate.

use std::fmt;

use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};
use ruzstd::io::Read as _;

use super::{BlockLayout, DocBlock, DocumentIndex, DocumentsBlock};
use crate::FormatError;
use crate::version::DOCUMENTS_NAME;

/// Decoder of a split's blocks, one at a time.
pub struct BlockDecoder {
    decoder: FrameDecoder,
    dictionary_id: Option<u32>,
    layout: BlockLayout,
    max_block_len: usize,
}

impl fmt::Debug for BlockDecoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BlockDecoder")
    }
}

fn failed(problem: &str) -> FormatError {
    FormatError::new(DOCUMENTS_NAME, problem)
}

/// Converts an error to one sentence: ruzstd's detailed messages would add thousands of bytes to
/// the guest.
fn damaged<E>(_: E) -> FormatError {
    failed("what is compressed cannot be decompressed")
}

impl BlockDecoder {
    /// Creates a decoder for the blocks of an index.
    ///
    /// # Errors
    /// Its dictionary or its templates are invalid.
    pub fn new(index: &DocumentIndex) -> Result<Self, FormatError> {
        let mut decoder = FrameDecoder::new();
        let dictionary = index.dictionary()?;
        let dictionary_id = match dictionary.as_slice() {
            [] => None,
            dictionary => {
                let dictionary = Dictionary::decode_dict(dictionary).map_err(damaged)?;
                let id = dictionary.id;
                decoder.add_dict(dictionary).map_err(damaged)?;
                Some(id)
            }
        };
        Ok(Self {
            decoder,
            dictionary_id,
            layout: BlockLayout::of(index)?,
            max_block_len: usize::try_from(index.max_block_len()).map_err(damaged)?,
        })
    }

    /// Decodes the documents of a block from its bytes, whose checksum was verified.
    ///
    /// # Errors
    /// The bytes are no block of that many documents.
    pub fn decode(
        &mut self,
        place: &DocBlock,
        bytes: &[u8],
    ) -> Result<DocumentsBlock, FormatError> {
        let mut bytes = place.check.skip(bytes);
        let num_docs = place.docs.end.saturating_sub(place.docs.start);
        if !self.layout.is_compressed() {
            return self.layout.open(bytes.to_vec(), num_docs);
        }
        self.decoder.reset(&mut bytes).map_err(damaged)?;
        if let Some(id) = self.dictionary_id {
            self.decoder.force_dict(id).map_err(damaged)?;
        }
        let block = content_of(&mut self.decoder, bytes, self.max_block_len)?;
        self.layout.open(block, num_docs)
    }
}

/// Maximum expansion of a byte: a zstd block of four bytes can stand for 128 KiB of one repeated
/// byte.
const MOST_PER_BYTE: u64 = 32 << 10;

/// Allocates a buffer for the `content_len` bytes that a frame of `frame_len` bytes claims, up to
/// the limit `most`.
///
/// # Errors
/// The frame cannot contain as many, the limit is exceeded, or memory is exhausted.
pub fn reserve_for_frame(
    frame_len: usize,
    content_len: u64,
    most: usize,
) -> Result<Vec<u8>, FormatError> {
    let can_hold = (frame_len as u64).saturating_mul(MOST_PER_BYTE);
    let len = usize::try_from(content_len).ok();
    let Some(len) = len.filter(|len| *len <= most && content_len <= can_hold) else {
        return Err(failed("what is compressed is longer than it may be"));
    };
    let mut content = Vec::new();
    let reserved = content.try_reserve_exact(len);
    reserved.map_err(|_| failed("there is no memory for what is compressed"))?;
    Ok(content)
}

/// Decompresses a frame of at most `most` bytes; an empty one stays empty.
pub(crate) fn unpack(mut frame: &[u8], most: usize) -> Result<Vec<u8>, FormatError> {
    if frame.is_empty() {
        return Ok(Vec::new());
    }
    let mut decoder = FrameDecoder::new();
    decoder.reset(&mut frame).map_err(damaged)?;
    content_of(&mut decoder, frame, most)
}

/// Decompresses a frame whose header was read.
fn content_of(
    decoder: &mut FrameDecoder,
    mut bytes: &[u8],
    most: usize,
) -> Result<Vec<u8>, FormatError> {
    let mut content = reserve_for_frame(bytes.len(), decoder.content_size(), most)?;
    let len = usize::try_from(decoder.content_size()).map_err(damaged)?;
    content.resize(len, 0);
    let strategy = BlockDecodingStrategy::UptoBytes(len.saturating_add(1));
    decoder
        .decode_blocks(&mut bytes, strategy)
        .map_err(damaged)?;
    let num_read = decoder.read(&mut content).map_err(damaged)?;
    if num_read != len || !decoder.is_finished() || decoder.can_collect() != 0 {
        return Err(failed("what is compressed has another length than it says"));
    }
    Ok(content)
}

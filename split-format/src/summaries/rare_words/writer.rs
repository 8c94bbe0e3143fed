//! Writer of rare words, which takes the words of each field in order.

use super::block::{BlockWriter, Layout, StubLens};
use super::index::{RareBlock, RareWordsIndex, num_same};
use crate::FormatError;
use crate::version::RARE_WORDS_NAME;

/// Number of check bits: one in 256 words that are in no document leads to one.
const CHECK_WIDTH: u32 = 8;

/// Maximum number of blocks of a field, unless it has very many words. The index of 512 blocks takes
/// about 4 KB of the head.
const MAX_BLOCKS: u64 = 512;

/// Minimum number of words of a block but the last. 1,024 words take about 5 KB.
const MIN_BLOCK_WORDS: u64 = 1_024;

/// Maximum number of words of a block, which is decoded from its beginning.
const MAX_BLOCK_WORDS: u64 = 16_384;

/// Returns whether a word can be among the rare ones: it has a digit. Other words are looked for by their
/// endings and by similarity, too, which stubs decide late.
pub fn may_be_rare(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit)
}

/// Rare words of a split that have been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRareWords {
    /// Bytes of the index, which belong in the head.
    pub index: Vec<u8>,
    /// Bytes of all blocks.
    pub blocks: Vec<u8>,
}

/// Word whose successor decides how long its stub is.
struct Pending {
    word: Vec<u8>,
    docs: Vec<u32>,
    /// Number of bytes that it shares with the word before.
    num_same: usize,
}

/// Writer of the rare words of a split.
pub struct RareWordsWriter {
    index: RareWordsIndex,
    blocks: Vec<u8>,
    block: BlockWriter,
    block_words: u64,
    pending: Option<Pending>,
    /// Number of symbols of the last stub.
    last_len: usize,
}

impl RareWordsWriter {
    /// Creates a writer for a split of `num_docs` documents.
    pub fn new(num_docs: u32) -> Self {
        Self {
            index: RareWordsIndex {
                layout: Layout {
                    num_docs,
                    check_width: CHECK_WIDTH,
                },
                fields: Vec::new(),
            },
            blocks: Vec::new(),
            block: BlockWriter::default(),
            block_words: MIN_BLOCK_WORDS,
            pending: None,
            last_len: 0,
        }
    }

    /// Begins a field, which will get about `num_words` words.
    ///
    /// # Errors
    /// Fields must ascend.
    pub fn start_field(&mut self, field: u32, num_words: u64) -> Result<(), FormatError> {
        self.end_field();
        if self
            .index
            .fields
            .last()
            .is_some_and(|(last, _)| *last >= field)
        {
            return Err(refused("fields are written in order"));
        }
        self.index.fields.push((field, Vec::new()));
        self.block_words = (num_words / MAX_BLOCKS).clamp(MIN_BLOCK_WORDS, MAX_BLOCK_WORDS);
        Ok(())
    }

    /// Appends a word of the field, with the documents that contain it.
    ///
    /// # Errors
    /// Words must ascend, and so must documents, of which there must be one at least.
    pub fn push(&mut self, word: &[u8], docs: &[u32]) -> Result<(), FormatError> {
        let ascend = docs.is_sorted_by(|one, next| one < next);
        let is_known = |doc: &u32| *doc < self.index.layout.num_docs;
        if !ascend || !docs.last().is_some_and(is_known) || self.index.fields.is_empty() {
            return Err(refused("a word needs a field and documents in order"));
        }
        let last = self.pending.as_ref();
        if last.is_some_and(|last| last.word.as_slice() >= word) {
            return Err(refused("words are written in order"));
        }
        let num_same = last.map_or(0, |last| num_same(&last.word, word));
        self.write_pending(num_same);
        self.pending = Some(Pending {
            word: word.to_vec(),
            docs: docs.to_vec(),
            num_same,
        });
        Ok(())
    }

    /// Returns the bytes of all words.
    pub fn finish(mut self) -> WrittenRareWords {
        self.end_field();
        self.index.fields.retain(|(_, blocks)| !blocks.is_empty());
        WrittenRareWords {
            index: self.index.write(),
            blocks: self.blocks,
        }
    }

    fn end_field(&mut self) {
        self.write_pending(0);
        self.end_block();
        self.last_len = 0;
    }

    /// Writes the pending word, which shares `num_same_next` bytes with the next one.
    fn write_pending(&mut self, num_same_next: usize) {
        let Some(Pending {
            word,
            docs,
            num_same,
        }) = self.pending.take()
        else {
            return;
        };
        if self.block.num_words() >= self.block_words {
            self.end_block();
        }
        let lens = StubLens {
            all: num_same.max(num_same_next) + 1,
            before: self.last_len,
            kept: num_same,
        };
        let check_width = self.index.layout.check_width;
        self.block.push(&word, docs, lens, check_width);
        self.last_len = lens.all;
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.num_words() == 0 {
            return;
        }
        let start = self.blocks.len() as u64;
        self.blocks.extend(block.to_bytes(self.index.layout));
        let bytes = start..self.blocks.len() as u64;
        if let Some((_, blocks)) = self.index.fields.last_mut() {
            blocks.push(RareBlock::new(bytes, &block));
        }
    }
}

fn refused(problem: &str) -> FormatError {
    FormatError::new(RARE_WORDS_NAME, problem)
}

//! Index of the blocks of rare words: which block holds a word, and where it is.
//!
//! ```text
//!   u32 version 1
//!   varint32 num_docs · varint32 check_width (at most 32)
//!   count(4) num_fields × {                      fields ascending
//!     varint32 field                             number of the field in the schema
//!     count(4) num_blocks                        at least 1
//!     ceil(num_blocks / 64) × {                  64 blocks, the last time what is left
//!       numbers  words of each block             none of them 0
//!       numbers  bytes of each block
//!     }
//!     num_blocks × {
//!       u8 words · u8 rests                      classes of bytes: of its words, and of what its stubs leave out
//!       varint same · bytes rest                 its first stub: bytes that it shares with the one before it,
//!     }                                          and the others
//!   }
//! ```
//!
//! The blocks of all fields follow each other in this order, with nothing between them.

use std::ops::{Bound, Range};

use super::block::{BlockWriter, Layout, RareWords};
use super::classes::ByteClasses;
use crate::FormatError;
use crate::codec::groups::{read_groups, write_groups};
use crate::codec::{Reader, Writer};
use crate::version::{RARE_WORDS_NAME, RARE_WORDS_VERSION};

/// Maximum number of check bits.
const MAX_CHECK_WIDTH: u32 = 32;

/// Maximum number of bytes of all first stubs together.
const MAX_STUBS_LEN: usize = 16 << 20;

/// Block of rare words, as the index describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RareBlock {
    /// Bytes of the block among those of all blocks.
    pub bytes: Range<u64>,
    /// Number of words in the block, at least 1.
    pub num_words: u64,
    /// Bytes that its words may have.
    pub words: ByteClasses,
    /// Bytes that may follow its stubs.
    pub rests: ByteClasses,
    first: Vec<u8>,
}

impl RareBlock {
    /// Returns the first stub of the block: no word of a block before is above it.
    pub fn first(&self) -> &[u8] {
        &self.first
    }

    pub(super) fn new(bytes: Range<u64>, block: &BlockWriter) -> Self {
        Self {
            bytes,
            num_words: block.num_words(),
            words: block.words,
            rests: block.rests,
            first: block.first().to_vec(),
        }
    }
}

/// Blocks of the rare words of all fields of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RareWordsIndex {
    pub(super) layout: Layout,
    /// Number of each field with its blocks, ascending.
    pub(super) fields: Vec<(u32, Vec<RareBlock>)>,
}

impl RareWordsIndex {
    /// Reads an index.
    ///
    /// # Errors
    /// The bytes are no index, or one of an unknown version.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(RARE_WORDS_NAME, bytes);
        let version = reader.u32()?;
        if version != RARE_WORDS_VERSION {
            return Err(reader.error(format!(
                "version {version} is unknown, only {RARE_WORDS_VERSION} is known: use a newer Canter"
            )));
        }
        let num_docs = reader.varint_u32()?;
        let check_width = reader.varint_u32()?;
        if check_width > MAX_CHECK_WIDTH {
            return Err(reader.error(format!("a check of {check_width} bits")));
        }
        let mut index = Self {
            layout: Layout {
                num_docs,
                check_width,
            },
            fields: Vec::new(),
        };
        let mut end = 0;
        let mut stubs_len = 0;
        for _ in 0..reader.count(4)? {
            let field = reader.varint_u32()?;
            if index.fields.last().is_some_and(|(last, _)| *last >= field) {
                return Err(reader.error("its fields are not in order"));
            }
            let blocks = read_blocks(&mut reader, &mut end, &mut stubs_len)?;
            index.fields.push((field, blocks));
        }
        reader.finish()?;
        Ok(index)
    }

    /// Returns the bytes of the index.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(RARE_WORDS_VERSION);
        out.varint(u64::from(self.layout.num_docs));
        out.varint(u64::from(self.layout.check_width));
        out.varint(self.fields.len() as u64);
        for (field, blocks) in &self.fields {
            out.varint(u64::from(*field));
            out.varint(blocks.len() as u64);
            let words: Vec<u64> = blocks.iter().map(|block| block.num_words).collect();
            let lens = blocks.iter().map(|block| &block.bytes);
            let lens: Vec<u64> = lens.map(|bytes| bytes.end - bytes.start).collect();
            write_groups(&mut out, [&words, &lens]);
            let mut last: &[u8] = &[];
            for block in blocks {
                out.raw(&[block.words.bits(), block.rests.bits()]);
                let same = num_same(last, &block.first);
                out.varint(same as u64);
                out.bytes(block.first.get(same..).unwrap_or_default());
                last = &block.first;
            }
        }
        out.into_bytes()
    }

    /// Returns the number of documents of the split, below which all document ids are.
    pub fn num_docs(&self) -> u32 {
        self.layout.num_docs
    }

    /// Returns the numbers of the fields that have rare words, ascending.
    pub fn fields(&self) -> impl Iterator<Item = u32> {
        self.fields.iter().map(|(field, _)| *field)
    }

    /// Returns the number of bytes of all blocks.
    pub fn blocks_len(&self) -> u64 {
        let last = self
            .fields
            .iter()
            .rev()
            .find_map(|(_, blocks)| blocks.last());
        last.map_or(0, |block| block.bytes.end)
    }

    /// Returns the only block of a field that can hold `word`.
    pub fn block_of(&self, field: u32, word: &[u8]) -> Option<&RareBlock> {
        let blocks = self.blocks_of(field);
        let end = blocks.partition_point(|block| block.first.as_slice() <= word);
        blocks.get(end.checked_sub(1)?)
    }

    /// Returns the blocks of a field that can hold words of a range.
    pub fn blocks_within(
        &self,
        field: u32,
        (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
    ) -> &[RareBlock] {
        let blocks = self.blocks_of(field);
        let start = match lower {
            Bound::Included(word) | Bound::Excluded(word) => {
                let end = blocks.partition_point(|block| block.first.as_slice() <= word);
                end.saturating_sub(1)
            }
            Bound::Unbounded => 0,
        };
        let end = match upper {
            Bound::Included(word) => blocks.partition_point(|block| block.first.as_slice() <= word),
            Bound::Excluded(word) => blocks.partition_point(|block| block.first.as_slice() < word),
            Bound::Unbounded => blocks.len(),
        };
        blocks.get(start..end).unwrap_or_default()
    }

    /// Opens a block, whose bytes are `bytes`.
    ///
    /// # Errors
    /// It is not the block that this index names.
    pub fn open_block<'a>(
        &self,
        block: &'a RareBlock,
        bytes: &'a [u8],
    ) -> Result<RareWords<'a>, FormatError> {
        if block.bytes.end - block.bytes.start != bytes.len() as u64 {
            return Err(FormatError::new(
                RARE_WORDS_NAME,
                "a block has another length than the index says",
            ));
        }
        RareWords::open(bytes, self.layout, block.num_words, &block.first)
    }

    /// Returns the blocks of a field, in the order of their words.
    pub fn blocks_of(&self, field: u32) -> &[RareBlock] {
        let found = self
            .fields
            .binary_search_by_key(&field, |(field, _)| *field);
        let found = found.ok().and_then(|place| self.fields.get(place));
        found.map_or(&[], |(_, blocks)| blocks.as_slice())
    }
}

/// Returns the number of bytes with which both begin.
pub(super) fn num_same(one: &[u8], other: &[u8]) -> usize {
    let both = one.iter().zip(other);
    both.take_while(|(one, other)| one == other).count()
}

/// Reads the blocks of a field, which begin at `end` and move it.
fn read_blocks(
    reader: &mut Reader<'_>,
    end: &mut u64,
    stubs_len: &mut usize,
) -> Result<Vec<RareBlock>, FormatError> {
    let num_blocks = reader.count(4)?;
    if num_blocks == 0 {
        return Err(reader.error("a field without blocks"));
    }
    let numbers: Vec<[u64; 2]> = read_groups(reader, num_blocks)?;
    let mut blocks: Vec<RareBlock> = Vec::new();
    for [num_words, len] in numbers {
        let start = *end;
        *end = start
            .checked_add(len)
            .ok_or_else(|| reader.error("its blocks are longer than 64 bits can say"))?;
        if num_words == 0 {
            return Err(reader.error("a block without words"));
        }
        let [words, rests] = reader.array()?.map(ByteClasses::from_bits);
        if !words.has_all(rests) {
            return Err(reader.error("words end in other bytes than they have"));
        }
        let last = blocks.last().map_or(&[][..], |block| &block.first);
        let same = reader.varint()?;
        let same = usize::try_from(same).ok().and_then(|same| last.get(..same));
        let same = same.ok_or_else(|| reader.error("a stub shares more than there is"))?;
        let first = [same, reader.bytes()?].concat();
        // Each shares bytes with the one before: few bytes could become many.
        *stubs_len = stubs_len.saturating_add(first.len());
        if *stubs_len > MAX_STUBS_LEN {
            return Err(reader.error("its stubs are too long"));
        }
        if !blocks.is_empty() && last >= first.as_slice() {
            return Err(reader.error("its blocks are not in order"));
        }
        blocks.push(RareBlock {
            bytes: start..*end,
            num_words,
            words,
            rests,
            first,
        });
    }
    Ok(blocks)
}

//! Block of rare words, written and read as a whole.
//!
//! ```text
//!   varint num_words
//!   count(1) alphabet_len · symbols of the alphabet, ascending     varint each: by how much it exceeds the one before
//!   varint gap_width (at most 32)
//!   num_words × {                                                  bits, lowest first, up to the end
//!     unary dropped · unary added · added × place in the alphabet  the stub
//!     check                                                        check_width bits
//!     unary num_docs · first document · (num_docs - 1) × gap       documents, ascending
//!   }
//! ```
//!
//! A symbol is 0 for the end of a word, else one more than a byte; its place takes as few bits as the
//! last one. A stub is the one before it without its last symbols (`dropped`, at least one), and with
//! others behind (`added`, at least one). The first stub of a block drops nothing and does not say so.
//!
//! A document takes the bits of the split's last one. A gap is the number of documents between two, in
//! `gap_width` bits; if these are all ones, the document itself follows. A unary number `n`, at least 1,
//! is `n - 1` zeros and a one.

use super::classes::ByteClasses;
use crate::FormatError;
use crate::codec::bits::{BitWriter, bits_from};
use crate::codec::{Reader, Writer};
use crate::version::{RARE_WORDS_NAME, checksum64};

/// Symbol that ends a word.
const END: u16 = 0;
/// Largest symbol: the byte 255.
const MAX_SYMBOL: u16 = 256;
/// Maximum number of bits of a gap.
const MAX_GAP_WIDTH: u32 = 32;

/// Returns the lowest bits of a word's hash.
pub(super) fn check_of(word: &[u8], width: u32) -> u64 {
    checksum64(word) & mask(width)
}

/// Returns a number of `width` ones, at most 63.
fn mask(width: u32) -> u64 {
    (1 << width.min(63)) - 1
}

/// Returns the number of bits that the numbers below `num` take.
fn width_of(num: u64) -> u32 {
    u64::BITS - num.saturating_sub(1).leading_zeros()
}

/// Facts that the blocks of a split share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) num_docs: u32,
    pub(super) check_width: u32,
}

impl Layout {
    fn doc_width(self) -> u32 {
        width_of(u64::from(self.num_docs))
    }
}

/// Numbers of symbols of a stub.
#[derive(Clone, Copy)]
pub(super) struct StubLens {
    /// Of the stub.
    pub(super) all: usize,
    /// Of the stub before it.
    pub(super) before: usize,
    /// That both begin with.
    pub(super) kept: usize,
}

/// Word that is being written.
struct Entry {
    /// Number of symbols that its stub drops, 0 for the first of a block.
    dropped: usize,
    added: Vec<u16>,
    check: u64,
    docs: Vec<u32>,
}

/// Block that is being written.
#[derive(Default)]
pub(super) struct BlockWriter {
    entries: Vec<Entry>,
    /// Bytes of the first stub.
    first: Vec<u8>,
    /// Bytes of the words.
    pub(super) words: ByteClasses,
    /// Bytes that the stubs leave out.
    pub(super) rests: ByteClasses,
}

impl BlockWriter {
    pub(super) fn num_words(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Returns the bytes of the first stub.
    pub(super) fn first(&self) -> &[u8] {
        &self.first
    }

    /// Appends a word.
    pub(super) fn push(&mut self, word: &[u8], docs: Vec<u32>, lens: StubLens, check_width: u32) {
        let StubLens { all, before, kept } = lens;
        let (kept, dropped) = match self.entries.is_empty() {
            true => (0, 0),
            false => (kept, before.saturating_sub(kept)),
        };
        if self.entries.is_empty() {
            self.first = word.get(..all).unwrap_or(word).to_vec();
        }
        let rest = word.get(all..).unwrap_or_default();
        self.words = self.words.with(ByteClasses::of(word));
        self.rests = self.rests.with(ByteClasses::of(rest));
        let symbols = word.iter().map(|byte| u16::from(*byte) + 1).chain([END]);
        let added = symbols.take(all).skip(kept);
        self.entries.push(Entry {
            dropped,
            added: added.collect(),
            check: check_of(word, check_width),
            docs,
        });
    }

    /// Returns the bytes of the block.
    pub(super) fn to_bytes(&self, layout: Layout) -> Vec<u8> {
        let added = self.entries.iter().flat_map(|entry| &entry.added);
        let mut alphabet: Vec<u16> = added.copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let symbol_width = width_of(alphabet.len() as u64);
        let gap_width = self.gap_width(layout.doc_width());
        let mut out = Writer::default();
        out.varint(self.num_words());
        out.varint(alphabet.len() as u64);
        let mut last = 0;
        for symbol in &alphabet {
            out.varint(u64::from(symbol - last));
            last = *symbol;
        }
        out.varint(u64::from(gap_width));
        let mut bits = BitWriter::default();
        for entry in &self.entries {
            if entry.dropped > 0 {
                push_unary(&mut bits, entry.dropped);
            }
            push_unary(&mut bits, entry.added.len());
            for symbol in &entry.added {
                let place = alphabet.binary_search(symbol).unwrap_or_default();
                bits.push(place as u64, symbol_width);
            }
            bits.push(entry.check, layout.check_width);
            push_unary(&mut bits, entry.docs.len());
            let mut last = None;
            for doc in &entry.docs {
                push_doc(&mut bits, *doc, last, gap_width, layout.doc_width());
                last = Some(*doc);
            }
        }
        out.raw(&bits.into_bytes());
        out.into_bytes()
    }

    /// Returns the width of gaps with which the documents take the fewest bits.
    fn gap_width(&self, doc_width: u32) -> u32 {
        // Number of gaps by the least width that takes them.
        let mut gaps = [0u64; MAX_GAP_WIDTH as usize + 1];
        for entry in &self.entries {
            for pair in entry.docs.windows(2) {
                let [one, next] = pair else { continue };
                // All ones are no gap.
                let width = width_of(gap_between(*one, *next) + 2);
                if let Some(num) = gaps.get_mut(width as usize) {
                    *num += 1;
                }
            }
        }
        let num_gaps: u64 = gaps.iter().sum();
        let num_bits = |width: &u32| {
            let fit: u64 = gaps.iter().take(*width as usize + 1).sum();
            num_gaps * u64::from(*width) + (num_gaps - fit) * u64::from(doc_width)
        };
        (0..=doc_width).min_by_key(num_bits).unwrap_or(0)
    }
}

/// Returns the number of documents between two.
fn gap_between(one: u32, next: u32) -> u64 {
    u64::from(next.saturating_sub(one)).saturating_sub(1)
}

fn push_doc(bits: &mut BitWriter, doc: u32, last: Option<u32>, gap_width: u32, doc_width: u32) {
    if let Some(last) = last {
        let (gap, escape) = (gap_between(last, doc), mask(gap_width));
        bits.push(gap.min(escape), gap_width);
        if gap < escape {
            return;
        }
    }
    bits.push(u64::from(doc), doc_width);
}

/// Appends a number from 1 on.
fn push_unary(bits: &mut BitWriter, number: usize) {
    for _ in 1..number {
        bits.push(0, 1);
    }
    bits.push(1, 1);
}

/// Rare word of a block, as far as the block knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RareWord<'w> {
    /// Beginning of the word, or all of it.
    pub stub: &'w [u8],
    /// Whether the stub is all of the word.
    pub is_whole: bool,
    /// Documents that contain the word, ascending.
    pub docs: &'w [u32],
    pub(super) check: u64,
    pub(super) check_width: u32,
}

impl RareWord<'_> {
    /// Returns whether it may be `word`: certainly not, or probably.
    pub fn may_be(&self, word: &[u8]) -> bool {
        let begins = match self.is_whole {
            true => word == self.stub,
            false => word.starts_with(self.stub),
        };
        begins && self.check == check_of(word, self.check_width)
    }
}

/// Words of a block, read one after another.
#[derive(Debug)]
pub struct RareWords<'a> {
    layout: Layout,
    /// Stub with which the block must begin.
    first: &'a [u8],
    alphabet: Vec<u16>,
    gap_width: u32,
    bits: Bits<'a>,
    num_left: u64,
    is_first: bool,
    stub: Vec<u8>,
    is_whole: bool,
    docs: Vec<u32>,
}

impl<'a> RareWords<'a> {
    /// Opens a block of `num_words` words that begins with the stub `first`.
    pub(super) fn open(
        bytes: &'a [u8],
        layout: Layout,
        num_words: u64,
        first: &'a [u8],
    ) -> Result<Self, FormatError> {
        let mut reader = Reader::new(RARE_WORDS_NAME, bytes);
        let found = reader.varint()?;
        if found != num_words {
            return Err(reader.error(format!("a block has {found} words, not {num_words}")));
        }
        let mut alphabet: Vec<u16> = Vec::new();
        for _ in 0..reader.count(1)? {
            let more = reader.varint()?;
            let last = alphabet.last().copied();
            let symbol = u64::from(last.unwrap_or(0)).checked_add(more);
            let symbol = symbol.and_then(|symbol| u16::try_from(symbol).ok());
            let follows = |symbol: &u16| last.is_none_or(|last| last < *symbol);
            let symbol = symbol.filter(|symbol| *symbol <= MAX_SYMBOL && follows(symbol));
            alphabet.push(symbol.ok_or_else(|| reader.error("an alphabet is not in order"))?);
        }
        let gap_width = reader.varint_u32()?;
        if gap_width > MAX_GAP_WIDTH {
            return Err(reader.error(format!("a gap of {gap_width} bits")));
        }
        Ok(Self {
            layout,
            first,
            alphabet,
            gap_width,
            bits: Bits {
                bytes: reader.raw(reader.remaining())?,
                bit: 0,
            },
            num_left: num_words,
            is_first: true,
            stub: Vec::new(),
            is_whole: false,
            docs: Vec::new(),
        })
    }

    /// Returns the next word, in ascending order.
    ///
    /// # Errors
    /// The block is damaged.
    #[expect(
        clippy::should_implement_trait,
        reason = "a word borrows from the block, which an iterator's item cannot"
    )]
    pub fn next(&mut self) -> Result<Option<RareWord<'_>>, FormatError> {
        let Some(num_left) = self.num_left.checked_sub(1) else {
            return match self.bits.is_read() {
                true => Ok(None),
                false => Err(damaged("a block has more than its words")),
            };
        };
        self.num_left = num_left;
        self.next_stub()?;
        let check = self.bits.take(self.layout.check_width)?;
        self.next_docs()?;
        Ok(Some(RareWord {
            stub: &self.stub,
            is_whole: self.is_whole,
            docs: &self.docs,
            check,
            check_width: self.layout.check_width,
        }))
    }

    /// Returns the documents that may contain a word, ascending; none if no document does.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn find(mut self, word: &[u8]) -> Result<Vec<u32>, FormatError> {
        while let Some(found) = self.next()? {
            if found.may_be(word) {
                return Ok(found.docs.to_vec());
            }
            if found.stub > word {
                break;
            }
        }
        Ok(Vec::new())
    }

    fn next_stub(&mut self) -> Result<(), FormatError> {
        // Where two stubs differ, symbols ascend.
        let mut least = END;
        if !self.is_first {
            // The end of a word is a symbol, too.
            let dropped = self.bits.unary()? - usize::from(self.is_whole);
            let kept = self.stub.len().checked_sub(dropped);
            let kept = kept.ok_or_else(|| damaged("a stub drops more than there is"))?;
            let differing = self.stub.get(kept);
            least = differing.map_or(END, |byte| u16::from(*byte) + 1) + 1;
            self.stub.truncate(kept);
        }
        self.is_whole = false;
        let symbol_width = width_of(self.alphabet.len() as u64);
        for _ in 0..self.bits.unary()? {
            let place = usize::try_from(self.bits.take(symbol_width)?).unwrap_or(usize::MAX);
            let symbol = self.alphabet.get(place).copied();
            let symbol = symbol.ok_or_else(|| damaged("a symbol is none of the alphabet's"))?;
            if symbol < least || self.is_whole {
                return Err(damaged("the stubs are not in order"));
            }
            least = END;
            match symbol.checked_sub(1).map(u8::try_from) {
                Some(Ok(byte)) => self.stub.push(byte),
                _ => self.is_whole = true,
            }
        }
        if self.is_first && self.stub != self.first {
            return Err(damaged("a block is not the one that the index names"));
        }
        self.is_first = false;
        Ok(())
    }

    fn next_docs(&mut self) -> Result<(), FormatError> {
        let num_docs = self.bits.unary()?;
        self.docs.clear();
        for _ in 0..num_docs {
            let last = self.docs.last().copied();
            let gap = match last {
                Some(_) => self.bits.take(self.gap_width)?,
                None => mask(self.gap_width),
            };
            let doc = match last {
                Some(last) if gap < mask(self.gap_width) => u64::from(last) + 1 + gap,
                _ => self.bits.take(self.layout.doc_width())?,
            };
            let doc = u32::try_from(doc).unwrap_or(u32::MAX);
            if doc >= self.layout.num_docs || last.is_some_and(|last| last >= doc) {
                return Err(damaged("documents of a word are not in order"));
            }
            self.docs.push(doc);
        }
        Ok(())
    }
}

fn damaged(problem: &str) -> FormatError {
    FormatError::new(RARE_WORDS_NAME, problem)
}

/// Bits, read one after another.
#[derive(Debug)]
struct Bits<'a> {
    bytes: &'a [u8],
    bit: usize,
}

impl Bits<'_> {
    /// Returns a number of `width` bits, at most 64.
    fn take(&mut self, width: u32) -> Result<u64, FormatError> {
        let number = bits_from(self.bytes, self.bit as u64, width);
        self.bit = self.bit.saturating_add(width as usize);
        number.ok_or_else(|| damaged("a block is cut short"))
    }

    /// Returns a unary number, at least 1 and at most the number of bits.
    fn unary(&mut self) -> Result<usize, FormatError> {
        let from = self.bit;
        loop {
            let byte = self.bytes.get(self.bit / 8);
            let byte = byte.ok_or_else(|| damaged("a block is cut short"))?;
            let skipped = self.bit % 8;
            let rest = byte >> skipped;
            if rest != 0 {
                self.bit += rest.trailing_zeros() as usize + 1;
                return Ok(self.bit - from);
            }
            self.bit += 8 - skipped;
        }
    }

    /// Returns whether only the zeros up to a whole byte are left.
    fn is_read(&self) -> bool {
        let last = self.bytes.get(self.bit / 8).copied().unwrap_or(0);
        self.bytes.len() == self.bit.div_ceil(8) && last >> (self.bit % 8) == 0
    }
}

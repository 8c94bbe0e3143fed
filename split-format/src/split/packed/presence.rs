//! Blocks that say which documents have a value of a column.
//!
//! A block of tantivy's is about 65,536 documents and always has 10,240 bytes: for each 64 documents their bits, and the number of
//! values before them. A split of few documents has a block that is mostly empty, and a column that all documents but a few
//! have is as long. Here stand the bits up to the last one, or the documents that have none; the numbers follow from these.

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::FILE_TABLE;

/// Length of a block.
pub(super) const BLOCK_LEN: usize = 10_240;
const NUM_WORDS: usize = 1_024;
const NUM_DOCS: u64 = 65_536;
/// What follows: bits.
const BITS: u64 = 0;
/// What follows: documents without a value, each as what it is behind the one before.
const ABSENT: u64 = 1;

fn words_of(block: &[u8]) -> Option<Vec<u64>> {
    if block.len() != BLOCK_LEN {
        return None;
    }
    let (entries, _) = block.as_chunks::<10>();
    let words = entries.iter().map(|entry| {
        let bits = entry.first_chunk::<8>().copied().unwrap_or_default();
        u64::from_le_bytes(bits)
    });
    Some(words.collect())
}

fn block_of(words: &[u64]) -> Vec<u8> {
    let mut block = Vec::with_capacity(BLOCK_LEN);
    let mut num_before = 0_u16;
    for word in words {
        block.extend_from_slice(&word.to_le_bytes());
        block.extend_from_slice(&num_before.to_le_bytes());
        let num = u16::try_from(word.count_ones()).unwrap_or_default();
        num_before = num_before.wrapping_add(num);
    }
    block
}

/// Packs a block, if it is one.
pub(super) fn pack(block: &[u8]) -> Option<Vec<u8>> {
    let words = words_of(block)?;
    if block_of(&words) != block {
        return None;
    }
    let is_there = |doc: u64| {
        let word = usize::try_from(doc / 64)
            .ok()
            .and_then(|word| words.get(word));
        word.is_some_and(|word| word >> (doc % 64) & 1 == 1)
    };
    let end = (0..NUM_DOCS)
        .rev()
        .find(|doc| is_there(*doc))
        .map_or(0, |doc| doc + 1);
    let mut absent = Writer::default();
    absent.varint(end);
    absent.varint(ABSENT);
    let docs: Vec<u64> = (0..end).filter(|doc| !is_there(*doc)).collect();
    absent.varint(docs.len() as u64);
    let mut before = 0;
    for doc in docs {
        absent.varint(doc - before);
        before = doc;
    }
    let mut bits = Writer::default();
    bits.varint(end);
    bits.varint(BITS);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let num_bytes = usize::try_from(end.div_ceil(8)).ok()?;
    bits.raw(bytes.get(..num_bytes)?);
    let (absent, bits) = (absent.into_bytes(), bits.into_bytes());
    Some(match absent.len() < bits.len() {
        true => absent,
        false => bits,
    })
}

/// Returns the block.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, FormatError> {
    let mut reader = Reader::new(FILE_TABLE.name, packed);
    let end = reader.varint()?;
    if end > NUM_DOCS {
        return Err(reader.error("a packed block is of more documents than a block has"));
    }
    let mut words = vec![0_u64; NUM_WORDS];
    match reader.varint()? {
        BITS => {
            let num_bytes = usize::try_from(end.div_ceil(8)).unwrap_or_default();
            let bytes = reader.raw(num_bytes)?;
            for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
                let mut whole = [0_u8; 8];
                for (to, from) in whole.iter_mut().zip(bytes) {
                    *to = *from;
                }
                *word = u64::from_le_bytes(whole);
            }
        }
        ABSENT => {
            for (word, first) in words.iter_mut().zip((0..).step_by(64)) {
                *word = match end.saturating_sub(first) {
                    64.. => u64::MAX,
                    num => (1 << num) - 1,
                };
            }
            let num = reader.count(1)?;
            let mut doc = 0_u64;
            for _ in 0..num {
                doc = doc.saturating_add(reader.varint()?);
                let place = usize::try_from(doc / 64).unwrap_or(usize::MAX);
                let word = words.get_mut(place).filter(|_| doc < end);
                let word = word.ok_or_else(|| {
                    reader.error("a packed block lacks a document that it does not have")
                })?;
                *word &= !(1 << (doc % 64));
            }
        }
        _ => return Err(reader.error("a packed block has an unknown form")),
    }
    reader.finish()?;
    Ok(block_of(&words))
}

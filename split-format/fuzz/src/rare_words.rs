//! Arbitrary bytes as the index and the blocks of rare words: no panic, words in order, and no
//! document that the split does not have.
//!
//! The first byte is the length of the index, the rest is the index and the blocks. The bytes are also
//! used as words, which must be found again.

use std::collections::BTreeMap;
use std::ops::Bound;

use canter_split_format::{RareWordsIndex, RareWordsWriter};

/// Runs the check on one input.
pub fn rare_words(bytes: &[u8]) {
    if let Some((len, rest)) = bytes.split_first() {
        let (index, blocks) = rest.split_at(rest.len().min(usize::from(*len)));
        read(index, blocks);
    }
    write_and_find(bytes);
}

/// Reads whatever the bytes say there is.
fn read(index: &[u8], blocks: &[u8]) {
    let Ok(index) = RareWordsIndex::open(index) else {
        return;
    };
    assert_eq!(RareWordsIndex::open(&index.write()).as_ref(), Ok(&index));
    for field in 0..4 {
        for block in index.blocks_within(field, (Bound::Unbounded, Bound::Unbounded)) {
            let range = block.bytes.start as usize..block.bytes.end as usize;
            let bytes = blocks.get(range).unwrap_or(blocks);
            let Ok(mut words) = index.open_block(block, bytes) else {
                continue;
            };
            let mut last: Option<(Vec<u8>, bool)> = None;
            while let Ok(Some(word)) = words.next() {
                if let Some((last, is_whole)) = &last {
                    assert!(last.as_slice() < word.stub);
                    assert!(*is_whole || !word.stub.starts_with(last));
                }
                assert!(word.docs.is_sorted_by(|one, next| one < next));
                assert!(word.docs.iter().all(|doc| *doc < index.num_docs()));
                last = Some((word.stub.to_vec(), word.is_whole));
            }
        }
    }
}

/// Writes the words of a text and looks each of them up.
fn write_and_find(text: &[u8]) {
    let mut words: BTreeMap<&[u8], Vec<u32>> = BTreeMap::new();
    for (doc, word) in (0..).zip(text.split(|byte| *byte == b' ')) {
        words.entry(word).or_default().push(doc);
    }
    let num_docs = text.len() as u32 + 1;
    let mut writer = RareWordsWriter::new(num_docs);
    writer
        .start_field(1, words.len() as u64)
        .expect("fields are in order");
    for (word, docs) in &words {
        writer.push(word, docs).expect("words are in order");
    }
    let written = writer.finish();
    let index = RareWordsIndex::open(&written.index).expect("what was written can be read");
    assert_eq!(index.blocks_len(), written.blocks.len() as u64);
    for (word, docs) in &words {
        let block = index.block_of(1, word).expect("each word has a block");
        let range = block.bytes.start as usize..block.bytes.end as usize;
        let bytes = written.blocks.get(range).expect("blocks are contiguous");
        let found = index
            .open_block(block, bytes)
            .and_then(|words| words.find(word));
        assert_eq!(found.as_ref(), Ok(docs));
    }
}

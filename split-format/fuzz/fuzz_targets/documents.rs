//! Any bytes as the index of stored documents, as templates, and as a block of columns: no panic, and no more documents than
//! may be.
//!
//! The first byte says how long the templates are, the second how many documents the block is to have.

#![no_main]

use canter_split_format::{DocumentIndex, DocumentsBlock, Templates};
use libfuzzer_sys::fuzz_target;

/// Templates may be called often, so that few bytes could become many.
const MAX_NUM_BYTES: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(index) = DocumentIndex::open(bytes) {
        assert_eq!(DocumentIndex::open(&index.write()).as_ref(), Ok(&index));
        let _ = index.dictionary();
        let _ = index.templates();
    }
    let Some(([len, num_docs], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let (templates, block) = rest.split_at(rest.len().min(usize::from(*len)));
    let Ok(templates) = Templates::open(templates) else {
        return;
    };
    assert_eq!(Templates::open(&templates.write()).as_ref(), Ok(&templates));
    let Ok(block) = DocumentsBlock::open(block, u32::from(*num_docs), &templates, MAX_NUM_BYTES)
    else {
        return;
    };
    let documents = (0..usize::from(*num_docs)).map(|place| block.get(place));
    let lens =
        documents.map(|document| document.expect("there are as many as were asked for").len());
    assert!(lens.sum::<usize>() <= MAX_NUM_BYTES);
    assert_eq!(block.get(usize::from(*num_docs)), None);
});

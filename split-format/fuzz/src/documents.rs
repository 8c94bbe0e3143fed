//! Arbitrary bytes as the index of stored documents, as templates, as models, and as a block of columns
//! or rows: no panic, and no document beyond the limit.
//!
//! The first byte is the length of the templates, the second that of the models, of which columns
//! have none, the third the number of documents in the block.

use canter_split_format::{BlockLayout, DocumentIndex, Templates};

/// Maximum size of documents. Templates may be used often, so that few bytes could become many.
const MAX_NUM_BYTES: usize = 1 << 16;

/// Runs the check on one input.
pub fn documents(bytes: &[u8]) {
    if let Ok(index) = DocumentIndex::open(bytes) {
        assert_eq!(DocumentIndex::open(&index.write()).as_ref(), Ok(&index));
        let _ = index.dictionary();
        let _ = BlockLayout::of(&index);
    }
    let Some(([len, models_len, num_docs], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let (templates, rest) = rest.split_at(rest.len().min(usize::from(*len)));
    let (models, block) = rest.split_at(rest.len().min(usize::from(*models_len)));
    let Ok(templates) = Templates::open(templates) else {
        return;
    };
    assert_eq!(Templates::open(&templates.write()).as_ref(), Ok(&templates));
    let layout = match models {
        [] => Ok(BlockLayout::columns(templates, MAX_NUM_BYTES)),
        models => BlockLayout::rows(templates, models, MAX_NUM_BYTES),
    };
    let Ok(layout) = layout else {
        return;
    };
    let num_docs = usize::from(*num_docs);
    let open = || layout.open(block.to_vec(), num_docs as u32);
    let (Ok(mut forwards), Ok(mut backwards)) = (open(), open()) else {
        return;
    };
    // Reading backwards puts all documents together, within the length limit for one.
    let _ = backwards.get(num_docs.saturating_sub(1));
    let mut len = 0;
    for place in 0..num_docs {
        let document = forwards.get(place);
        if let Ok(document) = &document {
            assert!(document.len() <= MAX_NUM_BYTES);
        }
        let Ok(same) = backwards.get(place) else {
            continue;
        };
        assert_eq!(document.as_deref(), Ok(same));
        len += same.len();
    }
    assert!(num_docs < 2 || !layout.is_compressed() || len <= MAX_NUM_BYTES);
    assert!(forwards.get(num_docs).is_err());
}

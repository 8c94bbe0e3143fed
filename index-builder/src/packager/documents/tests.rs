//! Tests of the number of documents per block, of long documents, and of the conditions for
//! dictionaries.

use canter_split_format::{BlockDecoder, DocumentIndex};

use super::*;

const SETTINGS: DocstoreSettings = DocstoreSettings {
    block_num_bytes: 4_096,
    compression_level: 1,
    has_rare_words: false,
};

/// Stores documents, and checks that all of them can be read back.
fn stored(documents: &[Vec<u8>]) -> (DocumentIndex, usize) {
    stored_with(documents, SETTINGS)
}

fn stored_with(documents: &[Vec<u8>], settings: DocstoreSettings) -> (DocumentIndex, usize) {
    let mut sample = Sample::default();
    sampled(documents.len()).for_each(|place| sample.add(place, &documents[place]));
    let mut builder = DocumentsBuilder::new(&sample, documents.len(), settings).unwrap();
    for document in documents {
        builder.add(document).unwrap();
    }
    let stored = builder.finish().unwrap();
    let index = DocumentIndex::open(&stored.index).unwrap();
    let mut decoder = BlockDecoder::new(&index).unwrap();
    let mut num_read = 0;
    for ord in 0..index.num_blocks() {
        let place = index.block(ord).unwrap();
        let bytes = &stored.blocks[place.bytes.start as usize..place.bytes.end as usize];
        let mut block = decoder.decode(&place, bytes).unwrap();
        for (at, doc) in place.docs.clone().enumerate() {
            assert_eq!(index.block_of(doc).unwrap().ord, ord);
            assert_eq!(block.get(at).unwrap(), documents[doc as usize]);
            num_read += 1;
        }
    }
    assert_eq!(num_read, documents.len());
    (index, stored.blocks.len())
}

/// Returns a stored document with a single text.
fn line(nth: usize) -> Vec<u8> {
    let text = format!(
        "{nth:06} the same words in every line, and a number: {}",
        nth * 7919 % 1_000
    );
    let length = u8::try_from(text.len()).unwrap();
    [&[8, length], text.as_bytes()].concat()
}

/// Returns a document without a valid shape: its field is truncated.
fn shapeless(nth: usize) -> Vec<u8> {
    let mut document = line(nth);
    document[1] += 1;
    document
}

#[test]
fn every_block_has_the_same_number_of_documents() {
    let documents: Vec<Vec<u8>> = (0..50_000).map(line).collect();
    let (index, _) = stored(&documents);
    let first = index.block(0).unwrap().docs.len();
    assert!((60..100).contains(&first), "{first}");
    for ord in 0..index.num_blocks() - 1 {
        assert_eq!(index.block(ord).unwrap().docs.len(), first);
    }
    let models = index.models().unwrap();
    assert!((1..=1_000).contains(&models.len()), "{}", models.len());
    assert!(index.dictionary().unwrap().is_empty());
    let templates = index.templates().unwrap();
    assert_eq!((templates.shapes.len(), templates.texts.len()), (1, 1));
    assert!(index.write().len() < models.len() + 1_000);
}

#[test]
fn documents_are_columns_where_rows_would_be_longer() {
    // Texts by chance, each some times in a block: compression finds them again, and models have no room for them.
    let mut seed = 7_u64;
    let mut letter = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b'a' + ((seed >> 59) as u8) % 26
    };
    let texts: Vec<Vec<u8>> = (0..300)
        .map(|_| [vec![8, 100], (0..100).map(|_| letter()).collect()].concat())
        .collect();
    let documents: Vec<Vec<u8>> = (0..20_000)
        .map(|nth| texts[nth * 7_919 % 300].clone())
        .collect();
    let settings = DocstoreSettings {
        block_num_bytes: 128 << 10,
        ..SETTINGS
    };
    let (index, _) = stored_with(&documents, settings);
    assert!(index.models().unwrap().is_empty());
    let (index, _) = stored_with(&(0..20_000).map(line).collect::<Vec<_>>(), settings);
    assert!(!index.models().unwrap().is_empty());
}

#[test]
fn documents_without_a_shape_are_longer_than_with_templates() {
    let documents: Vec<Vec<u8>> = (0..100_000).map(shapeless).collect();
    let (index, num_bytes) = stored(&documents);
    assert_eq!(index.templates().unwrap(), Templates::default());
    let (_, with_templates) = stored(&(0..100_000).map(line).collect::<Vec<_>>());
    assert!(
        with_templates * 2 < num_bytes,
        "{with_templates} and {num_bytes}"
    );
}

#[test]
fn templates_are_those_that_save_most_and_no_more_than_fit() {
    let mut documents: Vec<Vec<u8>> = (0..1_000).map(line).collect();
    documents.extend((0..3).map(|_| vec![16, 4, b'r', b'a', b'r', b'e']));
    documents.extend((0..4).map(|_| vec![24, 2, b'o', b'k']));
    let mine = |most: usize| mined(documents.iter().map(Vec::as_slice), most);
    let all = mine(10_000);
    assert_eq!((all.shapes.len(), all.texts.len()), (2, 2));
    let words = b" the same words in every line, and a number: ";
    assert!(
        all.texts[0]
            .windows(words.len())
            .any(|window| window == words)
    );
    assert_eq!(all.texts[1], b"\x02ok");
    let few = mine(12);
    assert_eq!((few.shapes.len(), few.texts.len()), (2, 0));
    assert_eq!(mine(0), Templates::default());
}

#[test]
fn a_long_document_stands_alone() {
    let mut documents: Vec<Vec<u8>> = (0..200).map(line).collect();
    documents[100] = (0..100_000_u32).flat_map(|n| n.to_le_bytes()).collect();
    let (index, _) = stored(&documents);
    let long = index.block_of(100).unwrap();
    let before = index.block_of(99).unwrap();
    assert_ne!(long.ord, before.ord);
    assert!(index.max_block_len() >= 400_000);
}

#[test]
fn few_documents_have_no_dictionary() {
    let (index, _) = stored(&(0..2_000).map(line).collect::<Vec<_>>());
    assert!(index.dictionary().unwrap().is_empty());
    let (index, num_bytes) = stored(&[]);
    assert_eq!((index.num_docs(), num_bytes), (0, 0));
}

#[test]
fn documents_of_which_nothing_can_be_learnt_are_stored_all_the_same() {
    stored(&vec![Vec::new(); 20_000]);
    stored(&vec![vec![7]; 20_000]);
}

#[test]
fn the_sample_is_spread_over_all_documents() {
    for num_docs in [
        0, 1, 31, 4_095, 4_096, 4_097, 8_191, 8_192, 10_000, 1_000_000,
    ] {
        let places: Vec<usize> = sampled(num_docs).collect();
        assert_eq!(places.len(), num_docs.min(SAMPLE_NUM_DOCS), "{num_docs}");
        assert!(places.is_sorted_by(|place, next| place < next));
        assert!(
            places
                .last()
                .is_none_or(|last| *last < num_docs && *last + 1 + num_docs / 32 >= num_docs),
            "{num_docs}"
        );
    }
}

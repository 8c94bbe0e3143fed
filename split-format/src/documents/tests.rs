//! Every document comes back, with a dictionary and without one; damage is an error.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

const LEVEL: i32 = 3;

/// The documents in blocks of so many, with a dictionary of so many bytes.
fn written(documents: &[Vec<u8>], per_block: usize, dictionary: usize) -> (DocumentIndex, Vec<u8>) {
    let dictionary = match dictionary {
        0 => Vec::new(),
        len => zstd::dict::from_samples(documents, len).unwrap(),
    };
    let mut compressor = zstd::bulk::Compressor::with_dictionary(LEVEL, &dictionary).unwrap();
    let mut writer = DocumentsWriter::default();
    for documents in documents.chunks(per_block) {
        let mut block = Vec::new();
        for document in documents {
            add_document(&mut block, document);
        }
        let frame = compressor.compress(&block).unwrap();
        let num_docs = u32::try_from(documents.len()).unwrap();
        writer.add_block(num_docs, block.len(), &frame).unwrap();
    }
    let packed = match dictionary.is_empty() {
        true => Vec::new(),
        false => zstd::bulk::compress(&dictionary, LEVEL).unwrap(),
    };
    writer.finish(packed)
}

#[track_caller]
fn check(documents: &[Vec<u8>], per_block: usize, dictionary: usize) -> usize {
    let (index, bytes) = written(documents, per_block, dictionary);
    let index_bytes = index.write();
    let read = DocumentIndex::open(&index_bytes).unwrap();
    assert_eq!(read, index);
    assert_eq!(read.num_docs() as usize, documents.len());
    assert_eq!(read.num_bytes(), bytes.len() as u64);
    let mut decoder = BlockDecoder::new(&read).unwrap();
    for (doc, document) in (0..).zip(documents) {
        let place = read.block_of(doc).unwrap();
        assert!(place.docs.contains(&doc));
        assert_eq!(read.block(place.ord).as_ref(), Some(&place));
        let range = place.bytes.start as usize..place.bytes.end as usize;
        let block = decoder.decode(&place, &bytes[range]).unwrap();
        let at = (doc - place.docs.start) as usize;
        assert_eq!(block.get(at), Some(document.as_slice()), "document {doc}");
        assert_eq!(block.get(place.docs.len()), None);
    }
    assert_eq!(read.block_of(read.num_docs()), None);
    assert_eq!(read.block(read.num_blocks()), None);
    index_bytes.len()
}

fn lines(num: usize) -> Vec<Vec<u8>> {
    let line = |nth: usize| {
        let host = nth * 7919 % 31;
        format!("GET /images/{nth}.png HTTP/1.1 from host {host}, which waited").into_bytes()
    };
    (0..num).map(line).collect()
}

#[test]
fn documents_come_back_with_a_dictionary_and_without() {
    for dictionary in [0, 1_024, 8_192] {
        for per_block in [7, 1_000, 10_000] {
            check(&lines(2_000), per_block, dictionary);
        }
    }
    check(&[], 10, 0);
}

#[test]
fn a_document_may_be_empty_or_long() {
    check(&[vec![], vec![7; 1 << 20], vec![], vec![1, 2, 3]], 2, 0);
}

#[test]
fn a_block_of_the_index_costs_a_few_bits() {
    let len = written(&lines(20_000), 10, 0).0.write().len();
    assert!(len <= 2_000, "{len} bytes for 2,000 blocks");
}

#[test]
fn a_dictionary_makes_short_blocks_short() {
    let documents = lines(5_000);
    let (_, without) = written(&documents, 10, 0);
    let (_, with) = written(&documents, 10, 4_096);
    assert!(
        with.len() * 6 < without.len() * 5,
        "{} and {}",
        with.len(),
        without.len()
    );
}

#[test]
fn a_block_that_is_longer_than_its_index_says_is_refused() {
    let (mut index, bytes) = written(&lines(10), 10, 0);
    index.max_block_len -= 1;
    let place = index.block_of(0).unwrap();
    let error = BlockDecoder::new(&index).unwrap().decode(&place, &bytes);
    assert!(error.unwrap_err().problem.contains("longer"));
}

#[test]
fn a_dictionary_is_no_longer_than_it_may_be() {
    let long = zstd::bulk::compress(&vec![0; MAX_DICTIONARY_NUM_BYTES + 1], LEVEL).unwrap();
    let (mut index, _) = written(&lines(10), 10, 0);
    index.packed_dictionary = long;
    assert!(index.dictionary().unwrap_err().problem.contains("longer"));
    index.packed_dictionary = vec![1, 2, 3];
    assert!(BlockDecoder::new(&index).is_err());
}

#[test]
fn the_version_before_is_named_as_too_old() {
    let mut bytes = written(&lines(3), 10, 0).0.write();
    bytes[0] = 1;
    let error = DocumentIndex::open(&bytes).unwrap_err();
    assert!(error.problem.contains(TOO_OLD), "{}", error.problem);
}

#[test]
fn a_version_to_come_is_refused_by_its_number() {
    let mut bytes = written(&lines(3), 10, 0).0.write();
    bytes[0] = 9;
    let error = DocumentIndex::open(&bytes).unwrap_err();
    assert!(error.problem.contains("version 9"), "{error}");
}

proptest! {
    #[test]
    fn any_documents_come_back(
        documents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..60),
        per_block in 1_usize..70,
    ) {
        check(&documents, per_block, 0);
    }

    #[test]
    fn a_damaged_index_is_an_error_or_another_index(at in 0_usize..400, bit in 0_u8..8, cut in any::<bool>()) {
        static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| written(&lines(500), 3, 0).0.write());
        let mut bytes = WRITTEN.clone();
        let at = at % bytes.len();
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= 1 << bit,
        }
        if let Ok(index) = DocumentIndex::open(&bytes) {
            for doc in 0..index.num_docs().min(1_000) {
                prop_assert!(index.block_of(doc).is_some_and(|place| place.docs.contains(&doc)));
            }
        }
    }

    #[test]
    fn a_damaged_block_is_an_error_or_other_documents(at in 0_usize..4_000, bit in 0_u8..8) {
        static WRITTEN: LazyLock<(DocumentIndex, Vec<u8>)> = LazyLock::new(|| written(&lines(500), 100, 1_024));
        let (index, mut bytes) = WRITTEN.clone();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let mut decoder = BlockDecoder::new(&index).unwrap();
        for ord in 0..index.num_blocks() {
            let place = index.block(ord).unwrap();
            let range = place.bytes.start as usize..place.bytes.end as usize;
            let _ = decoder.decode(&place, &bytes[range]);
        }
    }
}

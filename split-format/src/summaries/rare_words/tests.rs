//! Rare words: each is found again, ranges lose none, and damage is an error.

use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;

use super::*;

/// Words with the documents that contain them.
type Corpus = BTreeMap<Vec<u8>, Vec<u32>>;

const NUM_DOCS: u32 = 1_000_000;
const FIELD: u32 = 7;

fn written(corpus: &Corpus) -> WrittenRareWords {
    let mut writer = RareWordsWriter::new(NUM_DOCS);
    writer.start_field(FIELD, corpus.len() as u64).unwrap();
    for (word, docs) in corpus {
        writer.push(word, docs).unwrap();
    }
    writer.finish()
}

fn bytes_of<'a>(written: &'a WrittenRareWords, block: &RareBlock) -> &'a [u8] {
    &written.blocks[block.bytes.start as usize..block.bytes.end as usize]
}

/// Returns the candidates for a word.
fn find(written: &WrittenRareWords, word: &[u8]) -> Vec<u32> {
    let index = RareWordsIndex::open(&written.index).unwrap();
    let Some(block) = index.block_of(FIELD, word) else {
        return Vec::new();
    };
    let words = index.open_block(block, bytes_of(written, block)).unwrap();
    words.find(word).unwrap()
}

/// Returns the stubs within a range of words, each with whether it is a whole word, and its documents.
fn stubs(
    written: &WrittenRareWords,
    range: (Bound<&[u8]>, Bound<&[u8]>),
) -> Vec<(Vec<u8>, bool, Vec<u32>)> {
    let index = RareWordsIndex::open(&written.index).unwrap();
    let mut found = Vec::new();
    for block in index.blocks_within(FIELD, range) {
        let mut words = index.open_block(block, bytes_of(written, block)).unwrap();
        while let Some(word) = words.next().unwrap() {
            found.push((word.stub.to_vec(), word.is_whole, word.docs.to_vec()));
        }
    }
    found
}

/// Random ids of 19 digits, like those of blocks in Hadoop's logs.
fn ids(num: u64) -> Corpus {
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    };
    let ids = (0..num).map(|_| {
        let id = (next() % 9_000_000_000_000_000_000 + 1_000_000_000_000_000_000).to_string();
        let first = (next() % u64::from(NUM_DOCS - 4)) as u32;
        (
            id.into_bytes(),
            (first..first + 1 + (next() % 4) as u32).collect(),
        )
    });
    ids.collect()
}

#[test]
fn every_word_is_found_in_its_documents_and_hardly_any_other_is() {
    let corpus = ids(5_000);
    let written = written(&corpus);
    for (word, docs) in &corpus {
        assert_eq!(&find(&written, word), docs);
    }
    let others = (0..5_000u64)
        .map(|number| (1_500_000_000_000_000_000 + number * 1_499_999_999_999_999).to_string());
    let found = others.filter(|other| !find(&written, other.as_bytes()).is_empty());
    assert!(found.count() < 40);
    assert!(find(&written, b"").is_empty());
    assert!(find(&written, b"9").is_empty());
}

#[test]
fn a_word_costs_about_two_bytes_and_its_document_ids() {
    let corpus = ids(100_000);
    let written = written(&corpus);
    // A document takes 20 bits, and what follows it in the same word next to nothing.
    let ids_len = corpus.len() * 20 / 8;
    let rest = (written.blocks.len() + written.index.len() - ids_len) as f64 / corpus.len() as f64;
    assert!((2.0..2.7).contains(&rest), "{rest} bytes a word");
    assert!(written.index.len() < 2_000, "{}", written.index.len());
}

#[test]
fn a_word_can_begin_with_another_and_be_empty() {
    let words: [&[u8]; 7] = [b"", b"\0", b"1", b"12", b"123", b"124\xff", b"124\xff\xff"];
    let corpus: Corpus = (0..)
        .zip(words)
        .map(|(doc, word)| (word.to_vec(), vec![doc]))
        .collect();
    let written = written(&corpus);
    for (word, docs) in &corpus {
        assert_eq!(&find(&written, word), docs);
    }
    assert_eq!(
        stubs(&written, (Bound::Unbounded, Bound::Unbounded))
            .into_iter()
            .map(|(stub, is_whole, _)| (stub, is_whole))
            .collect::<Vec<_>>(),
        [
            (b"".to_vec(), true),
            (b"\0".to_vec(), false),
            (b"1".to_vec(), true),
            (b"12".to_vec(), true),
            (b"123".to_vec(), false),
            (b"124\xff".to_vec(), true),
            (b"124\xff\xff".to_vec(), false),
        ]
    );
}

#[test]
fn fields_have_words_of_their_own() {
    let mut writer = RareWordsWriter::new(10);
    writer.start_field(1, 1).unwrap();
    writer.push(b"a1", &[1]).unwrap();
    writer.start_field(2, 0).unwrap();
    writer.start_field(5, 1).unwrap();
    writer.push(b"a1", &[2, 9]).unwrap();
    let written = writer.finish();
    let index = RareWordsIndex::open(&written.index).unwrap();
    let find = |field: u32| {
        let block = index.block_of(field, b"a1")?;
        let words = index.open_block(block, bytes_of(&written, block)).unwrap();
        Some(words.find(b"a1").unwrap())
    };
    assert_eq!(find(1), Some(vec![1]));
    assert_eq!(find(2), None);
    assert_eq!(find(5), Some(vec![2, 9]));
}

#[test]
fn bytes_are_those_of_the_specification() {
    let corpus = [(b"b7".to_vec(), vec![2]), (b"b71".to_vec(), vec![1, 4])];
    let mut writer = RareWordsWriter::new(5);
    writer.start_field(3, 2).unwrap();
    for (word, docs) in &corpus {
        writer.push(word, docs).unwrap();
    }
    let written = writer.finish();
    assert_eq!(
        written.index,
        hex("01000000 05 08 01 03 01 0200 0c00 0300 00 026237")
    );
    // Words have digits and one of `a` to `f`, and stubs leave out nothing. Symbols are 0, 1, 7 and b; stubs are `b7` with its end, and `b71`; checks are aa and 01.
    assert_eq!(written.blocks, hex("02 04 0032062b 02 5c54eb028c"));
}

/// Returns the bytes of hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<char> = digits.chars().filter(|digit| *digit != ' ').collect();
    let bytes = digits.chunks(2).map(|pair| {
        let pair: String = pair.iter().collect();
        u8::from_str_radix(&pair, 16).unwrap()
    });
    bytes.collect()
}

#[test]
fn a_field_without_blocks_is_refused() {
    // The number of blocks takes more bytes than needed, without which the field would be too short.
    let error = RareWordsIndex::open(&hex("01000000 81 00 00 01 ffff0000")).unwrap_err();
    assert_eq!(error.component, "rare words");
    assert!(RareWordsIndex::open(&hex("01000000 05 08 01 03 00 0000")).is_err());
    assert!(RareWordsIndex::open(&hex("01000000 05 08 00")).is_ok());
}

#[test]
fn a_writer_refuses_what_is_not_in_order() {
    let started = || {
        let mut writer = RareWordsWriter::new(10);
        writer.start_field(1, 2).unwrap();
        writer.push(b"b1", &[1]).unwrap();
        writer
    };
    for docs in [&[][..], &[3, 3], &[4, 3], &[10]] {
        assert!(started().push(b"c1", docs).is_err(), "{docs:?}");
    }
    assert!(started().push(b"b1", &[1]).is_err());
    assert!(started().push(b"a1", &[1]).is_err());
    assert!(started().start_field(1, 2).is_err());
    assert!(RareWordsWriter::new(10).push(b"a1", &[1]).is_err());
}

#[test]
fn a_block_in_anothers_place_is_an_error_by_name() {
    let corpus = ids(3_000);
    let written = written(&corpus);
    let index = RareWordsIndex::open(&written.index).unwrap();
    let blocks = index.blocks_of(FIELD);
    assert_eq!(blocks.len(), 3);
    let other = bytes_of(&written, &blocks[1]);
    let mut same_len = other.to_vec();
    same_len.resize(bytes_of(&written, &blocks[0]).len(), 0);
    for bytes in [other, same_len.as_slice()] {
        let read = index.open_block(&blocks[0], bytes).and_then(|mut words| {
            while words.next()?.is_some() {}
            Ok(())
        });
        assert_eq!(read.unwrap_err().component, "rare words");
    }
}

fn corpora() -> impl Strategy<Value = Corpus> {
    // Few characters, so that words share beginnings.
    let word = prop::collection::vec(
        prop_oneof![Just(b'0'), Just(b'1'), Just(b'x'), any::<u8>()],
        0..9,
    );
    let docs = prop::collection::btree_set(0..NUM_DOCS, 1..5);
    let docs = docs.prop_map(|docs| docs.into_iter().collect());
    prop::collection::btree_map(word, docs, 1..60)
}

proptest! {
    #[test]
    fn no_word_is_lost(corpus in corpora(), other in prop::collection::vec(any::<u8>(), 0..9)) {
        let written = written(&corpus);
        for (word, docs) in &corpus {
            prop_assert_eq!(&find(&written, word), docs);
        }
        // Another word may have candidates, but only where it begins like a word.
        let candidates = find(&written, &other);
        if !candidates.is_empty() && !corpus.contains_key(&other) {
            prop_assert!(corpus.iter().any(|(word, docs)| *docs == candidates && word.first() == other.first()));
        }
    }

    #[test]
    fn stubs_in_memory_find_what_blocks_find(corpus in corpora(), other in prop::collection::vec(any::<u8>(), 0..9)) {
        let written = written(&corpus);
        let index = RareWordsIndex::open(&written.index).unwrap();
        let mut stubs = RareStubs::default();
        for block in index.blocks_of(FIELD) {
            let mut words = index.open_block(block, bytes_of(&written, block)).unwrap();
            while let Some(word) = words.next().unwrap() {
                stubs.push(&word).unwrap();
            }
        }
        prop_assert_eq!(stubs.len(), corpus.len());
        for word in corpus.keys().chain([&other]) {
            let found = stubs.find(word).map_or(&[][..], |ord| stubs.docs(ord));
            prop_assert_eq!(found, find(&written, word));
        }
    }

    #[test]
    fn stubs_tell_words_apart_in_their_order(corpus in corpora()) {
        let stubs = stubs(&written(&corpus), (Bound::Unbounded, Bound::Unbounded));
        prop_assert_eq!(stubs.len(), corpus.len());
        for ((stub, is_whole, docs), (word, its_docs)) in stubs.iter().zip(&corpus) {
            let begins = word.starts_with(stub) && (!is_whole || stub == word);
            prop_assert!(begins, "{stub:?} of {word:?}");
            prop_assert_eq!(docs, its_docs);
            if !is_whole {
                let begun = corpus.keys().filter(|word| word.starts_with(stub));
                prop_assert_eq!(begun.count(), 1);
            }
        }
    }

    #[test]
    fn damaged_bytes_are_an_error_or_other_words(
        corpus in corpora(),
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
        is_cut in any::<bool>(),
    ) {
        let written = written(&corpus);
        let damage = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let at = at.index(bytes.len());
            match is_cut {
                true => bytes.truncate(at),
                false => bytes[at] = value,
            }
            bytes
        };
        if let Ok(index) = RareWordsIndex::open(&damage(&written.index)) {
            prop_assert!(!is_cut);
            for block in index.blocks_of(FIELD) {
                let _ = index.open_block(block, &written.blocks).map(|words| words.find(b"1"));
            }
        }
        let index = RareWordsIndex::open(&written.index).unwrap();
        let blocks = damage(&written.blocks);
        let mut num_words = 0;
        if let Ok(mut words) = index.open_block(&index.blocks_of(FIELD)[0], &blocks) {
            while let Ok(Some(word)) = words.next() {
                prop_assert!(word.docs.iter().all(|doc| *doc < NUM_DOCS));
                num_words += 1;
            }
        }
        prop_assert!(num_words <= corpus.len());
    }

    #[test]
    fn arbitrary_bytes_are_an_error_or_an_index(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let bytes = [&1u32.to_le_bytes()[..], &bytes].concat();
        if let Ok(index) = RareWordsIndex::open(&bytes) {
            prop_assert_eq!(RareWordsIndex::open(&index.write()), Ok(index));
        }
    }
}

proptest! {
    // Several blocks need thousands of words.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_range_loses_no_word(seed in 1u64..1_000, lower in "[0-9]{0,4}", upper in "[0-9]{0,4}") {
        let corpus = ids(2_000 + seed);
        let written = written(&corpus);
        let (lower, upper) = (lower.into_bytes(), upper.into_bytes());
        let bounds = |word| [Bound::Included(word), Bound::Excluded(word), Bound::Unbounded];
        for lower in bounds(lower.as_slice()) {
            for upper in bounds(upper.as_slice()) {
                let stubs = stubs(&written, (lower, upper));
                let is_within = |word: &&[u8]| {
                    let is_above = match lower {
                        Bound::Included(lower) => *word >= lower,
                        Bound::Excluded(lower) => *word > lower,
                        Bound::Unbounded => true,
                    };
                    let is_below = match upper {
                        Bound::Included(upper) => *word <= upper,
                        Bound::Excluded(upper) => *word < upper,
                        Bound::Unbounded => true,
                    };
                    is_above && is_below
                };
                let mut wanted = corpus.keys().map(Vec::as_slice).filter(is_within).peekable();
                for (stub, _, _) in &stubs {
                    wanted.next_if(|word| word.starts_with(stub));
                }
                prop_assert_eq!(wanted.next(), None);
            }
        }
    }
}

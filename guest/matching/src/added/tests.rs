//! Words added to a segment are found like words that were indexed, and the others as before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tantivy::directory::{CompositeFile, FileSlice, RamDirectory};
use tantivy::index::SegmentComponent;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, Schema, TEXT};
use tantivy::termdict::TermDictionary;
use tantivy::{Directory, Index, TantivyDocument};
use tantivy_common::HasLen;

use super::*;
use crate::{PositionList, PostingList, Recorded};

const NUM_DOCS: u32 = 200;

/// Files of a segment with these words, each in some documents, in two fields.
struct Segment {
    terms: SourceFile,
    lists: SourceFile,
}

fn segment(words: &BTreeSet<String>) -> Segment {
    let mut schema = Schema::builder();
    let one = schema.add_text_field("one", TEXT);
    let other = schema.add_text_field("other", TEXT);
    let directory = RamDirectory::create();
    let mut writer = Index::builder()
        .schema(schema.build())
        .single_segment_index_writer::<TantivyDocument>(directory.clone(), 20_000_000)
        .unwrap();
    for doc in 0..NUM_DOCS as usize {
        let mut document = TantivyDocument::default();
        let here = words.iter().skip(doc % 7).step_by(5);
        document.add_text(one, here.cloned().collect::<Vec<_>>().join(" "));
        document.add_text(other, "always the same");
        writer.add_document(document).unwrap();
    }
    let index = writer.finalize().unwrap();
    let segment = index.searchable_segments().unwrap().pop().unwrap();
    let file = |component: SegmentComponent| SourceFile {
        raw: directory
            .get_file_handle(&segment.relative_path(component.clone()))
            .unwrap(),
        content: segment.open_read(component).unwrap(),
    };
    Segment {
        terms: file(SegmentComponent::Terms),
        lists: file(SegmentComponent::Postings),
    }
}

fn opened(file: &PatchedFile, footer_len: usize) -> CompositeFile {
    let content = FileSlice::new(Arc::new(file.clone())).slice_to(file.len() - footer_len);
    CompositeFile::open(&content).unwrap()
}

fn all(dictionary: &TermDictionary) -> Vec<(Vec<u8>, TermInfo)> {
    let mut stream = dictionary.stream().unwrap();
    let mut all = Vec::new();
    while stream.advance() {
        all.push((stream.key().to_vec(), stream.value().clone()));
    }
    all
}

fn added_word((word, docs): (&&String, &&Vec<(u32, Vec<u32>)>)) -> AddedWord {
    let docs = docs.iter().map(|(doc, positions)| AddedDoc {
        doc: *doc,
        positions: positions.clone(),
    });
    AddedWord {
        word: word.as_bytes().to_vec(),
        docs: docs.collect(),
    }
}

fn check(existing: &BTreeSet<String>, added: &BTreeMap<String, Vec<(u32, Vec<u32>)>>) {
    let segment = segment(existing);
    let added: BTreeMap<&String, &Vec<_>> = added
        .iter()
        .filter(|(word, _)| !existing.contains(*word))
        .collect();
    let words = added.iter().map(added_word);
    let words = BTreeMap::from([(0, words.collect::<Vec<_>>())]);
    let made = add_words(&segment.terms, &segment.lists, &words).unwrap();
    let footer_len = segment.terms.raw.len() - segment.terms.content.len();
    let terms = opened(&made.terms, footer_len);
    let footer_len = segment.lists.raw.len() - segment.lists.content.len();
    let lists = opened(&made.lists, footer_len);
    let (old_terms, old_lists) = (
        CompositeFile::open(&segment.terms.content).unwrap(),
        CompositeFile::open(&segment.lists.content).unwrap(),
    );
    let field = |number| Field::from_field_id(number);
    let open = |file: &CompositeFile, number| file.open_read(field(number)).unwrap();
    let bytes = |file: &FileSlice| file.read_bytes().unwrap().to_vec();
    // The other field is as before.
    assert_eq!(bytes(&open(&terms, 1)), bytes(&open(&old_terms, 1)));
    assert_eq!(bytes(&open(&lists, 1)), bytes(&open(&old_lists, 1)));

    let dictionary = TermDictionary::open(open(&terms, 0)).unwrap();
    let (lists, old_lists) = (open(&lists, 0), open(&old_lists, 0));
    let mut expected: BTreeMap<Vec<u8>, TermInfo> =
        all(&TermDictionary::open(open(&old_terms, 0)).unwrap())
            .into_iter()
            .collect();
    let found = all(&dictionary);
    assert_eq!(found.len(), expected.len() + added.len());
    assert_eq!(dictionary.num_terms(), found.len());
    assert!(found.is_sorted_by(|one, next| one.0 < next.0));
    for (ord, (word, info)) in found.iter().enumerate() {
        assert_eq!(dictionary.get(word).unwrap().as_ref(), Some(info));
        assert_eq!(dictionary.term_ord(word).unwrap(), Some(ord as u64));
        if let Some(old) = expected.remove(word) {
            assert_eq!(info, &old);
            let postings =
                |lists: &FileSlice| bytes(&lists.slice_from(8).slice(old.postings_range.clone()));
            assert_eq!(postings(&lists), postings(&old_lists));
            continue;
        }
        let docs = &added[&String::from_utf8(word.clone()).unwrap()];
        assert!(info.postings_range.start + 8 >= made.lists_lens[&0]);
        let list = lists
            .slice_from(8)
            .slice(info.postings_range.clone())
            .read_bytes()
            .unwrap();
        crate::check_postings(&list, info.doc_freq, NUM_DOCS, Recorded::Positions).unwrap();
        let mut list = PostingList::open(info.doc_freq, list, Recorded::Positions).unwrap();
        let mut ids = Vec::new();
        list.docs_by_rank(0..info.doc_freq, &mut ids);
        assert!(ids.iter().eq(docs.iter().map(|(doc, _)| doc)));
        let positions = lists
            .slice(info.positions_range.clone())
            .read_bytes()
            .unwrap();
        let occurrences = crate::Occurrences::new(list, PositionList::open(positions).unwrap());
        assert!(occurrences.is_some());
    }
    assert!(expected.is_empty());
    assert_eq!(dictionary.get(b"nowhere").unwrap(), None);
}

fn word() -> impl Strategy<Value = String> {
    "[a-c0-2]{1,6}"
}

fn docs() -> impl Strategy<Value = Vec<(u32, Vec<u32>)>> {
    let positions = prop::collection::btree_set(0u32..1_000, 0..4);
    let positions = positions.prop_map(|positions| positions.into_iter().collect());
    let docs = prop::collection::btree_map(0..NUM_DOCS, positions, 1..18);
    docs.prop_map(|docs| docs.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn added_words_are_like_indexed_ones(
        existing in prop::collection::btree_set(word(), 1..2_000),
        added in prop::collection::btree_map(word(), docs(), 1..40),
    ) {
        check(&existing, &added);
    }
}

#[test]
fn words_are_added_at_both_ends_and_to_many_blocks() {
    let number = |nth: u32| format!("{:08}", nth * 7_919 % 1_000_003);
    let existing = (0..30_000).map(number).collect();
    let added = (0..30_000).step_by(97).map(|nth| {
        let docs = (nth % 3..nth % 3 + 1 + nth % 17).map(|doc| (doc, vec![nth % 500]));
        (format!("{}x", number(nth)), docs.collect())
    });
    let mut added: BTreeMap<String, Vec<(u32, Vec<u32>)>> = added.collect();
    added.insert("!".to_owned(), vec![(0, vec![])]);
    added.insert("~".to_owned(), vec![(NUM_DOCS - 1, vec![7, 8, 1_000])]);
    check(&existing, &added);
}

#[test]
fn what_cannot_be_a_rare_word_is_refused() {
    let segment = segment(&BTreeSet::from(["a1".to_owned(), "b1".to_owned()]));
    let doc = |doc| AddedDoc {
        doc,
        positions: Vec::new(),
    };
    let add = |words: &[(&str, Vec<AddedDoc>)]| {
        let words = words.iter().map(|(word, docs)| AddedWord {
            word: word.as_bytes().to_vec(),
            docs: docs.clone(),
        });
        let words = BTreeMap::from([(0, words.collect::<Vec<_>>())]);
        add_words(&segment.terms, &segment.lists, &words).is_ok()
    };
    assert!(add(&[("a2", vec![doc(3)])]));
    assert!(!add(&[("a2", vec![])]), "no documents");
    assert!(!add(&[("a2", vec![doc(3), doc(3)])]), "not ascending");
    assert!(!add(&[("a2", (0..128).map(doc).collect())]), "a full block");
    assert!(!add(&[("a1", vec![doc(3)])]), "already there");
    assert!(!add(&[("c2", vec![doc(3)]), ("c1", vec![doc(3)])]));
}

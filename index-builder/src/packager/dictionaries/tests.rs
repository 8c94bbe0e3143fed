//! A dictionary written anew has the same terms, each with the same postings.

use tantivy::schema::{STRING, TEXT};
use tantivy::{SegmentReader, TantivyDocument};

use super::*;

/// A segment with so many documents, each with a long word of its own and a short one that others have too.
fn segment(num_docs: u32) -> Segment {
    let mut schema = Schema::builder();
    let id = schema.add_text_field("id", STRING);
    let body = schema.add_text_field("body", TEXT);
    let mut writer = Index::builder()
        .schema(schema.build())
        .single_segment_index_writer::<TantivyDocument>(RamDirectory::create(), 100_000_000)
        .unwrap();
    for nth in 0..num_docs {
        let mut document = TantivyDocument::default();
        document.add_text(
            id,
            format!("{:032x}", u128::from(nth) * 0x9E37_79B9_7F4A_7C15_F39C),
        );
        document.add_text(body, format!("word{} word{}", nth % 7, nth % 1_000));
        writer.add_document(document).unwrap();
    }
    let index = writer.finalize().unwrap();
    index.searchable_segments().unwrap().pop().unwrap()
}

fn terms(dictionary: &TermDictionary) -> Vec<(Vec<u8>, TermInfo)> {
    let mut stream = dictionary.stream().unwrap();
    let mut all = Vec::new();
    while stream.advance() {
        all.push((stream.key().to_vec(), stream.value().clone()));
    }
    all
}

/// The file without the footer that tantivy puts behind each.
fn opened(file: &OwnedBytes, directory: &RamDirectory) -> CompositeFile {
    let path = std::path::Path::new("again.term");
    directory.atomic_write(path, file).unwrap();
    let footer_len = file[file.len() - 8..file.len() - 4].try_into().unwrap();
    let len = file.len() - 8 - u32::from_le_bytes(footer_len) as usize;
    CompositeFile::open(&FileSlice::new(std::sync::Arc::new(file.slice(0..len)))).unwrap()
}

#[test]
fn a_long_dictionary_has_the_same_terms_and_a_shorter_index() {
    let segment = segment(150_000);
    let reader = SegmentReader::open(&segment).unwrap();
    let before = CompositeFile::open(&segment.open_read(SegmentComponent::Terms).unwrap()).unwrap();
    let file = with_long_blocks(&segment).unwrap().unwrap();
    let after = opened(&file, &RamDirectory::create());
    for (field, _) in segment.schema().fields() {
        let slice = after.open_read(field).unwrap();
        let dictionary = TermDictionary::open(slice.clone()).unwrap();
        let inverted_index = reader.inverted_index(field).unwrap();
        let expected = terms(inverted_index.terms());
        assert!(terms(&dictionary) == expected, "{field:?}: other terms");
        for (term, info) in expected.iter().step_by(997) {
            assert_eq!(dictionary.get(term).unwrap().as_ref(), Some(info));
        }
        let index_len = |dictionary: &TermDictionary, file: &FileSlice| {
            let all: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
            file.len() - dictionary.file_slice_for_range(all, None).len()
        };
        let before = before.open_read(field).unwrap();
        let (long, short) = (
            index_len(inverted_index.terms(), &before),
            index_len(&dictionary, &slice),
        );
        match segment.schema().get_field_name(field) {
            "id" => assert!(short * 3 < long * 2, "{short} and {long}"),
            // A short dictionary stays as it is.
            _ => assert!(
                slice.read_bytes().unwrap().as_slice() == before.read_bytes().unwrap().as_slice()
            ),
        }
    }
}

#[test]
fn short_dictionaries_stay_as_they_are() {
    assert!(with_long_blocks(&segment(2_000)).unwrap().is_none());
}

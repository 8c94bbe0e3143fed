//! A dictionary written anew has the same terms, each with the same postings.

use tantivy::schema::{STRING, TEXT};
use tantivy::{SegmentReader, TantivyDocument};

use super::*;

/// A segment with so many documents, each with a word that no other has, one of some thousands, one of seven, and a
/// number of few.
fn segment(num_docs: u32) -> Segment {
    let mut schema = Schema::builder();
    let id = schema.add_text_field("id", STRING);
    let body = schema.add_text_field("body", TEXT);
    let code = schema.add_text_field("code", STRING);
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
        document.add_text(body, format!("word{} common{}", nth % 9_000, nth % 7));
        document.add_text(code, (nth % 40).to_string());
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

fn num_bytes_of_blocks(dictionary: &TermDictionary) -> usize {
    let all: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
    dictionary.file_slice_for_range(all, None).len()
}

#[test]
fn a_long_dictionary_has_the_same_terms_and_a_shorter_index() {
    let segment = segment(150_000);
    let reader = SegmentReader::open(&segment).unwrap();
    let before = CompositeFile::open(&segment.open_read(SegmentComponent::Terms).unwrap()).unwrap();
    let made = made_anew(&segment).unwrap().unwrap();
    let after = opened(&made.file, &RamDirectory::create());
    for (field, entry) in segment.schema().fields() {
        let slice = after.open_read(field).unwrap();
        let dictionary = TermDictionary::open(slice.clone()).unwrap();
        let inverted_index = reader.inverted_index(field).unwrap();
        let expected = terms(inverted_index.terms());
        assert!(terms(&dictionary) == expected, "{field:?}: other terms");
        for (ord, (term, info)) in expected.iter().enumerate().step_by(7) {
            assert_eq!(dictionary.get(term).unwrap().as_ref(), Some(info));
            assert_eq!(dictionary.term_ord(term).unwrap(), Some(ord as u64));
            assert_eq!(
                dictionary.get([term.as_slice(), b"!"].concat()).unwrap(),
                None
            );
        }
        let before = before.open_read(field).unwrap();
        let index_len = |dictionary: &TermDictionary, file: &FileSlice| {
            file.len() - num_bytes_of_blocks(dictionary)
        };
        let (long, short) = (
            index_len(inverted_index.terms(), &before),
            index_len(&dictionary, &slice),
        );
        match entry.name() {
            "id" => assert!(short * 3 < long * 2, "{short} and {long}"),
            "code" => assert!(
                slice.read_bytes().unwrap().as_slice() == before.read_bytes().unwrap().as_slice()
            ),
            _ => {}
        }
    }
}

#[test]
fn terms_of_many_documents_have_a_short_block_of_their_own() {
    let segment = segment(40_000);
    let made = made_anew(&segment).unwrap().unwrap();
    let body = segment.schema().get_field("body").unwrap();
    assert_eq!(made.hot, [(body, b"common0".to_vec())]);
    let after = opened(&made.file, &RamDirectory::create());
    let dictionary = TermDictionary::open(after.open_read(body).unwrap()).unwrap();
    let mut blocks = (0..7).map(|nth| {
        let term = format!("common{nth}").into_bytes();
        let bounds = (Bound::Included(&term[..]), Bound::Included(&term[..]));
        dictionary
            .file_slice_for_range(bounds, Some(1))
            .read_bytes()
            .unwrap()
    });
    let first = blocks.next().unwrap();
    assert!(first.len() < 200, "{} bytes", first.len());
    assert!(blocks.all(|block| block.as_ptr() == first.as_ptr()));
    assert!(num_bytes_of_blocks(&dictionary) > 4_000 * 7);
}

#[test]
fn short_dictionaries_stay_as_they_are() {
    assert!(made_anew(&segment(200)).unwrap().is_none());
}

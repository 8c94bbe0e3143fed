//! Tests that a rewritten dictionary has the same terms with the same lists.

use tantivy::TantivyDocument;
use tantivy::schema::{STRING, TEXT};

use super::*;

/// Returns a segment of `num_docs` documents, each with a unique word, one of several thousand
/// words, one of seven, and a number with few different values.
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

/// Opens a file after removal of the footer that tantivy appends to each file.
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

/// Dictionary and lists of a field, in the form of tantivy's three files.
struct FilesOfField {
    dictionary: TermDictionary,
    terms: FileSlice,
    postings: FileSlice,
    positions: FileSlice,
}

impl FilesOfField {
    fn of(files: [&CompositeFile; 3], field: Field) -> Self {
        let [terms, postings, positions] = files.map(|file| file.open_read(field).unwrap());
        Self {
            dictionary: TermDictionary::open(terms.clone()).unwrap(),
            terms,
            postings: postings.slice_from(8),
            positions,
        }
    }

    /// Returns the lists that tantivy wrote, in the form that splits use.
    fn repacked_lists(&self, info: &TermInfo) -> [Vec<u8>; 2] {
        let [postings, positions] = self.lists(info);
        let mut repacked = Vec::new();
        if !positions.is_empty() {
            canter_matching::repack_positions(positions, &mut repacked).unwrap();
        }
        [postings.to_vec(), repacked]
    }

    fn lists(&self, info: &TermInfo) -> [OwnedBytes; 2] {
        let read = |file: &FileSlice, range| file.read_bytes_slice(range).unwrap();
        [
            read(&self.postings, info.postings_range.clone()),
            read(&self.positions, info.positions_range.clone()),
        ]
    }
}

/// Returns the files of tantivy and the rewritten ones.
fn before_and_after(segment: &Segment) -> (Vec<FilesOfField>, Vec<FilesOfField>, InvertedIndex) {
    let open = |component| CompositeFile::open(&segment.open_read(component).unwrap()).unwrap();
    let before = [
        open(SegmentComponent::Terms),
        open(SegmentComponent::Postings),
        open(SegmentComponent::Positions),
    ];
    let made = made_anew(segment, None).unwrap();
    let terms = opened(&made.terms, &RamDirectory::create());
    let lists = opened(&made.lists, &RamDirectory::create());
    let fields = || {
        segment
            .schema()
            .fields()
            .map(|(field, _)| field)
            .collect::<Vec<_>>()
    };
    let [old_terms, old_postings, old_positions] = &before;
    (
        fields()
            .into_iter()
            .map(|field| FilesOfField::of([old_terms, old_postings, old_positions], field))
            .collect(),
        fields()
            .into_iter()
            .map(|field| FilesOfField::of([&terms, &lists, &lists], field))
            .collect(),
        made,
    )
}

#[test]
fn all_terms_have_the_same_lists_and_a_long_dictionary_a_shorter_index() {
    let segment = segment(150_000);
    let (before, after, _) = before_and_after(&segment);
    for ((before, after), (_, entry)) in before.iter().zip(&after).zip(segment.schema().fields()) {
        let old = terms(&before.dictionary);
        let new = terms(&after.dictionary);
        assert_eq!(old.len(), new.len());
        for (ord, ((term, old), (same, new))) in old.iter().zip(&new).enumerate() {
            assert_eq!((term, old.doc_freq), (same, new.doc_freq));
            assert!(
                before.repacked_lists(old) == after.lists(new).map(|bytes| bytes.to_vec()),
                "{term:?}: other lists"
            );
            if ord % 7 == 0 {
                assert_eq!(after.dictionary.get(term).unwrap().as_ref(), Some(new));
                assert_eq!(after.dictionary.term_ord(term).unwrap(), Some(ord as u64));
                let other = [term.as_slice(), b"!"].concat();
                assert_eq!(after.dictionary.get(other).unwrap(), None);
            }
        }
        let index_len =
            |files: &FilesOfField| files.terms.len() - num_bytes_of_blocks(&files.dictionary);
        let (long, short) = (index_len(before), index_len(after));
        match entry.name() {
            "id" => assert!(short * 3 < long * 2, "{short} and {long}"),
            "code" => assert!(
                after.terms.read_bytes().unwrap().as_slice()
                    == before.terms.read_bytes().unwrap().as_slice()
            ),
            _ => {}
        }
    }
}

#[test]
fn positions_of_a_block_stand_behind_its_postings() {
    for num_docs in [200, 40_000] {
        let segment = segment(num_docs);
        let (_, after, _) = before_and_after(&segment);
        let body = segment.schema().get_field("body").unwrap();
        let body = &after[body.field_id() as usize];
        let mut next_postings = 0;
        let mut next_positions = None;
        let mut num_blocks = 0;
        for (term, info) in terms(&body.dictionary) {
            // Offsets of positions include the number of tokens.
            if next_positions != Some(info.positions_range.start) {
                assert!(info.positions_range.start > next_postings + 8, "{term:?}");
                num_blocks += 1;
            }
            if info.postings_range.start != next_postings {
                // The block before ended with its positions.
                assert_eq!(
                    Some(info.postings_range.start + 8),
                    next_positions,
                    "{term:?}"
                );
            }
            next_postings = info.postings_range.end;
            next_positions = Some(info.positions_range.end);
        }
        // There is nothing else in the file.
        assert_eq!(next_positions, Some(body.positions.len()));
        match num_docs {
            200 => assert_eq!(num_blocks, 1),
            _ => assert!(num_blocks > 4, "{num_blocks} blocks"),
        }
    }
}

#[test]
fn postings_and_positions_of_a_long_common_term_stand_side_by_side() {
    // The lists of the seven most frequent words take about 40 KB each, so that no two of them
    // share a block.
    let segment = segment(400_000);
    let (before, after, made) = before_and_after(&segment);
    let body = segment.schema().get_field("body").unwrap();
    let blocks: Vec<_> = (0..7)
        .map(|nth| (body, format!("common{nth}").into_bytes()))
        .collect();
    assert_eq!(made.hot, blocks);
    let [before, after] =
        [before, after].map(|files| files.into_iter().nth(body.field_id() as usize));
    let [before, after] = [before, after].map(|files| files.unwrap().dictionary);
    for (_, term) in &blocks {
        let info = before.get(term).unwrap().unwrap();
        assert!(
            info.postings_range.len() + info.positions_range.len() > MAX_RUN_LISTS_NUM_BYTES / 2
        );
        let info = after.get(term).unwrap().unwrap();
        // Offsets of positions include the number of tokens.
        assert_eq!(
            info.postings_range.end + 8,
            info.positions_range.start,
            "{term:?}"
        );
    }
}

#[test]
fn terms_of_many_documents_have_a_short_block_of_their_own() {
    let segment = segment(40_000);
    let (_, after, made) = before_and_after(&segment);
    let body = segment.schema().get_field("body").unwrap();
    assert_eq!(made.hot, [(body, b"common0".to_vec())]);
    let dictionary = &after[body.field_id() as usize].dictionary;
    assert_eq!(made.common.len(), 7);
    for (nth, common) in made.common.iter().enumerate() {
        let term = format!("common{nth}").into_bytes();
        assert_eq!((common.field, &common.term), (body, &term));
        assert_eq!(dictionary.term_ord(&term).unwrap(), Some(common.term_ord));
    }
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
    assert!(num_bytes_of_blocks(dictionary) > 4_000 * 7);
}

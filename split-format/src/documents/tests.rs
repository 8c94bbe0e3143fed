//! Stored documents: round trips with and without a dictionary, and errors for damage.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::block::ColumnsBlock;
use super::*;

const LEVEL: i32 = 3;

/// Part of a document that owns its bytes.
#[derive(Clone, Debug)]
pub(super) enum OwnPart {
    Literal(u8),
    Number(u64),
    Fixed([u8; 3]),
    Text(Vec<u8>),
}

pub(super) type Doc = Vec<OwnPart>;

fn part(own: &OwnPart) -> Part<'_> {
    match own {
        OwnPart::Literal(byte) => Part::Literal(std::slice::from_ref(byte)),
        OwnPart::Number(number) => Part::Number(*number),
        OwnPart::Fixed(bytes) => Part::Fixed(bytes),
        OwnPart::Text(text) => Part::Text(text),
    }
}

pub(super) fn parts(doc: &Doc) -> Vec<Part<'_>> {
    doc.iter().map(part).collect()
}

pub(super) fn bytes_of(doc: &Doc) -> Vec<u8> {
    let mut out = Writer::default();
    for part in parts(doc) {
        match part {
            Part::Literal(bytes) | Part::Fixed(bytes) => out.raw(bytes),
            Part::Number(number) => out.varint(number),
            Part::Text(text) => out.bytes(text),
        }
    }
    out.into_bytes()
}

/// Returns templates for every second document, so that some have none.
pub(super) fn templates_of(docs: &[Doc]) -> Templates {
    let mut templates = Templates::default();
    for doc in docs.iter().step_by(2) {
        let parts = parts(doc);
        let shape = shape_of(&parts);
        if !parts.is_empty() && !templates.shapes.contains(&shape) {
            templates.shapes.push(shape);
        }
        for part in parts {
            if let Part::Text(text) = part
                && let Some(template) = template_of(text)
                && !templates.texts.contains(&template)
            {
                templates.texts.push(template);
            }
        }
    }
    templates
}

/// Writes the documents in blocks of `per_block`, with a dictionary of `dictionary` bytes.
fn written(
    docs: &[Doc],
    per_block: usize,
    dictionary: usize,
    templates: Templates,
) -> (DocumentIndex, Vec<u8>) {
    let documents: Vec<Vec<u8>> = docs.iter().map(bytes_of).collect();
    let dictionary = match dictionary {
        0 => Vec::new(),
        len => zstd::dict::from_samples(&documents, len).unwrap(),
    };
    let mut compressor = zstd::bulk::Compressor::with_dictionary(LEVEL, &dictionary).unwrap();
    let mut writer = DocumentsWriter::default();
    let mut block = BlockWriter::new(templates);
    for docs in docs.chunks(per_block) {
        for doc in docs {
            block.add(&bytes_of(doc), &parts(doc));
        }
        assert_eq!(block.num_docs(), docs.len());
        let num_bytes = block.num_bytes();
        let block = block.finish();
        let frame = compressor.compress(&block).unwrap();
        let num_docs = u32::try_from(docs.len()).unwrap();
        writer
            .add_block(num_docs, num_bytes.max(block.len()), &frame)
            .unwrap();
    }
    let pack = |bytes: &[u8]| match bytes {
        [] => Vec::new(),
        bytes => zstd::bulk::compress(bytes, LEVEL).unwrap(),
    };
    writer.finish(
        pack(&dictionary),
        Vec::new(),
        pack(&block.templates().write()),
    )
}

#[track_caller]
fn check(docs: &[Doc], per_block: usize, dictionary: usize) -> usize {
    check_with(docs, per_block, dictionary, Templates::default());
    check_with(docs, per_block, dictionary, templates_of(docs))
}

#[track_caller]
fn check_with(docs: &[Doc], per_block: usize, dictionary: usize, templates: Templates) -> usize {
    let (index, bytes) = written(docs, per_block, dictionary, templates.clone());
    let index_bytes = index.write();
    let read = DocumentIndex::open(&index_bytes).unwrap();
    assert_eq!(read, index);
    assert_eq!(read.templates().unwrap(), templates);
    assert_eq!(read.num_docs() as usize, docs.len());
    assert_eq!(read.num_bytes(), bytes.len() as u64);
    let mut decoder = BlockDecoder::new(&read).unwrap();
    for (doc, document) in (0..).zip(docs) {
        let place = read.block_of(doc).unwrap();
        assert!(place.docs.contains(&doc));
        assert_eq!(read.block(place.ord).as_ref(), Some(&place));
        let range = place.bytes.start as usize..place.bytes.end as usize;
        let mut block = decoder.decode(&place, &bytes[range]).unwrap();
        let at = (doc - place.docs.start) as usize;
        let document = bytes_of(document);
        assert_eq!(block.get(at).unwrap(), document, "document {doc}");
        assert!(block.get(place.docs.len()).is_err());
    }
    assert_eq!(read.block_of(read.num_docs()), None);
    assert_eq!(read.block(read.num_blocks()), None);
    index_bytes.len()
}

fn text(text: &str) -> Doc {
    vec![OwnPart::Literal(8), OwnPart::Text(text.as_bytes().to_vec())]
}

pub(super) fn lines(num: usize) -> Vec<Doc> {
    let line = |nth: usize| {
        let host = nth * 7919 % 31;
        text(&format!(
            "GET /images/{nth}.png HTTP/1.1 from host {host}, which waited"
        ))
    };
    (0..num).map(line).collect()
}

/// Writes lines without templates.
fn rows(num: usize, per_block: usize, dictionary: usize) -> (DocumentIndex, Vec<u8>) {
    written(&lines(num), per_block, dictionary, Templates::default())
}

#[test]
fn documents_come_back_with_a_dictionary_and_without() {
    for dictionary in [0, 1_024, 8_192] {
        for per_block in [7, 100, 10_000] {
            check(&lines(500), per_block, dictionary);
        }
    }
    check(&[], 10, 0);
}

#[test]
fn a_document_may_be_empty_or_long() {
    let long = vec![OwnPart::Text(vec![b'7'; 1 << 20])];
    let short = vec![OwnPart::Fixed([1, 2, 3])];
    check(&[vec![], long, vec![], short], 2, 0);
}

#[test]
fn a_block_of_the_index_costs_a_few_bits() {
    let len = rows(20_000, 10, 0).0.write().len();
    assert!(len <= 2_000, "{len} bytes for 2,000 blocks");
}

#[test]
fn a_dictionary_makes_short_blocks_short() {
    let (_, without) = rows(5_000, 10, 0);
    let (_, with) = rows(5_000, 10, 4_096);
    assert!(
        with.len() * 6 < without.len() * 5,
        "{} and {}",
        with.len(),
        without.len()
    );
}

#[test]
fn a_block_that_is_longer_than_its_index_says_is_refused() {
    let (mut index, bytes) = rows(10, 10, 0);
    index.max_block_len -= 1;
    let place = index.block_of(0).unwrap();
    let error = BlockDecoder::new(&index).unwrap().decode(&place, &bytes);
    assert!(error.unwrap_err().problem.contains("longer"));
}

#[test]
fn a_dictionary_is_no_longer_than_it_may_be() {
    let long = zstd::bulk::compress(&vec![0; MAX_DICTIONARY_NUM_BYTES + 1], LEVEL).unwrap();
    let (mut index, _) = rows(10, 10, 0);
    index.packed_dictionary = long;
    assert!(index.dictionary().unwrap_err().problem.contains("longer"));
    index.packed_dictionary = vec![1, 2, 3];
    assert!(BlockDecoder::new(&index).is_err());
}

#[test]
fn a_longest_block_that_cannot_be_is_refused_before_anything_is_allocated() {
    let (mut index, _) = rows(10, 10, 0);
    let mut check = |max_block_len: u64, is_sound: bool| {
        index.max_block_len = max_block_len;
        assert_eq!(DocumentIndex::open(&index.write()).is_ok(), is_sound);
    };
    check(1 << 31, true);
    check((1 << 31) + 1, false);
    check(1 << 41, false);
    check(u64::MAX, false);
}

#[test]
fn documents_that_are_too_long_to_be_kept_come_back_in_any_order() {
    // Ten bytes of a block expand to 40 MiB.
    let literal = vec![b'x'; 4 << 20];
    let parts = [Part::Literal(&literal)];
    let templates = Templates {
        shapes: vec![shape_of(&parts)],
        ..Templates::default()
    };
    let mut writer = BlockWriter::new(templates.clone());
    for _ in 0..10 {
        writer.add(&literal, &parts);
    }
    let content = writer.finish();
    assert!(content.len() < 100, "{}", content.len());
    let templates = Arc::new(templates);
    let mut block = ColumnsBlock::open(content, 10, &templates, 64 << 20).unwrap();
    for place in [9, 0, 5, 4, 9, 1] {
        assert!(block.get(place).unwrap() == literal, "{place}");
        assert_eq!(block.kept_num_bytes(), literal.len());
    }
}

#[test]
fn a_frame_gets_no_more_memory_than_its_bytes_can_come_to() {
    let check = |frame_len: usize, content_len: u64, most: usize, is_given: bool| {
        let buffer = reserve_for_frame(frame_len, content_len, most);
        assert_eq!(buffer.is_ok(), is_given, "{content_len} of {frame_len}");
        assert!(buffer.is_err() || buffer.unwrap().capacity() <= content_len as usize);
    };
    check(0, 0, 0, true);
    check(64, 1_000, 1_000, true);
    check(64, 1_001, 1_000, false);
    check(64, 2 << 20, usize::MAX, true);
    check(64, (2 << 20) + 1, usize::MAX, false);
    check(64, u64::MAX, usize::MAX, false);
    check(usize::MAX, u64::MAX, usize::MAX, false);
}

#[test]
fn the_version_before_is_named_as_too_old() {
    let mut bytes = rows(3, 10, 0).0.write();
    bytes[0] = 2;
    let error = DocumentIndex::open(&bytes).unwrap_err();
    assert!(error.problem.contains(TOO_OLD), "{}", error.problem);
}

#[test]
fn version_3_is_read_without_models_and_checksums() {
    let docs = lines(10);
    let (index, bytes) = written(&docs, 4, 0, templates_of(&docs));
    let blocks = (0..index.num_blocks()).map(|ord| index.block(ord).unwrap());
    let mut old = DocumentIndex {
        seed: None,
        ..index.clone()
    };
    let mut file = Vec::new();
    old.starts = vec![0];
    for block in blocks {
        let block_bytes = &bytes[block.bytes.start as usize..block.bytes.end as usize];
        file.extend_from_slice(block.check.content(block_bytes).unwrap());
        file.resize(file.len().next_multiple_of(UNIT_NUM_BYTES), 0);
        old.starts.push(file.len() as u64);
    }
    let read = DocumentIndex::open(&old.write()).unwrap();
    assert_eq!(read, old);
    let mut decoder = BlockDecoder::new(&read).unwrap();
    for (doc, document) in (0..).zip(&docs) {
        let place = read.block_of(doc).unwrap();
        let block_bytes = &file[place.bytes.start as usize..place.bytes.end as usize];
        let mut block = decoder.decode(&place, block_bytes).unwrap();
        assert_eq!(
            block.get((doc - place.docs.start) as usize).unwrap(),
            bytes_of(document)
        );
    }
}

#[test]
fn a_version_to_come_is_refused_by_its_number() {
    let mut bytes = rows(3, 10, 0).0.write();
    bytes[0] = 9;
    let error = DocumentIndex::open(&bytes).unwrap_err();
    assert!(error.problem.contains("version 9"), "{error}");
}

#[test]
fn templates_make_blocks_short() {
    let docs = lines(5_000);
    let (_, without) = rows(5_000, 100, 4_096);
    let (_, with) = written(&docs, 100, 0, templates_of(&docs));
    assert!(
        with.len() * 3 < without.len(),
        "{} and {}",
        with.len(),
        without.len()
    );
}

#[test]
fn numbers_come_back_digit_by_digit() {
    let check = |texts: &[&str]| {
        let docs: Vec<Doc> = texts.iter().map(|of| text(of)).collect();
        check(&docs, 100, 0);
        // All use one template, that of the first.
        let first = templates_of(&docs[..1]);
        check_with(&docs, 100, 0, first);
    };
    check(&["0", "1", "10", "9999999999999999999"]);
    check(&["00", "01", "99"]);
    check(&["0", "00", "000"]);
    check(&["007", "7"]);
    check(&[
        "18446744073709551615",
        "18446744073709551616",
        "00000000000000000000000",
    ]);
    check(&["0000000000000000001", "9999999999999999999"]);
    check(&["a 08:05:03 b", "a 10:00:59 b", "a 1:2:3 b"]);
    check(&["", "1", ""]);
}

#[test]
fn a_block_calls_no_template_that_there_is_not() {
    let docs = lines(10);
    let (mut index, bytes) = written(&docs, 10, 0, templates_of(&docs));
    let place = index.block_of(0).unwrap();
    for templates in [
        Templates::default(),
        Templates {
            texts: Vec::new(),
            ..index.templates().unwrap()
        },
    ] {
        index.packed_templates = zstd::bulk::compress(&templates.write(), LEVEL).unwrap();
        let error = BlockDecoder::new(&index).unwrap().decode(&place, &bytes);
        assert!(
            error
                .unwrap_err()
                .problem
                .contains("calls a template that is none")
        );
    }
}

pub(super) fn own_part() -> impl Strategy<Value = OwnPart> {
    let word = prop_oneof![
        "[a-c]{0,3}",
        "[0-9]{1,21}",
        "0{0,3}[0-9]{1,3}",
        "[ -~]{0,12}",
        Just("é 1".to_owned()),
    ];
    let text = prop::collection::vec(word, 0..4).prop_map(|words| words.join(" ").into_bytes());
    prop_oneof![
        (8_u8..12).prop_map(OwnPart::Literal),
        any::<u64>().prop_map(OwnPart::Number),
        (0_u64..300).prop_map(OwnPart::Number),
        any::<[u8; 3]>().prop_map(OwnPart::Fixed),
        text.prop_map(OwnPart::Text),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(OwnPart::Text),
    ]
}

proptest! {
    #[test]
    fn any_documents_come_back(
        documents in prop::collection::vec(prop::collection::vec(own_part(), 0..6), 1..60),
        per_block in 1_usize..70,
    ) {
        check(&documents, per_block, 0);
    }

    #[test]
    fn documents_of_a_block_come_back_in_any_order(
        documents in prop::collection::vec(prop::collection::vec(own_part(), 0..6), 1..60),
        places in prop::collection::vec(0_usize..60, 1..20),
        ascending in any::<bool>(),
    ) {
        let (index, bytes) = written(&documents, 60, 0, templates_of(&documents));
        let place = index.block(0).unwrap();
        let mut block = BlockDecoder::new(&index).unwrap().decode(&place, &bytes).unwrap();
        let mut places = places;
        if ascending {
            places.sort_unstable();
        }
        for place in places {
            let document = documents.get(place).map(bytes_of);
            prop_assert_eq!(block.get(place).ok(), document.as_deref());
        }
    }

    #[test]
    fn templates_come_back(docs in prop::collection::vec(prop::collection::vec(own_part(), 0..6), 1..20)) {
        let templates = templates_of(&docs);
        prop_assert_eq!(Templates::open(&templates.write()).unwrap(), templates);
    }

    #[test]
    fn any_columns_are_documents_or_an_error(
        bytes in prop::collection::vec(0_u8..20, 0..200),
        templates in prop::collection::vec(any::<u8>(), 0..40),
        num_docs in 0_u32..20,
    ) {
        let _ = Templates::open(&templates);
        let most = 10_000;
        let templates = templates_of(&lines(4));
        let templates = Arc::new(templates);
        if let Ok(mut block) = ColumnsBlock::open(bytes, num_docs, &templates, most) {
            let places = 0..num_docs as usize;
            // Forwards, and then backwards, with all documents in memory.
            for place in places.clone().chain(places.rev()) {
                if let Ok(document) = block.get(place) {
                    prop_assert!(document.len() <= most);
                }
            }
        }
    }

    #[test]
    fn a_damaged_index_is_an_error_or_another_index(at in 0_usize..400, bit in 0_u8..8, cut in any::<bool>()) {
        static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| rows(500, 3, 0).0.write());
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
        static WRITTEN: LazyLock<(DocumentIndex, Vec<u8>)> = LazyLock::new(|| written(&lines(500), 100, 1_024, templates_of(&lines(500))));
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

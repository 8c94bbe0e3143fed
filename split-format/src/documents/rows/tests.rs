//! Rows: round trips of any documents with any models, what models save, and errors for damage.

use proptest::prelude::*;

use super::super::tests::{Doc, bytes_of, lines, own_part, parts, templates_of};
use super::super::{BlockLayout, DocumentsBlock, Templates};
use super::*;

/// Learns from `sample`, and writes `docs` as one block with a layout that reads it.
fn written(sample: &[Doc], docs: &[Doc], templates: Templates) -> (BlockLayout, Vec<u8>) {
    let mut training = RowTraining::new(templates.clone());
    for run in sample.chunks(8) {
        training.start_run();
        run.iter()
            .for_each(|doc| training.add(&bytes_of(doc), &parts(doc)));
    }
    let mut writer = training.writer(1_000_000, 8 << 10);
    for doc in docs {
        writer.add(&bytes_of(doc), &parts(doc));
    }
    assert_eq!(writer.num_docs(), docs.len());
    let block = writer.finish();
    assert_eq!((writer.num_docs(), writer.num_bytes()), (0, 0));
    let longest = docs.iter().map(|doc| bytes_of(doc).len()).max();
    let layout = BlockLayout::rows(templates, &writer.models(), longest.unwrap_or(0)).unwrap();
    (layout, block)
}

fn open(layout: &BlockLayout, block: &[u8], docs: &[Doc]) -> DocumentsBlock {
    let num_docs = u32::try_from(docs.len()).unwrap();
    layout.open(block.to_vec(), num_docs).unwrap()
}

#[track_caller]
fn check(sample: &[Doc], docs: &[Doc], templates: Templates) -> usize {
    let (layout, block) = written(sample, docs, templates);
    let mut opened = open(&layout, &block, docs);
    for (place, doc) in docs.iter().enumerate() {
        assert_eq!(
            opened.get(place).unwrap(),
            bytes_of(doc),
            "document {place}"
        );
    }
    assert!(opened.get(docs.len()).is_err());
    for (place, doc) in docs.iter().enumerate().rev() {
        assert_eq!(
            opened.get(place).unwrap(),
            bytes_of(doc),
            "document {place}"
        );
    }
    block.len()
}

#[test]
fn documents_come_back_whatever_was_learnt() {
    let docs = lines(500);
    check(&docs, &docs, templates_of(&docs[..9]));
    check(&docs, &docs, Templates::default());
    check(&[], &docs, templates_of(&docs[..9]));
    check(&docs[..1], &docs, Templates::default());
    check(&docs, &[], Templates::default());
}

#[test]
fn a_row_costs_what_tells_it_apart() {
    let docs = lines(6_400);
    let num_bytes = check(&docs, &docs, templates_of(&docs[..9]));
    // A number that follows the one before it, and a host of 31.
    assert!(num_bytes < 6_400 * 9 / 8, "{num_bytes}");
}

#[test]
fn zeros_may_follow_a_block_and_less_than_a_block_is_an_error() {
    let docs = lines(200);
    let (layout, block) = written(&docs, &docs, templates_of(&docs[..9]));
    let padded = [block.as_slice(), &[0; 63]].concat();
    assert_eq!(
        open(&layout, &padded, &docs).get(199).unwrap(),
        bytes_of(&docs[199])
    );
    for len in 0..block.len() {
        assert!(layout.open(block[..len].to_vec(), 200).is_err(), "{len}");
    }
}

#[test]
fn a_document_is_no_longer_than_the_longest() {
    let docs = lines(10);
    let templates = templates_of(&docs[..9]);
    let mut training = RowTraining::new(templates.clone());
    docs.iter()
        .for_each(|doc| training.add(&bytes_of(doc), &parts(doc)));
    let mut writer = training.writer(10, 0);
    docs.iter()
        .for_each(|doc| writer.add(&bytes_of(doc), &parts(doc)));
    let block = writer.finish();
    let layout = BlockLayout::rows(templates, &writer.models(), 30).unwrap();
    assert!(layout.open(block, 10).unwrap().get(0).is_err());
}

fn docs() -> impl Strategy<Value = Vec<Doc>> {
    prop::collection::vec(prop::collection::vec(own_part(), 0..6), 1..150)
}

proptest! {
    #[test]
    fn any_documents_come_back(sample in docs(), docs in docs(), is_known in any::<bool>()) {
        let templates = templates_of(if is_known { &docs } else { &sample });
        check(&sample, &docs, templates);
    }

    #[test]
    fn documents_come_back_in_any_order(
        docs in docs(),
        places in prop::collection::vec(0_usize..150, 1..20),
    ) {
        let (layout, block) = written(&docs, &docs, templates_of(&docs));
        let mut block = open(&layout, &block, &docs);
        for place in places {
            let document = docs.get(place).map(bytes_of);
            prop_assert_eq!(block.get(place).ok(), document.as_deref());
        }
    }

    #[test]
    fn models_come_back_and_damaged_ones_are_an_error_or_others(
        docs in docs(),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
        rows in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let templates = templates_of(&docs);
        let mut training = RowTraining::new(templates.clone());
        docs.iter().for_each(|doc| training.add(&bytes_of(doc), &parts(doc)));
        let mut models = training.writer(1_000_000, 8 << 10).models();
        let slots = super::super::slots::Slots::of(&templates);
        prop_assert_eq!(models::Models::open(&models, &slots).unwrap().write(), models.clone());
        let at = at.index(models.len());
        models[at] ^= 1 << bit;
        let most = 10_000;
        let Ok(layout) = BlockLayout::rows(templates, &models, most) else {
            return Ok(());
        };
        // Three groups of the rows' bytes.
        let words = u8::try_from(rows.len() / 6).unwrap();
        let block = [&[words, words, words], rows.as_slice()].concat();
        if let Ok(mut block) = layout.open(block, 150) {
            for place in (0..150).chain((0..150).rev().step_by(7)) {
                if let Ok(document) = block.get(place) {
                    prop_assert!(document.len() <= most);
                }
            }
        }
    }
}

//! Posting lists and phrases of an index written by tantivy: comparison with scanning its
//! documents.

use std::ops::Range;
use std::path::PathBuf;

use proptest::prelude::*;
use tantivy::directory::{CompositeFile, RamDirectory};
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Directory as _, Index, Searcher, TantivyDocument, Term};
use tantivy_common::OwnedBytes;

use crate::{
    Bits, Matcher, NO_DOC, Occurrences, Phrase, PhraseWord, PositionList, PostingList, Recorded,
    WINDOW_LEN, repack_positions,
};

const WORDS: [&str; 5] = ["always", "often", "rare", "once", "never"];

/// Words of each document.
type Docs = Vec<Vec<usize>>;

fn searcher(docs: &Docs, recorded: Recorded) -> Searcher {
    let record = match recorded {
        Recorded::Documents => IndexRecordOption::Basic,
        Recorded::Frequencies => IndexRecordOption::WithFreqs,
        Recorded::Positions => IndexRecordOption::WithFreqsAndPositions,
    };
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(record);
    let mut schema = Schema::builder();
    let field = schema.add_text_field(
        "text",
        TextOptions::default().set_indexing_options(indexing),
    );
    let index = Index::builder().schema(schema.build());
    let directory = RamDirectory::create();
    let writer = index.single_segment_index_writer(directory, 50_000_000);
    let mut writer = writer.unwrap();

    for words in docs {
        let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        let mut doc = TantivyDocument::new();
        doc.add_text(field, words.join(" "));
        writer.add_document(doc).unwrap();
    }
    let index = writer.finalize().unwrap();
    index.reader().unwrap().searcher()
}

/// Returns the posting list of a word, and its positions.
fn lists(
    searcher: &Searcher,
    word: usize,
    recorded: Recorded,
) -> Option<(PostingList, Option<PositionList>)> {
    let segment = searcher.segment_reader(0);
    let field = segment.schema().get_field("text").unwrap();
    let term = Term::from_field_text(field, WORDS[word]);
    let info = segment
        .inverted_index(field)
        .unwrap()
        .get_term_info(&term)
        .unwrap()?;
    let open = |name: &str| {
        let path = format!("{}.{name}", segment.segment_id().uuid_string());
        let file = searcher.index().directory();
        let file = CompositeFile::open(&file.open_read(&PathBuf::from(path)).unwrap()).unwrap();
        file.open_read(field).unwrap()
    };
    let range = info.postings_range;
    let bytes = open("idx").read_bytes_slice(range.start + 8..range.end + 8);
    let list = PostingList::open(info.doc_freq, bytes.unwrap(), recorded).unwrap();
    let positions = (recorded == Recorded::Positions).then(|| {
        let bytes = open("pos").read_bytes_slice(info.positions_range).unwrap();
        let mut repacked = Vec::new();
        repack_positions(bytes, &mut repacked).unwrap();
        PositionList::open(OwnedBytes::new(repacked)).unwrap()
    });
    Some((list, positions))
}

/// Generates documents with given word probabilities: some words are in nearly all, others in runs.
fn docs() -> impl Strategy<Value = Docs> {
    let doc = (0u32..100, proptest::collection::vec(0u32..100, 0..6));
    let run = (1usize..2000, proptest::collection::vec(doc, 1..40));
    proptest::collection::vec(run, 1..8).prop_map(|runs| {
        let mut docs = Vec::new();
        for (len, patterns) in runs {
            for ord in 0..len {
                let (shift, pattern) = &patterns[ord * 7 % patterns.len()];
                let word = |choice: &u32| match (choice + shift) % 100 {
                    0..50 => 0,
                    50..90 => 1,
                    90..99 => 2,
                    _ => 3,
                };
                docs.push(pattern.iter().map(word).collect());
            }
        }
        docs
    })
}

fn having(docs: &Docs, is_in: impl Fn(&[usize]) -> bool) -> Vec<u32> {
    let found = (0u32..).zip(docs).filter(|(_, words)| is_in(words));
    found.map(|(doc, _)| doc).collect()
}

/// Returns the matches of a matcher among wanted documents, window by window.
fn found(matcher: &mut Matcher, docs: Range<u32>, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let (mut all, mut list) = (Vec::new(), Vec::new());
    let mut next = docs.start / 64 * 64;
    let mut found = Bits::default();
    while let Some(first) = matcher.next_window(next, docs.end) {
        assert!(first >= next && first % 64 == 0);
        let mut wanted = Bits::default();
        for doc in first.max(docs.start)..(first + WINDOW_LEN).min(docs.end) {
            if is_wanted(doc) {
                wanted.insert(doc - first);
            }
        }
        matcher.find(first, &wanted, &mut found).unwrap();
        found.intersect(&wanted);
        found.list(first, &mut list);
        all.extend_from_slice(&list);
        next = first + WINDOW_LEN;
    }
    all
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn recorded() -> impl Strategy<Value = Recorded> {
    prop_oneof![
        Just(Recorded::Documents),
        Just(Recorded::Frequencies),
        Just(Recorded::Positions)
    ]
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn a_list_is_what_was_written(
        docs in docs(),
        recorded in recorded(),
        from in 0u32..9000,
        len in 0u32..20_000,
        every in prop_oneof![Just(1u32), Just(2), Just(40), Just(1000)],
    ) {
        let searcher = searcher(&docs, recorded);
        let num_docs = docs.len() as u32;
        let range = from.min(num_docs)..(from + len).min(num_docs);
        for word in 0..WORDS.len() {
            let expected = having(&docs, |words| words.contains(&word));
            let Some((list, _)) = lists(&searcher, word, recorded) else {
                prop_assert!(expected.is_empty());
                continue;
            };
            prop_assert_eq!(list.num_docs() as usize, expected.len());
            // Block by block.
            let (mut blocks, mut all) = (list.clone(), Vec::new());
            while !blocks.is_at_end() {
                all.extend_from_slice(blocks.docs());
                blocks.next_block();
            }
            prop_assert_eq!(&all, &expected);
            prop_assert_eq!(blocks.next_doc(0), NO_DOC);
            // By rank.
            let mut ranked = list.clone();
            let mut before = |doc: u32| ranked.rank(doc) as usize;
            let ranks = [before(range.start), before(range.end), before(num_docs + 7)];
            let count = |end: u32| expected.partition_point(|doc| *doc < end);
            prop_assert_eq!(ranks, [count(range.start), count(range.end), expected.len()]);
            let mut last = Vec::new();
            let end = ranks[1] as u32;
            ranked.docs_by_rank(end.saturating_sub(every)..end, &mut last);
            let start = ranks[1].saturating_sub(every as usize);
            prop_assert_eq!(&last[..], &expected[start..ranks[1]]);
            // Among wanted documents.
            let is_wanted = |doc: u32| doc.is_multiple_of(every);
            let mut matcher = Matcher::Term(Box::new(list));
            let wanted: Vec<u32> = expected.into_iter().filter(|doc| range.contains(doc) && is_wanted(*doc)).collect();
            prop_assert_eq!(found(&mut matcher, range.clone(), is_wanted), wanted);
        }
    }

    #[test]
    fn a_phrase_is_where_its_words_stand(
        docs in docs(),
        phrase in proptest::collection::vec((0usize..5, 0usize..3), 2..4),
        every in prop_oneof![Just(1u32), Just(3), Just(300)],
    ) {
        let searcher = searcher(&docs, Recorded::Positions);
        // Words with gaps in between, as after a tokenizer that drops some.
        let mut places = Vec::new();
        let mut place = 0;
        for (word, gap) in &phrase {
            place += 1 + usize::from(*gap == 2);
            places.push((place, *word));
        }
        let expected = having(&docs, |words| {
            (0..words.len()).any(|start| {
                places.iter().all(|(place, word)| words.get(start + place - places[0].0) == Some(word))
            })
        });
        let words = places.iter().map(|(at, word)| {
            let (docs, positions) = lists(&searcher, *word, Recorded::Positions)?;
            let behind = (place - at) as u32;
            Some(PhraseWord { docs, positions: positions?, behind })
        });
        let Some(words) = words.collect::<Option<Vec<_>>>() else {
            prop_assert!(expected.is_empty());
            return Ok(());
        };
        let is_wanted = |doc: u32| doc.is_multiple_of(every);
        let expected: Vec<u32> = expected.into_iter().filter(|doc| is_wanted(*doc)).collect();
        let mut matcher = Matcher::Phrase(Box::new(Phrase::new(words)));
        prop_assert_eq!(found(&mut matcher, 0..docs.len() as u32, is_wanted), expected);
    }

    #[test]
    fn a_word_is_where_its_documents_say(docs in docs(), word in 0usize..5, step in 1u32..300) {
        let searcher = searcher(&docs, Recorded::Positions);
        let list = lists(&searcher, word, Recorded::Positions);
        let expected = having(&docs, |words| words.contains(&word));
        let Some((list, Some(positions))) = list else {
            prop_assert!(expected.is_empty());
            return Ok(());
        };
        for step in [1, step] {
            let mut word_in = Occurrences::new(list.clone(), positions.clone()).unwrap();
            prop_assert_eq!(word_in.num_docs() as usize, expected.len());
            let mut from = 0;
            let mut found = Vec::new();
            loop {
                let next = expected.iter().copied().find(|doc| *doc >= from);
                prop_assert_eq!(word_in.doc(), next.unwrap_or(NO_DOC));
                word_in.positions(3, &mut found);
                let Some(doc) = next else { break };
                let words = (3u32..).zip(&docs[doc as usize]);
                let there: Vec<u32> = words.filter(|(_, is)| **is == word).map(|(at, _)| at).collect();
                prop_assert_eq!(&found, &there);
                from = doc + step;
                match step {
                    1 => word_in.advance(),
                    _ => word_in.seek(from),
                };
            }
            prop_assert!(found.is_empty());
        }
    }

    #[test]
    fn parts_are_put_together(docs in docs(), choice in 0u32..100_000) {
        let searcher = searcher(&docs, Recorded::Frequencies);
        let term = |word: usize| match lists(&searcher, word, Recorded::Frequencies) {
            Some((list, _)) => Matcher::Term(Box::new(list)),
            None => Matcher::Nothing,
        };
        let [a, b, c, d] = [0, 3, 5, 7].map(|shift| (choice >> shift) as usize % 5);
        let inner = |words: &[usize]| words.contains(&a) && !words.contains(&b);
        let mut matcher = Matcher::any(vec![
            Matcher::all(vec![term(a)], vec![term(b)]),
            Matcher::all(vec![term(c), term(d), Matcher::Everything], vec![Matcher::Nothing]),
        ]);
        let expected = having(&docs, |words| {
            inner(words) || (words.contains(&c) && words.contains(&d))
        });
        prop_assert_eq!(found(&mut matcher, 0..docs.len() as u32, |_| true), expected);
        let mut matcher = Matcher::all(vec![], vec![Matcher::any(vec![term(c), term(d)])]);
        let expected = having(&docs, |words| !words.contains(&c) && !words.contains(&d));
        prop_assert_eq!(found(&mut matcher, 0..docs.len() as u32, |_| true), expected);
    }

    #[test]
    fn no_bytes_are_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..3000),
        skips_len in 0u8..128,
        num_docs in 0u32..2000,
        recorded in recorded(),
    ) {
        let open = |bytes: Vec<u8>| tantivy_common::OwnedBytes::new(bytes);
        let mut list = vec![skips_len | 128];
        list.extend_from_slice(&bytes);
        let (Ok(docs), Ok(positions)) = (
            PostingList::open(num_docs, open(list), recorded),
            PositionList::open(open(bytes)),
        ) else {
            return Ok(());
        };
        let mut blocks = docs.clone();
        let mut num_found = 0;
        while !blocks.is_at_end() {
            num_found += blocks.docs().len();
            blocks.next_block();
        }
        prop_assert_eq!(num_found, num_docs as usize);
        let mut term = Matcher::Term(Box::new(docs.clone()));
        found(&mut term, 0..100_000, |_| true);
        if let Some(mut word) = Occurrences::new(docs.clone(), positions.clone()) {
            let mut found = Vec::new();
            while word.doc() != NO_DOC && word.doc() < 100_000 {
                word.positions(0, &mut found);
                word.seek(word.doc() + 77);
            }
        }
        let mut phrase = Matcher::Phrase(Box::new(Phrase::new(vec![PhraseWord { docs, positions, behind: 0 }])));
        found(&mut phrase, 0..100_000, |doc| doc % 3 == 0);
    }
}

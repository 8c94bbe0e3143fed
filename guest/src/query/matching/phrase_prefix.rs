//! Phrases whose last word is a prefix.
//!
//! tantivy's query holds the lists of all expansions of the prefix at once, and so needs a limit on their number.
//! Whether a dictionary exceeds it depends on all documents, including those that a caller may not see. Here each
//! expansion is looked up in turn, at the positions that the whole words imply, and none is left out.

use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{DocId, Score, Searcher, SegmentReader, TERMINATED, TantivyError, Term};
use tantivy_common::BitSet;

use super::file::PostingFiles;
use super::near::{Words, searcher_of};
use super::term_infos::TermInfos;
use crate::query::build::prefix_end;

/// A phrase whose last word is a prefix. All its documents have the same score.
#[derive(Clone, Debug)]
pub(in crate::query) struct PhrasePrefix {
    /// The whole words, each with its position in the phrase.
    words: Vec<(usize, Term)>,
    /// The prefix of the last word, and its position.
    prefix: (usize, Term),
}

impl PhrasePrefix {
    /// At least one word, in the same field as the prefix.
    pub(in crate::query) fn new(words: Vec<(usize, Term)>, prefix: (usize, Term)) -> Self {
        Self { words, prefix }
    }

    /// Returns the whole words.
    pub(in crate::query) fn words(&self) -> Vec<Term> {
        self.words.iter().map(|(_, word)| word.clone()).collect()
    }

    /// Returns the matching documents.
    fn docs(&self, searcher: &Searcher, reader: &SegmentReader) -> tantivy::Result<Option<BitSet>> {
        let (_, prefix) = &self.prefix;
        let terms = TermInfos::default();
        let mut files = PostingFiles::new(searcher, &terms);
        let Some(places) = self.places(&mut files)? else {
            return Ok(None);
        };
        let inverted_index = reader.inverted_index(prefix.field())?;
        let builder = inverted_index.terms().range();
        let builder = builder.ge(prefix.serialized_value_bytes());
        let mut last_words = match prefix_end(prefix) {
            Some(end) => builder.lt(end.serialized_value_bytes()),
            None => builder,
        }
        .into_stream()?;
        let mut found = BitSet::with_max_value(reader.max_doc());
        let mut positions = Vec::new();
        while last_words.advance() {
            let info = last_words.value().clone();
            let Some(mut word) = files.occurrences_at(prefix.field(), info)? else {
                continue;
            };
            let mut places = places.as_slice();
            let mut doc = word.doc();
            loop {
                places = from_doc(places, doc);
                let Some((next, _)) = places.first() else {
                    break;
                };
                if *next > doc {
                    doc = word.seek(*next);
                    continue;
                }
                if !found.contains(doc) {
                    word.positions(0, &mut positions);
                    let mut here = places.iter().take_while(|(there, _)| *there == doc);
                    if here.any(|(_, place)| positions.binary_search(place).is_ok()) {
                        found.insert(doc);
                    }
                }
                doc = word.advance();
            }
        }
        Ok(Some(found))
    }

    /// Returns the positions at which the last word must be, after the whole words: documents with positions, both
    /// ascending. `None` if one of the whole words has no document.
    fn places(&self, files: &mut PostingFiles<'_>) -> tantivy::Result<Option<Vec<(DocId, u32)>>> {
        let Some(mut words) = Words::open(&self.words, self.prefix.0, files)? else {
            return Ok(None);
        };
        let mut places = Vec::new();
        loop {
            let doc = words.aligned();
            if doc == TERMINATED {
                return Ok(Some(places));
            }
            if let [first, others @ ..] = words.ends().as_slice() {
                let is_end = |end: &&u32| {
                    let mut others = others.iter();
                    others.all(|ends| ends.binary_search(end).is_ok())
                };
                places.extend(first.iter().filter(is_end).map(|end| (doc, *end)));
            }
            words.advance();
        }
    }
}

/// Returns the positions of a document and of those after it. Consecutive lookups are mostly close together.
fn from_doc(places: &[(DocId, u32)], doc: DocId) -> &[(DocId, u32)] {
    let is_before = |(there, _): &(DocId, u32)| *there < doc;
    let mut near = 1;
    while places.get(near).is_some_and(is_before) {
        near *= 2;
    }
    let start = places.get(..near).unwrap_or(places);
    places
        .get(start.partition_point(is_before)..)
        .unwrap_or_default()
}

impl Query for PhrasePrefix {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(PhrasePrefixWeight {
            query: self.clone(),
            searcher: searcher_of(scoring)?,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        for (_, word) in &self.words {
            visitor(word, true);
        }
    }
}

struct PhrasePrefixWeight {
    query: PhrasePrefix,
    searcher: Searcher,
}

impl Weight for PhrasePrefixWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.query.docs(&self.searcher, reader)? {
            Some(found) => Box::new(ConstScorer::new(BitSetDocSet::from(found), boost)),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument(
            "scores of phrases are not explained".to_owned(),
        ))
    }
}

//! Words that stand beside each other, of which the last is the beginning of one.
//!
//! tantivy's query for it holds the lists of all words that the last one stands for at once, and so has to be told how many
//! they may be. Whether a dictionary has more depends on all documents, also those that a caller may not see. Here each of
//! these words is looked for after the other, and none is left out.

use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, PhraseQuery, Query, Scorer,
    Weight,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, Score, SegmentReader, TERMINATED, TantivyError, Term};
use tantivy_common::BitSet;

use crate::query::build::prefix_end;

/// A phrase whose last word may go on. All its documents have the same score.
#[derive(Clone, Debug)]
pub(in crate::query) struct PhrasePrefix {
    /// The whole words, each with its place in the phrase.
    words: Vec<(usize, Term)>,
    /// How the last one begins, and its place.
    prefix: (usize, Term),
}

impl PhrasePrefix {
    /// At least one word, of the same field as the prefix.
    pub(in crate::query) fn new(words: Vec<(usize, Term)>, prefix: (usize, Term)) -> Self {
        Self { words, prefix }
    }

    /// The whole words.
    pub(in crate::query) fn words(&self) -> Vec<Term> {
        self.words.iter().map(|(_, word)| word.clone()).collect()
    }

    /// Its documents.
    fn docs(&self, reader: &SegmentReader) -> tantivy::Result<Option<BitSet>> {
        let (place, prefix) = &self.prefix;
        let inverted_index = reader.inverted_index(prefix.field())?;
        for (_, word) in &self.words {
            if inverted_index.get_term_info(word)?.is_none() {
                return Ok(None);
            }
        }
        let builder = inverted_index.terms().range();
        let builder = builder.ge(prefix.serialized_value_bytes());
        let mut last_words = match prefix_end(prefix) {
            Some(end) => builder.lt(end.serialized_value_bytes()),
            None => builder,
        }
        .into_stream()?;
        let beginnings = self.beginnings(reader)?;
        let mut found = BitSet::with_max_value(reader.max_doc());
        while last_words.advance() {
            // Most of these words are rare, and in none of the documents.
            let info = last_words.value();
            let mut docs =
                inverted_index.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            let mut may_match = false;
            while !may_match && docs.block_len() > 0 {
                may_match = docs.docs().iter().any(|doc| beginnings.contains(*doc));
                docs.advance();
            }
            if !may_match {
                continue;
            }
            let mut last = prefix.clone();
            last.truncate_value_bytes(0);
            last.append_bytes(last_words.key());
            let mut words = self.words.clone();
            words.push((*place, last));
            for_each_doc(words, reader, |doc| {
                found.insert(doc);
            })?;
        }
        Ok(Some(found))
    }

    /// The documents with all whole words, one behind the other.
    fn beginnings(&self, reader: &SegmentReader) -> tantivy::Result<BitSet> {
        let mut found = BitSet::with_max_value(reader.max_doc());
        match self.words.as_slice() {
            [(_, word)] => {
                let inverted_index = reader.inverted_index(word.field())?;
                let docs = inverted_index.read_postings(word, IndexRecordOption::Basic)?;
                if let Some(mut docs) = docs {
                    while docs.doc() != TERMINATED {
                        found.insert(docs.doc());
                        docs.advance();
                    }
                }
            }
            words => for_each_doc(words.to_vec(), reader, |doc| {
                found.insert(doc);
            })?,
        }
        Ok(found)
    }
}

/// The documents of a phrase of two words or more.
fn for_each_doc(
    words: Vec<(usize, Term)>,
    reader: &SegmentReader,
    mut take: impl FnMut(DocId),
) -> tantivy::Result<()> {
    let unscored = EnableScoring::disabled_from_schema(reader.schema());
    let phrase = PhraseQuery::new_with_offset(words).weight(unscored)?;
    let mut docs = phrase.scorer(reader, 1.0)?;
    let mut doc = docs.doc();
    while doc != TERMINATED {
        take(doc);
        doc = docs.advance();
    }
    Ok(())
}

impl Query for PhrasePrefix {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(PhrasePrefixWeight(self.clone())))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        for (_, word) in &self.words {
            visitor(word, true);
        }
    }
}

struct PhrasePrefixWeight(PhrasePrefix);

impl Weight for PhrasePrefixWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.0.docs(reader)? {
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

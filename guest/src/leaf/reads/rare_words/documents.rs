//! The documents that may have rare words, and the words that are found in them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use canter_doc_mapper::ScannedField;
use canter_matching::{AddedDoc, AddedWord};
use canter_split_format::{RareStubs, may_be_rare};
use futures_util::future::try_join_all;

use super::super::scan::{DocReader, WAVE_BYTES};
use crate::SearchError;
use crate::exchange::Interrupt;
use crate::query::DocTerms;
use crate::split::{Documents, OpenSplit};

/// Stubs of one field whose words are looked for.
pub(super) struct Sought {
    pub(super) field: ScannedField,
    pub(super) stubs: RareStubs,
    /// Places of stubs whose words are needed.
    pub(super) words: BTreeSet<usize>,
    /// Places of stubs of which only the documents are needed.
    pub(super) documents: BTreeSet<usize>,
    /// Words that were found in documents of their stubs.
    found: BTreeMap<(usize, Vec<u8>), Vec<AddedDoc>>,
}

impl Sought {
    pub(super) fn new(field: ScannedField) -> Self {
        Self {
            field,
            stubs: RareStubs::default(),
            words: BTreeSet::new(),
            documents: BTreeSet::new(),
            found: BTreeMap::new(),
        }
    }

    /// Adds the words of a document that are looked for. Returns whether there are any.
    fn take(&mut self, doc: u32, terms: &DocTerms) -> bool {
        let mut has_any = false;
        for (word, position) in terms.iter() {
            let stub = may_be_rare(word).then(|| self.stubs.find(word)).flatten();
            let stub = stub.filter(|stub| {
                self.words.contains(stub) && self.stubs.docs(*stub).binary_search(&doc).is_ok()
            });
            let Some(stub) = stub else {
                continue;
            };
            has_any = true;
            let docs = self.found.entry((stub, word.to_vec())).or_default();
            match docs.last_mut() {
                Some(last) if last.doc == doc => last.positions.push(position),
                _ => docs.push(AddedDoc {
                    doc,
                    positions: vec![position],
                }),
            }
        }
        has_any
    }

    /// Returns the words that all documents of a stub have, by stub.
    pub(super) fn into_candidates(self) -> (RareStubs, BTreeSet<usize>, Vec<(usize, AddedWord)>) {
        let mut candidates = Vec::new();
        for ((stub, word), docs) in self.found {
            if docs.len() == self.stubs.docs(stub).len() {
                candidates.push((stub, AddedWord { word, docs }));
            }
        }
        (self.stubs, self.documents, candidates)
    }
}

/// Returns all documents that are read, ascending.
pub(super) fn docs_of<'s>(sought: impl Iterator<Item = &'s Sought>) -> Vec<u32> {
    let docs = sought.flat_map(|sought| {
        let words = sought.words.iter();
        words.flat_map(|stub| sought.stubs.docs(*stub).iter().copied())
    });
    let mut docs: Vec<u32> = docs.collect();
    canter_sorting::sort(&mut docs);
    docs.dedup();
    docs
}

/// Loads all documents at once if they are few. Returns whether they are.
pub(super) async fn load_few(split: &OpenSplit, docs: &[u32]) -> Result<bool, SearchError> {
    let documents = Documents::open(split).await?;
    let mut ranges: BTreeMap<u64, (Range<u64>, u32)> = BTreeMap::new();
    let mut num_bytes = 0;
    for doc in docs {
        let range = documents.range_of(*doc)?;
        let len = range.end - range.start;
        if ranges.insert(range.start, (range, *doc)).is_none() {
            num_bytes += len;
        }
        if num_bytes > WAVE_BYTES {
            return Ok(false);
        }
    }
    try_join_all(ranges.values().map(|(_, doc)| documents.load(*doc))).await?;
    Ok(true)
}

/// Finds words in documents, some of which may have to be fetched.
pub(super) async fn find_words(
    split: &OpenSplit,
    docs: &[u32],
    sought: &mut [&mut Sought],
    interrupt: &Interrupt,
) -> Result<(), SearchError> {
    let mapper = &split.mapper;
    let terms = sought
        .iter()
        .map(|sought| DocTerms::new(mapper, &sought.field));
    let mut terms: Vec<DocTerms> = terms.collect();
    let mut reader = DocReader::open(split).await?;
    for doc in docs {
        interrupt.check()?;
        let document = reader.read(*doc, docs).await?;
        let document = mapper.stored_doc(&document, false);
        let mut may_be_hit = false;
        for (sought, terms) in sought.iter_mut().zip(&mut terms) {
            terms.read(mapper, &sought.field, &document);
            may_be_hit |= sought.take(*doc, terms);
        }
        // Documents that come next may release it.
        if may_be_hit {
            reader.keep(*doc)?;
        }
    }
    Ok(())
}

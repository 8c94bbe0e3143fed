//! What a split gives to its aggregations.

use canter_doc_mapper::DocMapper;
use canter_split_format::TimeIndex;
use tantivy::SegmentReader;

/// A split whose documents are aggregated.
#[derive(Clone, Copy)]
pub struct Split<'a> {
    /// Its columns; those that the request names have been warmed up.
    pub segment: &'a SegmentReader,
    /// What its fields are.
    pub mapper: &'a DocMapper,
    /// The field of dates by which its documents are sorted, ascending.
    pub sort_field: Option<&'a str>,
    /// Which of its documents begin which times, if its head says so.
    pub time_index: Option<&'a TimeIndex>,
    /// What each filter of the request matches, by slot.
    pub filters: &'a [BitSet],
}

/// Some of a split's documents.
#[derive(Clone, Debug, Default)]
pub struct BitSet(Vec<u64>);

impl BitSet {
    /// None of so many documents.
    pub fn new(num_docs: u32) -> Self {
        Self(vec![0; (num_docs as usize).div_ceil(64)])
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: u32) {
        if let Some(word) = self.0.get_mut((doc / 64) as usize) {
            *word |= 1 << (doc % 64);
        }
    }

    /// Adds those whose bits are set in words, the first of which are those of so many words' documents on.
    pub fn insert_words(&mut self, first: u32, words: &[u64]) {
        let there = self.0.get_mut(first as usize..).unwrap_or_default();
        for (to, from) in there.iter_mut().zip(words) {
            *to |= from;
        }
    }

    /// Whether a document is in it.
    pub fn contains(&self, doc: u32) -> bool {
        let word = self.0.get((doc / 64) as usize).copied().unwrap_or_default();
        word & (1 << (doc % 64)) != 0
    }
}

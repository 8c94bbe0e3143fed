//! Sets of documents or objects.

/// Set of a split's documents.
#[derive(Clone, Debug, Default)]
pub struct BitSet(Vec<u64>);

impl BitSet {
    /// Creates an empty set for `num_docs` documents.
    pub fn new(num_docs: u32) -> Self {
        Self(vec![0; (num_docs as usize).div_ceil(64)])
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: u32) {
        if let Some(word) = self.0.get_mut((doc / 64) as usize) {
            *word |= 1 << (doc % 64);
        }
    }

    /// Adds the documents whose bits are set in `words`, of which the first has index `first` in
    /// the set.
    pub fn insert_words(&mut self, first: u32, words: &[u64]) {
        let there = self.0.get_mut(first as usize..).unwrap_or_default();
        for (to, from) in there.iter_mut().zip(words) {
            *to |= from;
        }
    }

    /// Returns whether the set contains a document.
    pub fn contains(&self, doc: u32) -> bool {
        let word = self.0.get((doc / 64) as usize).copied().unwrap_or_default();
        word & (1 << (doc % 64)) != 0
    }
}

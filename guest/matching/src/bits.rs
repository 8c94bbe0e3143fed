//! Bitmap over the documents of a window.

use std::ops::Range;

use crate::kernels;

/// Number of words in a window.
pub(crate) const NUM_WORDS: usize = kernels::NUM_WORDS;

/// Number of documents in a window.
pub const WINDOW_LEN: u32 = 64 * 128;

const _: () = assert!(WINDOW_LEN as usize == NUM_WORDS * 64);

/// Bitmap over the documents of a window; the lowest bit of the first word is that of the first
/// document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits(pub(crate) [u64; NUM_WORDS]);

impl Default for Bits {
    fn default() -> Self {
        Self([0; NUM_WORDS])
    }
}

impl Bits {
    /// Returns the words, lowest documents first.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Replaces the words. Missing words become zero, and excess ones are ignored.
    pub fn set_words(&mut self, words: &[u64]) {
        let (there, missing) = self.0.split_at_mut(words.len().min(NUM_WORDS));
        for (to, from) in there.iter_mut().zip(words) {
            *to = *from;
        }
        missing.fill(0);
    }

    /// Clears all bits.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Adds a document, given by its position in the window.
    #[inline]
    pub fn insert(&mut self, place: u32) {
        if let Some(word) = self.0.get_mut((place / 64) as usize) {
            *word |= 1 << (place % 64);
        }
    }

    /// Adds the documents at a range of positions.
    pub fn insert_range(&mut self, places: Range<u32>) {
        let (start, end) = (places.start / 64, places.end / 64);
        if start < end {
            // All words of the range but the last and possibly the first are full.
            let whole = self
                .0
                .get_mut(places.start.div_ceil(64) as usize..end as usize);
            whole.unwrap_or_default().fill(u64::MAX);
        }
        for at in [start, end] {
            if let Some(word) = self.0.get_mut(at as usize) {
                *word |= ones(&places, at * 64);
            }
        }
    }

    /// Returns whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Returns the number of documents in the set.
    #[inline(never)]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns whether more than `than` documents are set in a range of positions.
    #[inline]
    pub(crate) fn has_more(&self, places: &Range<u32>, than: u32) -> bool {
        let mut num_found = 0;
        let mut first = places.start / 64 * 64;
        while first < places.end {
            let word = self.0.get((first / 64) as usize).copied();
            num_found += (word.unwrap_or_default() & ones(places, first)).count_ones();
            if num_found > than {
                return true;
            }
            first += 64;
        }
        false
    }

    /// Returns the first set position from `place` on.
    #[inline(never)]
    pub(crate) fn next(&self, place: u32) -> Option<u32> {
        let at = place / 64;
        let (first, rest) = self.0.get(at as usize..)?.split_first()?;
        let ahead = first & (u64::MAX << (place % 64));
        if ahead != 0 {
            return Some(at * 64 + ahead.trailing_zeros());
        }
        let mut base = at * 64;
        for word in rest {
            base += 64;
            if *word != 0 {
                return Some(base + word.trailing_zeros());
            }
        }
        None
    }

    /// Keeps only documents that are also in `other`. Returns whether any are left.
    pub fn intersect(&mut self, other: &Self) -> bool {
        let mut all = 0;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
            all |= *word;
        }
        all != 0
    }

    /// Adds the documents of `other`.
    pub fn unite(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Removes the documents of `other`.
    pub fn subtract(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// Replaces `docs` by the documents of the set, in a window that begins with `first`.
    pub fn list(&self, first: u32, docs: &mut Vec<u32>) {
        list(&self.0, first, docs);
    }
}

/// Replaces `docs` by the documents whose bits are set in `words`, which begin with document
/// `first`.
pub fn list(words: &[u64], first: u32, docs: &mut Vec<u32>) {
    let num_docs: u32 = words.iter().map(|word| word.count_ones()).sum();
    docs.clear();
    docs.resize(num_docs as usize, 0);
    kernels::list(words, first, docs);
}

/// Returns the bits for a range of positions in the word that begins with position `first`.
fn ones(places: &Range<u32>, first: u32) -> u64 {
    let below = |place: u32| match place.saturating_sub(first) {
        bits @ 0..64 => !(u64::MAX << bits),
        _ => u64::MAX,
    };
    below(places.end) & !below(places.start)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bits(places: &BTreeSet<u32>) -> Bits {
        let mut bits = Bits::default();
        places.iter().for_each(|place| bits.insert(*place));
        bits
    }

    fn listed(bits: &Bits) -> BTreeSet<u32> {
        let mut docs = Vec::new();
        bits.list(0, &mut docs);
        docs.into_iter().collect()
    }

    fn places() -> impl Strategy<Value = BTreeSet<u32>> {
        let dense = proptest::collection::btree_set(0..WINDOW_LEN, 0..4000);
        let sparse = proptest::collection::btree_set(0..WINDOW_LEN, 0..4);
        prop_oneof![dense, sparse]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bits_are_sets(a in places(), b in places(), from in 0..WINDOW_LEN, len in 0..WINDOW_LEN) {
            let (x, y) = (bits(&a), bits(&b));
            prop_assert_eq!(listed(&x), a.clone());
            prop_assert_eq!(x.count() as usize, a.len());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            let mut both = x.clone();
            both.intersect(&y);
            prop_assert_eq!(listed(&both), a.intersection(&b).copied().collect());
            let mut either = x.clone();
            either.unite(&y);
            prop_assert_eq!(listed(&either), a.union(&b).copied().collect());
            let mut without = x.clone();
            without.subtract(&y);
            prop_assert_eq!(listed(&without), a.difference(&b).copied().collect());
            prop_assert_eq!(x.next(from), a.range(from..).next().copied());
            let range = from..(from + len).min(WINDOW_LEN);
            let num_places = a.range(range.clone()).count() as u32;
            prop_assert!(!x.has_more(&range, num_places));
            prop_assert!(num_places == 0 || x.has_more(&range, num_places - 1));
            let mut more = x.clone();
            more.insert_range(range.clone());
            prop_assert_eq!(listed(&more), a.iter().copied().chain(range).collect());
            let mut same = y;
            same.set_words(x.words());
            prop_assert_eq!(same, x);
        }
    }
}

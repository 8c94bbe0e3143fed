//! The best candidates of all splits, as codes rank them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A document that may be among the nearest.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// What its code says of its closeness.
    pub closeness: f32,
    /// Which of the splits it is in.
    pub split: usize,
    /// Document id in the split.
    pub doc: u32,
    /// Place of its vector among the exact vectors.
    pub place: u32,
}

impl Candidate {
    /// Compares candidates: closer ones first, then by split and document.
    fn rank(&self, other: &Self) -> Ordering {
        let closer = other.closeness.total_cmp(&self.closeness);
        closer
            .then(self.split.cmp(&other.split))
            .then(self.doc.cmp(&other.doc))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank(other)
    }
}

/// The best of all candidates that were pushed, of a fixed number.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The worst is on top.
    heap: BinaryHeap<Candidate>,
    max_len: usize,
}

impl Candidates {
    /// Creates a list of at most `max_len` candidates.
    pub fn new(max_len: usize) -> Self {
        Self {
            heap: BinaryHeap::new(),
            max_len,
        }
    }

    /// Returns whether there are fewer candidates than are wanted.
    pub fn lacks_some(&self) -> bool {
        self.heap.len() < self.max_len
    }

    /// Returns whether a candidate of this closeness may be one of the best.
    pub(crate) fn may_take(&self, closeness: f32) -> bool {
        self.heap.len() < self.max_len
            || self
                .heap
                .peek()
                .is_some_and(|worst| closeness.total_cmp(&worst.closeness).is_ge())
    }

    /// Takes a candidate, if it is one of the best.
    pub(crate) fn push(&mut self, candidate: Candidate) {
        if self.heap.len() < self.max_len {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Returns the candidates in the order of their splits and places, each document once.
    pub fn into_places(self) -> Vec<Candidate> {
        let mut candidates = self.heap.into_vec();
        let place = |of: &Candidate| (of.split, of.doc, Reverse(of.closeness.to_bits()));
        canter_sorting::sort_by(&mut candidates, |one, other| place(one).cmp(&place(other)));
        candidates.dedup_by_key(|candidate| (candidate.split, candidate.doc));
        candidates
    }
}

//! How well a passage fits the query: as BM25 scores documents, with passages in their place.

use std::collections::BTreeMap;
use std::ops::Range;

use super::words::Match;

/// Weight of how often a word occurs.
const K1: f64 = 1.2;
/// Weight of a passage's length.
const B: f64 = 0.75;
/// Usual length of a passage, in characters.
const PIVOT: f64 = 87.0;

/// Scores of the passages of a content.
pub(super) struct Scores<'m> {
    /// Length of the content.
    len: f64,
    /// Number of occurrences by word.
    totals: BTreeMap<&'m str, u32>,
}

#[expect(clippy::cast_precision_loss, reason = "lengths of texts are small")]
fn float(number: usize) -> f64 {
    number as f64
}

impl<'m> Scores<'m> {
    pub(super) fn new(len: usize, matches: impl Iterator<Item = &'m Match>) -> Self {
        let mut totals: BTreeMap<&str, u32> = BTreeMap::new();
        for found in matches {
            *totals.entry(&found.word).or_default() += 1;
        }
        Self {
            len: float(len),
            totals,
        }
    }

    /// Returns the score of a passage that is `start` bytes behind the beginning of the content.
    pub(super) fn of(&self, start: usize, passage: &Range<usize>, matches: &[Match]) -> f64 {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for found in matches
            .iter()
            .filter(|found| passage.contains(&found.range.start))
        {
            *counts.entry(&found.word).or_default() += 1;
        }
        let num_passages = 1.0 + self.len / PIVOT;
        let score: f64 = counts
            .iter()
            .map(|(word, count)| {
                let total = f64::from(self.totals.get(word).copied().unwrap_or(1));
                let weight = (K1 + 1.0) * (1.0 + (num_passages + 0.5) / (total + 0.5)).ln();
                let norm = K1 * ((1.0 - B) + B * (float(passage.len()) / PIVOT));
                weight * f64::from(*count) / (f64::from(*count) + norm)
            })
            .sum();
        // Earlier passages are a little better.
        score * (1.0 + 1.0 / (PIVOT + float(start + passage.start)).ln())
    }
}

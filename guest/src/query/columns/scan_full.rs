//! The documents with a code within a range, where every document has one: a window of them at a time, as bits.

use std::ops::RangeInclusive;

use canter_aggregations::FullColumn;
use tantivy::query::Scorer;
use tantivy::{DocId, DocSet, Score, TERMINATED};

/// So many documents are looked at first, and after each leap.
const FIRST_STEP: u32 = 256;
/// The steps double until here: what a first cache holds, unpacked.
const MAX_STEP: u32 = 1 << 15;

/// The documents of a full column whose codes are within a range.
///
/// ```text
///   documents   0 ──────────┬── window ──────┬───────────────▶ num_docs
///               doc ≤ window└ a bit for each ┘ not looked at
/// ```
///
/// `doc` stands in the window. Searches without scores do not come here: they match by windows themselves.
pub(super) struct ScanFull {
    column: FullColumn,
    range: RangeInclusive<u64>,
    score: Score,
    doc: DocId,
    /// The window's first document, and the one behind its last.
    first: DocId,
    end: DocId,
    words: Vec<u64>,
    step: u32,
}

impl ScanFull {
    /// Stands on the first document.
    ///
    /// # Errors
    /// A column that has fewer rows than it says.
    pub(super) fn open(
        column: FullColumn,
        range: RangeInclusive<u64>,
        score: Score,
    ) -> std::io::Result<Self> {
        // Whatever is asked for later is a part of what is asked for here.
        column.code(column.num_docs().saturating_sub(1))?;
        let mut scan = Self {
            column,
            range,
            score,
            doc: 0,
            first: 0,
            end: 0,
            words: Vec::new(),
            step: FIRST_STEP,
        };
        scan.go_to(0);
        Ok(scan)
    }

    /// Moves the window to begin with a document.
    fn look_at(&mut self, first: DocId) {
        let end = first.saturating_add(self.step).min(self.column.num_docs());
        let selected = self.column.select(first..end, &self.range, &mut self.words);
        if selected.is_err() {
            // There are all documents of the column.
            self.words.clear();
        }
        (self.first, self.end) = (first, end);
        self.step = self.step.saturating_mul(2).min(MAX_STEP);
    }

    /// Before a leap to `target`: whether what follows is worth a large window.
    fn note_leap(&mut self, target: DocId) {
        if target > self.end.saturating_add(self.step) {
            self.step = FIRST_STEP;
        }
    }

    /// Goes to the first document from `target` on, by windows.
    fn go_to(&mut self, target: DocId) -> DocId {
        let mut from = target;
        while from < self.column.num_docs() {
            if from < self.first || from >= self.end {
                self.look_at(from);
            }
            if let Some(doc) = self.next_in_window(from) {
                self.doc = doc;
                return doc;
            }
            from = self.end;
        }
        self.doc = TERMINATED;
        TERMINATED
    }

    /// The first document of the window from one of its documents on.
    fn next_in_window(&self, from: DocId) -> Option<DocId> {
        let place = from.checked_sub(self.first)?;
        let ord = place / u64::BITS;
        let words = self.words.get(ord as usize..)?;
        let (first, rest) = words.split_first()?;
        let ahead = first & (u64::MAX << (place % u64::BITS));
        let base = self.first.saturating_add(ord.saturating_mul(u64::BITS));
        if ahead != 0 {
            return Some(base.saturating_add(ahead.trailing_zeros()));
        }
        let skipped = rest.iter().position(|word| *word != 0)?;
        let word = rest.get(skipped)?;
        let skipped = u32::try_from(skipped).ok()?.saturating_add(1);
        let base = base.saturating_add(skipped.saturating_mul(u64::BITS));
        Some(base.saturating_add(word.trailing_zeros()))
    }
}

impl DocSet for ScanFull {
    fn advance(&mut self) -> DocId {
        match self.doc {
            TERMINATED => TERMINATED,
            doc => self.go_to(doc.saturating_add(1)),
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target <= self.doc {
            return self.doc;
        }
        self.note_leap(target);
        self.go_to(target)
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        // How many match is not known before they are looked at.
        self.column.num_docs() / 10
    }

    fn cost(&self) -> u64 {
        // Nearly all documents are looked at, faster than postings are decoded.
        u64::from(self.column.num_docs()) / 2
    }
}

impl Scorer for ScanFull {
    fn score(&mut self) -> Score {
        self.score
    }
}

#[cfg(test)]
mod tests;

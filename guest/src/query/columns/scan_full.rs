//! Scan for documents with a code within a range, where every document has one: one window at a time, as bits.

use std::ops::RangeInclusive;

use canter_aggregations::FullColumn;
use tantivy::query::Scorer;
use tantivy::{DocId, DocSet, Score, TERMINATED};

/// Initial length of a window, in documents, also after each seek.
const FIRST_STEP: u32 = 256;
/// Maximum length of a window, which doubles up to it: its unpacked values fit into a first-level cache.
const MAX_STEP: u32 = 1 << 15;

/// Documents of a full column whose codes are within a range.
///
/// ```text
///   documents   0 ──────────┬── window ──────┬───────────────▶ num_docs
///               doc ≤ window└ a bit for each ┘ not looked at
/// ```
///
/// `doc` is in the window. Only searches with scores use this: others match by windows themselves.
pub(super) struct ScanFull {
    column: FullColumn,
    range: RangeInclusive<u64>,
    score: Score,
    doc: DocId,
    /// The window's first document, and the one after its last.
    first: DocId,
    end: DocId,
    words: Vec<u64>,
    step: u32,
}

impl ScanFull {
    /// Opens the scan on the first document.
    ///
    /// # Errors
    /// A column with fewer rows than it declares.
    pub(super) fn open(
        column: FullColumn,
        range: RangeInclusive<u64>,
        score: Score,
    ) -> std::io::Result<Self> {
        // All later accesses are within this one.
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
            // The range is within the column, so this cannot fail.
            self.words.clear();
        }
        (self.first, self.end) = (first, end);
        self.step = self.step.saturating_mul(2).min(MAX_STEP);
    }

    /// Decides before a seek to `target` whether the following documents merit a large window.
    fn note_leap(&mut self, target: DocId) {
        if target > self.end.saturating_add(self.step) {
            self.step = FIRST_STEP;
        }
    }

    /// Goes to the first match from `target` on, window by window.
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

    /// Returns the first match in the window from one of its documents on.
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
        // The number of matches is unknown before the documents are tested.
        self.column.num_docs() / 10
    }

    fn cost(&self) -> u64 {
        // The scan tests nearly all documents, faster than postings are decoded.
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

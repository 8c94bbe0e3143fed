//! The documents with a code within a range, where every document has one: a window of them at a time, as bits.

use std::ops::RangeInclusive;

use canter_aggregations::FullColumn;
use tantivy::query::Scorer;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, Score, SeekDangerResult, TERMINATED};

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
/// `doc` may stand before the window, or beyond it after a leap to a single document.
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

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if self.doc >= target && target < TERMINATED {
            return match self.doc == target {
                true => SeekDangerResult::Found,
                false => SeekDangerResult::SeekLowerBound(self.doc),
            };
        }
        if target >= self.column.num_docs() {
            self.doc = TERMINATED;
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        let is_far = target < self.first || target > self.end.saturating_add(FIRST_STEP);
        if is_far {
            // A single document, and the window stays where it is.
            let code = self.column.code(target);
            if !code.is_ok_and(|code| self.range.contains(&code)) {
                return SeekDangerResult::SeekLowerBound(target.saturating_add(1));
            }
            self.doc = target;
            self.step = FIRST_STEP;
            (self.first, self.end) = (target, target);
            return SeekDangerResult::Found;
        }
        if target >= self.end {
            self.look_at(target);
        }
        match self.next_in_window(target) {
            Some(doc) if doc == target => {
                self.doc = target;
                SeekDangerResult::Found
            }
            Some(doc) => SeekDangerResult::SeekLowerBound(doc),
            None => SeekDangerResult::SeekLowerBound(self.end.max(target.saturating_add(1))),
        }
    }

    fn fill_buffer(&mut self, buffer: &mut [DocId; COLLECT_BLOCK_BUFFER_LEN]) -> usize {
        let mut num_docs = 0;
        while num_docs < buffer.len() && self.doc != TERMINATED {
            let place = self.doc.saturating_sub(self.first);
            let is_inside = self.doc >= self.first && self.doc < self.end;
            let word = self.words.get((place / u64::BITS) as usize);
            let (Some(word), true) = (word, is_inside) else {
                if let Some(to) = buffer.get_mut(num_docs) {
                    *to = self.doc;
                    num_docs += 1;
                }
                self.advance();
                continue;
            };
            // The rest of the word that the document is in, as far as there is room.
            let base = self.doc.saturating_sub(place % u64::BITS);
            let mut ahead = word & (u64::MAX << (place % u64::BITS));
            for to in buffer.iter_mut().skip(num_docs) {
                if ahead == 0 {
                    break;
                }
                *to = base.saturating_add(ahead.trailing_zeros());
                ahead &= ahead.wrapping_sub(1);
                num_docs += 1;
            }
            match ahead {
                0 => self.go_to(base.saturating_add(u64::BITS)),
                _ => {
                    self.doc = base.saturating_add(ahead.trailing_zeros());
                    self.doc
                }
            };
        }
        num_docs
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

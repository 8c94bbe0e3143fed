//! Documents of one split that match a query without scores, one window after another.

use std::ops::Range;

use canter_matching::{Bits, Matcher, WINDOW_LEN};
use tantivy::DocId;

use crate::exchange::Interrupt;
use crate::query::BuiltQuery;
use crate::split::OpenSplit;

/// Iterator over matching documents, one window after another.
pub(in crate::leaf) struct Windows<'a> {
    matcher: Matcher,
    /// The documents to search that are not deleted, as ascending ranges.
    live: Vec<Range<DocId>>,
    /// Number of ranges that end before the next window.
    num_passed: usize,
    next: DocId,
    end: DocId,
    wanted: Bits,
    /// True if the ranges cover the whole window.
    is_whole: bool,
    interrupt: &'a Interrupt,
}

impl<'a> Windows<'a> {
    /// Opens everything that the query reads, which must be warmed up.
    ///
    /// # Errors
    /// A read that missed.
    pub(in crate::leaf) fn open(
        split: &OpenSplit,
        query: &BuiltQuery,
        docs: Range<DocId>,
        interrupt: &'a Interrupt,
    ) -> tantivy::Result<Self> {
        let matcher = split.compile(query.query.as_ref())?;
        Ok(Self::of(matcher, split, docs, interrupt))
    }

    /// Creates windows over an open matcher.
    pub(in crate::leaf) fn of(
        matcher: Matcher,
        split: &OpenSplit,
        docs: Range<DocId>,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            matcher,
            live: split.live_ranges(docs.clone()),
            num_passed: 0,
            next: docs.start / u64::BITS * u64::BITS,
            end: docs.end,
            wanted: Bits::default(),
            is_whole: false,
            interrupt,
        }
    }

    /// Moves to the next window and returns its first document; `None` after the last one that may have matches.
    ///
    /// # Errors
    /// Damage, or if the search is to stop.
    pub(in crate::leaf) fn next(&mut self, found: &mut Bits) -> tantivy::Result<Option<DocId>> {
        self.interrupt.check_tantivy()?;
        let Some(first) = self.matcher.next_window(self.next, self.end) else {
            return Ok(None);
        };
        let end = first.saturating_add(WINDOW_LEN);
        self.next = end;
        let left = self.live.get(self.num_passed..).unwrap_or_default();
        self.num_passed += left.iter().take_while(|docs| docs.end <= first).count();
        let left = self.live.get(self.num_passed..).unwrap_or_default();
        let is_whole = left
            .first()
            .is_some_and(|docs| docs.start <= first && end <= docs.end);
        if !(is_whole && self.is_whole) {
            self.wanted.clear();
            for docs in left.iter().take_while(|docs| docs.start < end) {
                let (from, to) = (docs.start.max(first), docs.end.min(end));
                self.wanted.insert_range(from - first..to - first);
            }
            self.is_whole = is_whole;
        }
        if self.wanted.is_empty() {
            found.clear();
            return Ok(Some(first));
        }
        self.matcher.find(first, &self.wanted, found)?;
        found.intersect(&self.wanted);
        Ok(Some(first))
    }
}

//! The best documents by sort keys.
//!
//! Where the first key is a column in which every document has a value, most documents are discarded by that
//! value alone, many at a time: once there are enough hits, only a value at least as good as the worst one's can
//! change anything.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

use canter_aggregations::FullColumn;
use canter_matching::{Bits, WINDOW_LEN, list};
use tantivy::{DocId, Score};

use super::kept::{Candidate, Kept, More, turned};
use super::sort_key::{KeyReader, Rank};
use crate::exchange::Interrupt;
use crate::leaf::partial::{HitPlace, PartialHit};
use crate::request::{SortKeySpec, SortOrder, SortTarget, SortValue};

/// Number of documents that are compared together: the better the hits already are, the fewer of these are kept.
const AT_ONCE: u32 = 4096;

/// From this number of documents of a window on, comparing all values of the window is faster.
const MANY: u32 = WINDOW_LEN / 16;

/// The best documents by sort keys.
pub(in crate::leaf) struct BestByKeys {
    keys: Vec<(KeyReader, SortKeySpec)>,
    ties: SortOrder,
    /// Only documents after these values are kept, if there are any.
    after: Vec<SortValue>,
    /// Id of the split and name of its index, where hits end with the place in the split.
    split: Option<(String, String)>,
    /// Reader of the value by which hits are collapsed.
    group: Option<KeyReader>,
    kept: Kept,
    /// Documents that wait until a batch is full.
    waiting: Vec<DocId>,
    /// Waiting documents with their scores.
    scored: Vec<(DocId, Score)>,
}

/// Sort key that tells the groups of collapsed hits apart.
const GROUPS: SortKeySpec = SortKeySpec::new(SortTarget::Doc, SortOrder::Ascending);

/// Rounds a score to 12 significant bits. Its last bits depend on the order in which a scorer adds
/// up its clauses, which differs between splits; hits must not change places for that. Those of the nearest
/// vectors lie closer together: a precise score has 20 bits.
pub(in crate::leaf) fn rounded(score: Score, is_precise: bool) -> Score {
    let dropped_bits = if is_precise { 4 } else { 12 };
    let half = 1 << (dropped_bits - 1);
    Score::from_bits(score.to_bits().saturating_add(half) >> dropped_bits << dropped_bits)
}

impl BestByKeys {
    /// `window` is at least 1. Without keys, documents are ordered by place.
    pub(in crate::leaf) fn new(
        window: usize,
        keys: Vec<(KeyReader, SortKeySpec)>,
        ties: SortOrder,
        after: Vec<SortValue>,
        group: Option<KeyReader>,
    ) -> Self {
        Self {
            kept: Kept::new(window, keys.len() > 1, group.is_some()),
            keys,
            ties,
            after,
            split: None,
            group,
            waiting: Vec::new(),
            scored: Vec::new(),
        }
    }

    /// Sets the id of the split and the name of the index that hits end with, if given.
    pub(in crate::leaf) fn placed_by(self, split: Option<(String, String)>) -> Self {
        Self { split, ..self }
    }

    /// Takes documents after all previous ones, with their scores, which are rounded.
    ///
    /// # Errors
    /// A dictionary that cannot be read.
    pub(in crate::leaf) fn collect_scored(
        &mut self,
        scored: &[(DocId, Score)],
    ) -> tantivy::Result<()> {
        self.scored.extend_from_slice(scored);
        match self.scored.len() >= AT_ONCE as usize {
            true => self.flush_scored(),
            false => Ok(()),
        }
    }

    /// Takes one document.
    #[inline(always)]
    fn collect(&mut self, doc: DocId, score: Score) -> tantivy::Result<()> {
        let first = match self.keys.first() {
            Some((key, spec)) => key.rank(doc, score, spec),
            // The place alone decides.
            None => Rank::default(),
        };
        let candidate = Candidate::new(first, turned(doc, self.ties), score);
        match self.kept.leaves_out(&candidate) {
            true => Ok(()),
            false => self.keep(doc, candidate),
        }
    }

    /// Takes a document that may be among the best.
    #[inline(never)]
    fn keep(&mut self, doc: DocId, candidate: Candidate) -> tantivy::Result<()> {
        let score = candidate.score();
        if !self.is_wanted(doc, score)? {
            return Ok(());
        }
        let mut more = More::default();
        let others = self.keys.iter().skip(1);
        for (rank, (key, spec)) in more.ranks.iter_mut().zip(others) {
            *rank = key.rank(doc, score, spec);
        }
        let group = self.group.as_ref();
        more.group = group.map(|group| group.rank(doc, score, &GROUPS));
        self.kept.push(candidate, more);
        Ok(())
    }

    /// Returns whether a document comes after the hits of the previous pages.
    fn is_wanted(&self, doc: DocId, score: Score) -> tantivy::Result<bool> {
        for ((key, spec), after) in self.keys.iter().zip(&self.after) {
            let value = key.value(doc, score, spec)?;
            match value.compare(&after.as_kind_of(&value), spec) {
                Ordering::Less => return Ok(false),
                Ordering::Greater => return Ok(true),
                Ordering::Equal => {}
            }
        }
        let by_place = self.split.as_ref().zip(self.after.get(self.keys.len()));
        Ok(match by_place {
            Some(((split_id, index), SortValue::Text(after))) => {
                let place = place_in(split_id, doc, index);
                self.ties.of(place.cmp(after)) == Ordering::Greater
            }
            _ => self.after.is_empty(),
        })
    }

    /// Takes documents in ascending order.
    ///
    /// # Errors
    /// A damaged column.
    pub(in crate::leaf) fn collect_list(&mut self, docs: &[DocId]) -> tantivy::Result<()> {
        self.waiting.extend_from_slice(docs);
        if self.waiting.len() >= AT_ONCE as usize {
            return self.flush();
        }
        Ok(())
    }

    /// Takes the documents of a window after all previous ones.
    ///
    /// # Errors
    /// A damaged column.
    pub(in crate::leaf) fn collect_window(
        &mut self,
        first: DocId,
        found: &Bits,
    ) -> tantivy::Result<()> {
        let num_docs = found.count();
        if num_docs < MANY {
            let mut docs = Vec::new();
            found.list(first, &mut docs);
            return self.collect_list(&docs);
        }
        self.flush()?;
        let end = first.saturating_add(WINDOW_LEN);
        let Some((column, wanted)) = self.wanted(&(first..end)) else {
            return self.collect_selected(first, found.words());
        };
        if !overlaps(&wanted, &column.bounds()) {
            return Ok(());
        }
        let (docs, mut words) = (first..end.min(column.num_docs()), Vec::new());
        column.select(docs, &wanted, &mut words)?;
        for (word, found) in words.iter_mut().zip(found.words()) {
            *word &= found;
        }
        self.collect_selected(first, &words)?;
        Ok(())
    }

    /// Takes a range of documents after all previous ones.
    ///
    /// # Errors
    /// A damaged column, or if it is time to stop.
    pub(in crate::leaf) fn collect_range(
        &mut self,
        docs: Range<DocId>,
        interrupt: &Interrupt,
    ) -> tantivy::Result<()> {
        self.flush()?;
        let mut left = docs;
        let mut words = Vec::new();
        while !left.is_empty() {
            interrupt.check_tantivy()?;
            // The documents that win ties go first.
            let len = AT_ONCE.min(left.end - left.start);
            let now = match self.ties {
                SortOrder::Ascending => left.start..left.start + len,
                SortOrder::Descending => left.end - len..left.end,
            };
            left = match self.ties {
                SortOrder::Ascending => now.end..left.end,
                SortOrder::Descending => left.start..now.start,
            };
            let Some((column, wanted)) = self.wanted(&now) else {
                self.collect_each(now)?;
                continue;
            };
            if !overlaps(&wanted, &column.bounds()) {
                continue;
            }
            column.select(now.clone(), &wanted, &mut words)?;
            self.collect_selected(now.start, &words)?;
        }
        Ok(())
    }

    /// Returns the hits, best first. The caller fills in their places.
    ///
    /// # Errors
    /// A damaged column, or a dictionary that cannot be read.
    pub(in crate::leaf) fn into_hits(mut self, split_ord: u32) -> tantivy::Result<Vec<PartialHit>> {
        self.flush()?;
        self.flush_scored()?;
        let Self {
            keys,
            ties,
            group,
            split,
            kept,
            ..
        } = self;
        let hit = |candidate: Candidate| {
            let doc = turned(candidate.place, ties);
            let score = candidate.score();
            let mut values = keys
                .iter()
                .map(|(key, spec)| key.value(doc, score, spec))
                .collect::<tantivy::Result<Vec<_>>>()?;
            let place = split.as_ref();
            let place = place.map(|(id, index)| place_in(id, doc, index));
            values.extend(place.map(SortValue::Text));
            if let Some(group) = &group {
                values.push(group.value(doc, score, &GROUPS)?);
            }
            Ok(PartialHit {
                split_ord,
                doc,
                keys: values,
                place: HitPlace::default(),
                names: 0,
            })
        };
        kept.into_best().into_iter().map(hit).collect()
    }

    /// Takes the waiting documents.
    fn flush(&mut self) -> tantivy::Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let (Some(first), Some(last)) = (waiting.first(), waiting.last()) else {
            return Ok(());
        };
        let range = *first..last.saturating_add(1);
        match self.wanted(&range) {
            None => self.collect_each(waiting.drain(..))?,
            Some((column, wanted)) if overlaps(&wanted, &column.bounds()) => {
                let mut codes = Vec::new();
                column.codes(&waiting, &mut codes)?;
                let found = waiting.iter().zip(codes);
                let found = found.filter(|(_, code)| wanted.contains(code));
                let found: Vec<DocId> = found.map(|(doc, _)| *doc).collect();
                self.collect_each(found.into_iter())?;
            }
            Some(_) => {}
        }
        // The allocation is reused.
        waiting.clear();
        self.waiting = waiting;
        Ok(())
    }

    /// Takes the waiting documents with scores. Scores are often equal: taken in another order, each document would go
    /// before the worst.
    fn flush_scored(&mut self) -> tantivy::Result<()> {
        let mut scored = std::mem::take(&mut self.scored);
        if self.ties == SortOrder::Descending {
            scored.reverse();
        }
        for (doc, score) in scored.drain(..) {
            self.collect(doc, score)?;
        }
        self.scored = scored;
        Ok(())
    }

    /// Returns the column of the first key and the range of its codes that may change the hits, for documents of a
    /// range; `None` if all may.
    fn wanted(&mut self, docs: &Range<DocId>) -> Option<(&FullColumn, RangeInclusive<u64>)> {
        self.kept.tighten();
        let (key, SortKeySpec { order, .. }) = self.keys.first()?;
        let column = key.full()?;
        let worst = self.kept.worst()?;
        let worst_doc = turned(worst.place, self.ties);
        let (rank, code) = (worst.first.value(), |rank: u64| match order {
            SortOrder::Ascending => rank,
            SortOrder::Descending => !rank,
        });
        // For equal values, the next key or the place decides.
        let goes_before = match self.ties {
            SortOrder::Ascending => docs.start < worst_doc,
            SortOrder::Descending => docs.end > worst_doc.saturating_add(1),
        };
        let rank = match self.keys.len() > 1 || goes_before {
            true => Some(rank),
            false => rank.checked_sub(1),
        };
        // A range that ends before it begins holds nothing.
        let wanted = match (rank, order) {
            (None, _) => RangeInclusive::new(u64::MAX, 0),
            (Some(rank), SortOrder::Ascending) => 0..=code(rank),
            (Some(rank), SortOrder::Descending) => code(rank)..=u64::MAX,
        };
        Some((column, wanted))
    }

    /// Takes ascending documents, those that win ties first.
    fn collect_each(
        &mut self,
        mut docs: impl DoubleEndedIterator<Item = DocId>,
    ) -> tantivy::Result<()> {
        match self.ties {
            SortOrder::Ascending => docs.try_for_each(|doc| self.collect(doc, 0.0)),
            SortOrder::Descending => docs.rev().try_for_each(|doc| self.collect(doc, 0.0)),
        }
    }

    /// Takes, as [`Self::collect_each`] does, the documents whose bits are set, counted from `first`.
    fn collect_selected(&mut self, first: DocId, words: &[u64]) -> tantivy::Result<()> {
        let mut docs = Vec::new();
        list(words, first, &mut docs);
        self.collect_each(docs.into_iter())
    }
}

/// Returns the position of a document as a text that sorts like it. Two indexes of the same documents have splits with
/// the same id.
pub(crate) fn place_in(split_id: &str, doc: DocId, index: &str) -> String {
    format!("{split_id}{doc:08x}{index}")
}

fn overlaps(a: &RangeInclusive<u64>, b: &RangeInclusive<u64>) -> bool {
    !a.is_empty() && a.start() <= b.end() && b.start() <= a.end()
}

//! The best hits so far, unordered.
//!
//! A heap would keep the worst hit at hand and be reordered for each new one; here the worse half is dropped at once
//! when the buffer is full. Moves and comparisons are cheap: nearly always the first key and the place decide, so
//! further keys are stored separately.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use tantivy::{DocId, Score};

use super::sort_key::Rank;
use crate::request::{MAX_SORT_KEYS, SortOrder};

/// Minimum number of hits that are kept beyond the wanted ones before the worst are dropped.
const MIN_ROOM: usize = 64;

/// A document that may be among the hits.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// Rank by the first key.
    pub(super) first: Rank,
    /// Decides between documents with equal values.
    pub(super) place: u32,
    score_bits: u32,
    /// Index into `Kept::more`, if candidates have further values.
    more: u32,
}

impl Candidate {
    pub(super) fn new(first: Rank, place: u32, score: Score) -> Self {
        Self {
            first,
            place,
            score_bits: score.to_bits(),
            more: 0,
        }
    }

    pub(super) fn score(&self) -> Score {
        Score::from_bits(self.score_bits)
    }
}

/// Further values of a candidate, which few searches have.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct More {
    /// Ranks by the other keys.
    pub(super) ranks: [Rank; MAX_SORT_KEYS - 1],
    /// Group of the candidate: the best of each group is kept.
    pub(super) group: Option<Rank>,
}

/// The best hits so far.
pub(super) struct Kept {
    window: usize,
    /// True if candidates have more than a first key.
    has_more: bool,
    /// True if only the best candidate of each group is kept.
    has_groups: bool,
    /// The best, and others that came before better ones.
    candidates: Vec<Candidate>,
    more: Vec<More>,
    /// Candidates that do not go before this one are discarded; `None` before there are enough.
    worst: Option<Candidate>,
}

impl Kept {
    /// `window` is the number of wanted hits, at least 1.
    pub(super) fn new(window: usize, has_more_keys: bool, has_groups: bool) -> Self {
        Self {
            window,
            has_more: has_more_keys || has_groups,
            has_groups,
            candidates: Vec::new(),
            more: Vec::new(),
            worst: None,
        }
    }

    /// Returns the candidate that better ones must go before, if there is one.
    pub(super) fn worst(&self) -> Option<&Candidate> {
        self.worst.as_ref()
    }

    /// Returns whether the first key, or the place if nothing comes between them, rules a document out; for large
    /// inputs it rules out nearly all.
    #[inline(always)]
    pub(super) fn leaves_out(&self, candidate: &Candidate) -> bool {
        self.worst
            .as_ref()
            .is_some_and(|worst| match candidate.first.cmp(&worst.first) {
                Ordering::Less => false,
                Ordering::Equal => !self.has_more && candidate.place >= worst.place,
                Ordering::Greater => true,
            })
    }

    /// Takes a candidate with its further values.
    #[inline(never)]
    pub(super) fn push(&mut self, mut candidate: Candidate, more: More) {
        if self.has_more {
            candidate.more = u32::try_from(self.more.len()).unwrap_or(u32::MAX);
            self.more.push(more);
        }
        let goes_behind = |worst: &Candidate| order(&self.more, &candidate, worst).is_ge();
        if self.worst.as_ref().is_some_and(goes_behind) {
            if self.has_more {
                self.more.pop();
            }
            return;
        }
        self.candidates.push(candidate);
        let room = match self.worst {
            None if !self.has_groups => 0,
            _ => self.window.max(MIN_ROOM),
        };
        if self.candidates.len() >= self.window.saturating_add(room) {
            self.drop_worst();
        }
    }

    /// Drops the worst candidates if there are many. Fewer new ones are admitted then, but finding the worst has a
    /// cost.
    pub(super) fn tighten(&mut self) {
        if self.candidates.len() > self.window.saturating_add(self.window / 4) {
            self.drop_worst();
        }
    }

    /// Drops all but the best candidates.
    fn drop_worst(&mut self) {
        if self.has_groups {
            return self.drop_repeated();
        }
        let last = self.window.saturating_sub(1);
        if self.candidates.len() > last {
            let more = self.more.as_slice();
            self.candidates
                .select_nth_unstable_by(last, |left, right| order(more, left, right));
            self.candidates.truncate(self.window);
            self.drop_more();
            self.worst = self.candidates.last().copied();
        }
    }

    /// Drops all but the best candidates, and all but the best of each group.
    fn drop_repeated(&mut self) {
        self.sort();
        let mut seen = BTreeSet::new();
        let more = self.more.as_slice();
        self.candidates.retain(|candidate| {
            let group = more_of(more, candidate).group;
            group.is_none_or(|group| seen.insert(group.as_key()))
        });
        self.candidates.truncate(self.window);
        self.drop_more();
        self.worst = match self.candidates.len() < self.window {
            true => None,
            false => self.candidates.last().copied(),
        };
    }

    /// Drops the further values of dropped candidates.
    fn drop_more(&mut self) {
        if !self.has_more {
            return;
        }
        let more = std::mem::take(&mut self.more);
        for candidate in &mut self.candidates {
            let place = u32::try_from(self.more.len()).unwrap_or(u32::MAX);
            self.more.push(more_of(&more, candidate));
            candidate.more = place;
        }
    }

    fn sort(&mut self) {
        let more = self.more.as_slice();
        canter_sorting::sort_by(&mut self.candidates, |left, right| order(more, left, right));
    }

    /// Returns the hits, best first.
    pub(super) fn into_best(mut self) -> Vec<Candidate> {
        if self.has_groups {
            self.drop_repeated();
        }
        self.sort();
        self.candidates.truncate(self.window);
        self.candidates
    }
}

/// Orders two candidates: by the first key, then by the others, then by place.
#[inline(always)]
fn order(more: &[More], left: &Candidate, right: &Candidate) -> Ordering {
    match left.first.cmp(&right.first) {
        Ordering::Equal if more.is_empty() => left.place.cmp(&right.place),
        Ordering::Equal => order_by_more(more, left, right),
        different => different,
    }
}

#[inline(never)]
fn order_by_more(more: &[More], left: &Candidate, right: &Candidate) -> Ordering {
    let ranks = |candidate| more_of(more, candidate).ranks;
    let order = ranks(left).cmp(&ranks(right));
    order.then(left.place.cmp(&right.place))
}

fn more_of(more: &[More], candidate: &Candidate) -> More {
    more.get(candidate.more as usize)
        .copied()
        .unwrap_or_default()
}

/// Returns the tie-breaking place of a document: the document id or, in descending order, its complement. Applied to a
/// place it returns the document id.
#[inline(always)]
pub(super) fn turned(doc: DocId, ties: SortOrder) -> u32 {
    match ties {
        SortOrder::Ascending => doc,
        SortOrder::Descending => !doc,
    }
}

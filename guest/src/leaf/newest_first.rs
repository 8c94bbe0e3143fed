//! Search in time order: skips splits once other splits hold the first hits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures_util::future::join_all;

use super::batch::next_batch;
use super::cached::SplitAnswer;
use super::candidate::{Candidate, may_beat, search_rank};
use super::hits::HitOrder;
use super::leaf_search::{LeafSearch, Work};
use crate::SearchError;
use crate::query::QueryShape;
use crate::request::SortOrder;
use crate::split::{HeadSource, OpenSplit, guarded};

/// Number of documents in the splits of the first round: for most queries they hold the hits of a page.
const FIRST_DOCS: u64 = 100_000;
/// Maximum number of splits in the first round.
const FIRST_SPLITS: usize = 8;
/// Growth of the next round, in documents, while no hit is found.
const GROWTH: u64 = 8;
/// Safety factor of the next round: hits are not evenly distributed, so it covers this many times the documents that
/// should hold the missing hits.
const MARGIN: u64 = 2;

/// Progress of a search that need not count all hits.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Hits that can be shown.
    num_shown: u64,
    /// Hits that were counted.
    num_hits: u64,
    /// The time of the last hit that can be shown, or the start of its time bucket.
    worst_time: Option<i64>,
}

/// Splits that are not open, each with its place in the plan.
type Splits<'s> = Vec<&'s (u32, HeadSource)>;

/// Rounds of a search that stops when it has found and counted enough: splits with the best hits come first, and each
/// split is opened in its round.
pub(super) struct Rounds<'s> {
    waiting: VecDeque<&'s (u32, HeadSource)>,
    direction: SortOrder,
    /// Number of hits to show.
    window: u64,
    /// Number of hits to count.
    enough_hits: u64,
    /// Number of documents in the previous rounds.
    docs_before: u64,
}

impl<'s> Rounds<'s> {
    fn new(
        splits: &[&'s (u32, HeadSource)],
        direction: SortOrder,
        window: u64,
        enough_hits: u64,
    ) -> Self {
        let mut waiting: Vec<&(u32, HeadSource)> = splits.to_vec();
        canter_sorting::sort_by_key(&mut waiting, |(split_ord, source)| {
            search_rank(source.entry.time_range, *split_ord, direction)
        });
        Self {
            waiting: waiting.into(),
            direction,
            window,
            enough_hits,
            docs_before: 0,
        }
    }

    /// Divides the splits into the first round and the rest.
    pub(super) fn divide(mut self) -> (Splits<'s>, Splits<'s>) {
        let first = self.next(Progress::default());
        (first, self.waiting.into())
    }

    /// Returns the splits of the next round; none if the hits are certain.
    fn next(&mut self, so_far: Progress) -> Vec<&'s (u32, HeadSource)> {
        let missing = (self.window.saturating_sub(so_far.num_shown))
            .max(self.enough_hits.saturating_sub(so_far.num_hits));
        if missing == 0 {
            let direction = self.direction;
            let waiting = std::mem::take(&mut self.waiting).into_iter();
            let (round, waiting): (Vec<_>, Vec<_>) = waiting.partition(|(_, source)| {
                may_beat(source.entry.time_range, so_far.worst_time, direction)
            });
            self.waiting = waiting.into();
            return round;
        }
        let is_first = self.docs_before == 0;
        let docs_wanted = match so_far.num_hits {
            _ if is_first => FIRST_DOCS,
            0 => self.docs_before.saturating_mul(GROWTH),
            num_hits => {
                let docs_per_hit = self.docs_before.div_ceil(num_hits);
                docs_per_hit.saturating_mul(missing).saturating_mul(MARGIN)
            }
        };
        let most_splits = match is_first {
            true => FIRST_SPLITS,
            false => usize::MAX,
        };
        let mut round = Vec::new();
        let mut num_docs = 0u64;
        while num_docs < docs_wanted && round.len() < most_splits {
            let Some(split) = self.waiting.pop_front() else {
                break;
            };
            num_docs = num_docs.saturating_add(split.1.entry.num_docs.max(1));
            round.push(split);
        }
        self.docs_before = self.docs_before.saturating_add(num_docs);
        round
    }
}

impl<'a> LeafSearch<'a> {
    /// Returns the rounds in which these splits are searched, if some may not be needed.
    pub(super) fn rounds<'s>(&self, splits: &[&'s (u32, HeadSource)]) -> Option<Rounds<'s>> {
        let enough_hits = self.enough_hits()?;
        if self.matches_all() {
            // Their number is known without a read.
            return None;
        }
        match self.planned_order() {
            HitOrder::Time(direction) => {
                let window = self.window as u64;
                Some(Rounds::new(splits, direction, window, enough_hits))
            }
            HitOrder::Place(_) | HitOrder::Keys { .. } | HitOrder::Stored => None,
        }
    }

    /// Searches splits round by round until the hits are certain and enough of them are counted.
    pub(super) async fn search_until_enough(
        &mut self,
        mut rounds: Rounds<'a>,
        opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    ) -> Result<(), SearchError> {
        loop {
            let so_far = Progress {
                num_shown: self.result.hits.len() as u64,
                num_hits: self.result.num_hits,
                worst_time: self.worst_time(),
            };
            let round = rounds.next(so_far);
            if round.is_empty() {
                break;
            }
            self.search_splits(&round, opened).await?;
        }
        self.result.num_splits_not_needed += rounds.waiting.len() as u64;
        Ok(())
    }

    /// Returns whether every split can count its hits before its documents are read, and
    /// aggregations need none of the documents.
    pub(super) fn countable(&self, candidates: &[Candidate]) -> bool {
        let is_listing = self.leaf.question.list_documents;
        !is_listing
            && candidates.iter().all(|candidate| {
                (self.leaf.question.aggregations.is_none() || candidate.whole.is_some())
                    && match candidate.built.shape {
                        QueryShape::All | QueryShape::Nothing => true,
                        QueryShape::Term(_) => candidate.covers_all_docs(),
                        QueryShape::Other => false,
                    }
            })
    }

    /// Counts all splits, then searches from the newest (or oldest) until no other split can hold a
    /// better hit: most splits are never read.
    pub(super) async fn run_until_sure(
        &mut self,
        candidates: &[Candidate],
        direction: SortOrder,
    ) -> Result<(), SearchError> {
        let mut waiting = self.count_all(candidates, direction).await;
        let mut answered: Vec<(&Candidate, u64)> = Vec::new();
        loop {
            let found = self.result.hits.len();
            let batch;
            (batch, waiting) =
                next_batch(waiting, self.window, found, self.worst_time(), direction);
            if batch.is_empty() {
                break;
            }
            let work = Work {
                window: self.window,
                has_aggregations: false,
                statistics: None,
            };
            let searches = batch.iter().map(|(candidate, _)| {
                guarded(&candidate.split.entry.id, self.search(candidate, work))
            });
            let mut results = join_all(searches).await;
            let candidates: Vec<&Candidate> =
                batch.iter().map(|(candidate, _)| *candidate).collect();
            self.finish_batch(&candidates, &mut results).await;
            for ((candidate, count), result) in batch.into_iter().zip(results) {
                match result {
                    Ok(result) => {
                        self.result.num_splits_searched += 1;
                        self.merge_hits(result.hits, &candidate.order);
                        answered.push((candidate, count));
                    }
                    Err(error) => self.fail(candidate, error),
                }
            }
        }
        self.result.num_splits_from_head += waiting.len() as u64;
        answered.append(&mut waiting);
        for (candidate, num_hits) in answered {
            let aggregations = candidate.whole.clone();
            self.add_found(
                candidate,
                SplitAnswer {
                    num_hits,
                    aggregations,
                },
            );
        }
        Ok(())
    }

    /// Counts splits; returns them with their numbers of hits, best possible hit first. A split
    /// that cannot be counted has failed.
    pub(super) async fn count_all<'c>(
        &mut self,
        candidates: &'c [Candidate],
        direction: SortOrder,
    ) -> Vec<(&'c Candidate, u64)> {
        let counts = candidates.iter();
        let counts = counts.map(|one| guarded(&one.split.entry.id, one.count()));
        let counts = join_all(counts).await;
        let mut counted = Vec::new();
        for (candidate, count) in candidates.iter().zip(counts) {
            match count {
                Ok(count) => counted.push((candidate, count)),
                Err(error) => self.fail(candidate, error),
            }
        }
        canter_sorting::sort_by_key(&mut counted, |(candidate, _)| {
            candidate.search_rank(direction)
        });
        counted
    }

    /// Searches one split after another until the page is full and enough hits are counted.
    pub(super) async fn search_in_order(
        &mut self,
        splits: &[&'a (u32, HeadSource)],
        opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    ) -> Result<(), SearchError> {
        /// Maximum number of splits that are searched together.
        const MOST_AT_ONCE: usize = 8;
        let mut waiting = splits.iter().copied();
        let mut at_once = 1;
        loop {
            let round: Vec<&(u32, HeadSource)> = waiting.by_ref().take(at_once).collect();
            if round.is_empty() {
                return Ok(());
            }
            self.search_splits(&round, opened).await?;
            let window = self.window;
            if window > 0 && self.result.hits.len() >= window {
                match self.enough_hits() {
                    Some(enough) if self.result.num_hits >= enough => {
                        self.result.num_splits_not_needed += waiting.count() as u64;
                        return Ok(());
                    }
                    Some(_) => {}
                    None => return self.count_rest(waiting).await,
                }
            }
            at_once = (at_once * 2).min(MOST_AT_ONCE);
        }
    }

    /// Counts, and aggregates, splits whose hits are not shown: all together, without hits.
    async fn count_rest(
        &mut self,
        splits: impl Iterator<Item = &'a (u32, HeadSource)>,
    ) -> Result<(), SearchError> {
        let is_known = self.matches_all()
            && self.leaf.resolved.time.is_open()
            && self.leaf.question.aggregations.is_none();
        let mut unknown = Vec::new();
        for split in splits {
            match is_known {
                true => {
                    self.result.num_hits += split.1.entry.num_live_docs();
                    self.result.num_splits_from_head += 1;
                }
                false => unknown.push(split),
            }
        }
        // The hits so far stay, and so do the open splits that hold them.
        let hits = std::mem::take(&mut self.result.hits);
        let window = std::mem::take(&mut self.window);
        let counted = self.search_splits(&unknown, &mut BTreeMap::new()).await;
        self.result.hits = hits;
        self.window = window;
        counted
    }

    /// Returns the time of the last hit so far, or the start of its time bucket.
    fn worst_time(&self) -> Option<i64> {
        Some(self.result.hits.last()?.place.time_ns)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a split with this time range.
    fn split(ord: u32, start_ns: i64, end_ns: i64, num_docs: u64) -> (u32, HeadSource) {
        let entry = serde_json::from_value(json!({
            "id": format!("{ord:032x}"),
            "len": 1000,
            "head_len": 100,
            "head_checksum": "0000000000000005",
            "num_docs": num_docs,
            "raw_num_bytes": 3000,
            "time_range": {"start_ns": start_ns, "end_ns": end_ns},
        }))
        .unwrap();
        let source = HeadSource {
            index: 0,
            entry,
            inlined: None,
            packed: None,
        };
        (ord, source)
    }

    /// Returns the places of the splits of the next round, given the progress so far.
    fn next(rounds: &mut Rounds<'_>, num_shown: u64, num_hits: u64, worst: i64) -> Vec<u32> {
        let so_far = Progress {
            num_shown,
            num_hits,
            worst_time: (num_shown > 0).then_some(worst),
        };
        rounds.next(so_far).iter().map(|(ord, _)| *ord).collect()
    }

    #[test]
    fn a_round_takes_the_newest_splits_that_should_be_enough() {
        let splits: Vec<_> = (0..40)
            .map(|ord| split(ord, i64::from(ord) * 10, i64::from(ord) * 10 + 9, 60_000))
            .collect();
        let splits: Vec<&(u32, HeadSource)> = splits.iter().collect();
        let rounds = |window, enough| Rounds::new(&splits, SortOrder::Descending, window, enough);

        // Enough in the first round.
        let mut newest = rounds(10, 0);
        assert_eq!(next(&mut newest, 0, 0, 0), [39, 38]);
        assert_eq!(next(&mut newest, 10, 17, 392), [0; 0]);

        // The time of the last hit lies in a split that was left out.
        let mut overlapping = rounds(10, 0);
        assert_eq!(next(&mut overlapping, 0, 0, 0), [39, 38]);
        assert_eq!(next(&mut overlapping, 10, 17, 379), [37]);
        assert_eq!(next(&mut overlapping, 10, 18, 379), [0; 0]);

        // Four of ten hits in 120,000 documents: the others should be in 180,000 more.
        let mut few = rounds(10, 0);
        assert_eq!(next(&mut few, 0, 0, 0).len(), 2);
        assert_eq!(next(&mut few, 4, 4, 385), [37, 36, 35, 34, 33, 32]);

        // None yet: the next round is far larger.
        let mut none = rounds(10, 0);
        assert_eq!(next(&mut none, 0, 0, 0).len(), 2);
        assert_eq!(next(&mut none, 0, 0, 0).len(), 16);
        assert_eq!(next(&mut none, 0, 0, 0).len(), 22);
        assert_eq!(next(&mut none, 0, 0, 0), [0; 0]);

        // More hits are counted than shown.
        let mut counting = rounds(10, 100);
        assert_eq!(next(&mut counting, 0, 0, 0).len(), 2);
        assert_eq!(next(&mut counting, 10, 50, 392).len(), 4);
        assert_eq!(next(&mut counting, 10, 140, 392), [0; 0]);

        let mut oldest = Rounds::new(&splits, SortOrder::Ascending, 10, 0);
        assert_eq!(next(&mut oldest, 0, 0, 0), [0, 1]);
        assert_eq!(next(&mut oldest, 10, 10, 20), [2]);
    }

    #[test]
    fn small_splits_do_not_all_come_at_once() {
        let splits: Vec<_> = (0..100)
            .map(|ord| split(ord, i64::from(ord), i64::from(ord), 100))
            .collect();
        let splits: Vec<&(u32, HeadSource)> = splits.iter().collect();
        let mut rounds = Rounds::new(&splits, SortOrder::Descending, 10, 0);
        assert_eq!(next(&mut rounds, 0, 0, 0).len(), FIRST_SPLITS);
        assert_eq!(next(&mut rounds, 0, 0, 0).len(), 64);
        assert_eq!(next(&mut rounds, 0, 0, 0).len(), 28);
    }
}

//! Search of the splits of one leaf.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use canter_aggregations::{Aggregations, Merger};
use futures_util::future::join_all;
use serde_json::Value;

use super::batch::{batches_by_size, groups_to_open};
use super::cached::{SplitAnswer, look_up_splits};
use super::candidate::Candidate;
use super::hits::{Elsewhere, HitOrder, settle_places};
use super::partial::{
    FailedSplit, PartialHit, PartialResult, check_listed, collapse, compare_hits,
};
use super::reads::{SPLITS_AT_ONCE, ScanBudget, Scanner, rerun_on_gaps, warm_up};
use super::split::search::{SplitResult, SplitTask};
use super::split::statistics::Statistics;
use crate::exchange::Exchange;
use crate::exchange::Interrupt;
use crate::query::{BuiltQuery, QueryNode};
use crate::request::{AskedAggregations, Question, Resolved, SortOrder, SortTarget};
use crate::split::partial_cache::{SplitKeys, store};
use crate::split::{HeadSource, Indexes, OpenSplit, SearchedIndex, guard, guarded};
use crate::{ErrorKind, SearchError};
use canter_split_format::{DeletedDocs, IdentityRange, ListedSplit, TimeRange};

/// A leaf's part of a search.
pub(crate) struct Leaf<'a> {
    pub(crate) question: &'a Question,
    pub(crate) resolved: &'a Resolved,
    /// Splits with their place among all splits of the plan, oldest first.
    pub(crate) splits: Vec<(u32, HeadSource)>,
    /// Time ranges of all splits of the plan, by place.
    pub(crate) time_ranges: Vec<Option<TimeRange>>,
    /// The indexes of the splits.
    pub(crate) indexes: Vec<SearchedIndex>,
}

impl Leaf<'_> {
    /// Returns the order of hits in splits or an index with this timestamp field.
    pub(super) fn order(&self, timestamp_field: Option<&str>) -> HitOrder {
        HitOrder::of(self.question, self.resolved.mixes_times, timestamp_field)
    }

    /// Returns the aggregations, if there are any.
    pub(super) fn aggregations(&self) -> Option<&Aggregations> {
        let asked = self.question.aggregations.as_ref();
        asked.map(AskedAggregations::parsed)
    }

    /// Returns whether the oldest splits are wanted first.
    fn is_ascending(&self) -> bool {
        let first = self.question.sort.first();
        first.is_some_and(|key| key.order == SortOrder::Ascending)
    }
}

/// Searches a leaf's splits. A split that fails is named in the result; the others still answer.
///
/// # Errors
/// If the request itself is wrong.
pub(crate) async fn search_leaf(
    leaf: Leaf<'_>,
    exchange: &Exchange,
    opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
) -> Result<PartialResult, SearchError> {
    let mut search = LeafSearch::new(&leaf, exchange)?;
    let splits = search.uncached().await;
    if leaf.question.scroll.is_some() {
        search.search_in_order(&splits, opened).await?;
        search.result.aggregations = std::mem::take(&mut search.aggregations).finish();
        return Ok(search.result);
    }
    match search.rounds(&splits) {
        Some(rounds) => search.search_until_enough(rounds, opened).await?,
        None => search.search_splits(&splits, opened).await?,
    }
    search.result.aggregations = std::mem::take(&mut search.aggregations).finish();
    Ok(search.result)
}

/// A leaf search under way.
pub(super) struct LeafSearch<'a> {
    pub(super) leaf: &'a Leaf<'a>,
    pub(super) indexes: Indexes,
    pub(super) interrupt: Interrupt,
    /// Number of hits that each split must return; 0 while splits are only counted.
    pub(super) window: usize,
    /// Cache keys of the answers of single splits, if the host keeps them.
    split_keys: Option<SplitKeys>,
    pub(super) result: PartialResult,
    aggregations: Merger,
    /// Identities of the open splits, by place.
    pub(super) identities: BTreeMap<u32, IdentityRange>,
    scan_budget: ScanBudget,
    verify_budget: ScanBudget,
    pub(super) rare_words_budget: ScanBudget,
}

impl<'a> LeafSearch<'a> {
    pub(super) fn new(leaf: &'a Leaf<'a>, exchange: &Exchange) -> Result<Self, SearchError> {
        Ok(Self {
            leaf,
            indexes: Indexes::new(&leaf.indexes, exchange),
            interrupt: exchange.interrupt(),
            window: leaf.question.window(),
            split_keys: SplitKeys::of_question(leaf.question, leaf.resolved, &leaf.indexes)?,
            result: PartialResult::default(),
            aggregations: Merger::default(),
            identities: BTreeMap::new(),
            scan_budget: ScanBudget::of_fields(leaf.question.limits.max_docs_scanned),
            verify_budget: ScanBudget::of_objects(leaf.question.limits.max_docs_verified),
            rare_words_budget: ScanBudget::of_rare_words(leaf.question.limits.max_docs_scanned),
        })
    }

    /// Adds the answer of one split. Hits are merged separately.
    fn add(&mut self, answer: SplitAnswer) {
        self.result.num_hits += answer.num_hits;
        if let Some(aggregations) = answer.aggregations {
            // All of them belong to one request.
            let is_added = self.aggregations.add(aggregations);
            debug_assert!(is_added);
        }
    }

    /// Adds the answer of a searched split, and offers it to the host's cache.
    pub(super) fn add_found(&mut self, candidate: &Candidate, answer: SplitAnswer) {
        let source = self.source_of(candidate.split_ord);
        if let Some(keys) = &self.split_keys
            && let Some(source) = source
            && let Some(exchange) = self.indexes.exchange_of(source)
        {
            store(exchange, &keys.key(source), &answer);
        }
        self.add(answer);
    }

    fn source_of(&self, split_ord: u32) -> Option<&'a HeadSource> {
        let splits = &self.leaf.splits;
        let place = splits.binary_search_by_key(&split_ord, |(split_ord, _)| *split_ord);
        splits.get(place.ok()?).map(|(_, source)| source)
    }

    /// Records the matching documents of a split.
    fn list(&mut self, candidate: &Candidate, listed: &DeletedDocs) -> Result<(), SearchError> {
        if listed.num_docs() == 0 {
            return Ok(());
        }
        let listed = ListedSplit::new(&candidate.split.entry, listed);
        self.result.listed.push(listed);
        check_listed(&self.result.listed)
    }

    pub(super) fn fail(&mut self, candidate: &Candidate, error: SearchError) {
        self.result
            .failed_splits
            .push(FailedSplit::new(&candidate.split.entry.id, error));
    }

    /// Returns the splits whose answers are not in the cache, most wanted first, so that a limited budget is spent on
    /// the best.
    pub(super) async fn uncached(&mut self) -> Vec<&'a (u32, HeadSource)> {
        let leaf = self.leaf;
        let mut splits: Vec<&(u32, HeadSource)> = leaf.splits.iter().collect();
        if !leaf.is_ascending() {
            splits.reverse();
        }
        if let Some(keys) = &self.split_keys {
            let cached = look_up_splits(&splits, keys, leaf.aggregations(), &self.indexes).await;
            splits.retain(|(split_ord, _)| !cached.contains_key(split_ord));
            self.result.num_splits_from_cache += cached.len() as u64;
            for answer in cached.into_values() {
                self.add(answer);
            }
        }
        splits
    }

    /// Searches all of these splits, as many at a time as memory allows.
    pub(super) async fn search_splits(
        &mut self,
        splits: &[&'a (u32, HeadSource)],
        opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
    ) -> Result<(), SearchError> {
        for group in self.groups(splits) {
            let candidates = self.open(group).await;
            self.run(&candidates).await?;
            for candidate in candidates {
                self.result.warmup_gaps += candidate.split.body.num_gaps();
                opened.insert(candidate.split_ord, candidate.split);
            }
            // The other splits have no document to fetch.
            let hits = &self.result.hits;
            opened.retain(|split_ord, _| hits.iter().any(|hit| hit.split_ord == *split_ord));
        }
        Ok(())
    }

    /// Returns the number of hits after which the search may stop counting, if it may.
    pub(super) fn enough_hits(&self) -> Option<u64> {
        self.leaf.question.enough_hits()
    }

    /// Returns whether the query is `*`.
    pub(super) fn matches_all(&self) -> bool {
        self.leaf.resolved.query == QueryNode::All
    }

    /// Returns the order of hits according to the index; a split from before the index had a timestamp field may have
    /// another.
    pub(super) fn planned_order(&self) -> HitOrder {
        let config = self.leaf.indexes.first().map(|index| &index.config);
        let timestamp_field =
            config.and_then(|config| config.pointer("/doc_mapping/timestamp_field"));
        self.leaf.order(timestamp_field.and_then(Value::as_str))
    }

    /// Returns groups of splits that are open together. Scores need the statistics of all of them.
    fn groups(&self, splits: &[&'a (u32, HeadSource)]) -> Vec<Vec<&'a (u32, HeadSource)>> {
        let needs_all = self.leaf.order(None).is_scored(self.leaf.question);
        match needs_all || splits.is_empty() {
            true => vec![splits.to_vec()],
            false => groups_to_open(splits, self.leaf.question.limits.max_resident_bytes),
        }
    }

    async fn run(&mut self, candidates: &[Candidate]) -> Result<(), SearchError> {
        let Some(first) = candidates.first() else {
            return Ok(());
        };
        match &first.order {
            HitOrder::Time(direction) if self.countable(candidates) => {
                self.run_until_sure(candidates, *direction).await
            }
            order if order.is_scored(self.leaf.question) => self.run_scored(candidates).await,
            _ => self.run_all(candidates, None).await,
        }
    }

    /// Reads the dictionaries of all splits first, for statistics that cover all of them; then searches.
    async fn run_scored(&mut self, candidates: &[Candidate]) -> Result<(), SearchError> {
        let warmups = candidates.iter().map(|candidate| {
            let split = candidate.split.as_ref();
            guarded(&split.entry.id, async {
                let warmed_up = warm_up(split, &candidate.built.needs).await;
                warmed_up.map_err(|error| split.error(error))
            })
        });
        let is_filtered = self.leaf.question.is_filtered();
        let mut statistics = Statistics::new(is_filtered);
        let mut sound = Vec::new();
        for (candidate, warmed_up) in candidates.iter().zip(join_all(warmups).await) {
            let terms = candidate.built.needs.terms.keys();
            let added = warmed_up.and_then(|()| {
                let split = candidate.split.as_ref();
                guard(&split.entry.id, || {
                    let added = statistics.add(split, terms);
                    added.map_err(|error| split.error(error))
                })
            });
            match added {
                Ok(()) => sound.push(candidate),
                Err(error) => self.fail(candidate, error),
            }
        }
        self.run_all(sound, Some(&statistics)).await
    }

    /// Searches every split.
    async fn run_all<'c>(
        &mut self,
        candidates: impl IntoIterator<Item = &'c Candidate>,
        statistics: Option<&Statistics>,
    ) -> Result<(), SearchError> {
        let candidates: Vec<&Candidate> = candidates.into_iter().collect();
        let max_bytes = self.leaf.question.limits.max_resident_bytes;
        for batch in batches_by_size(&candidates, max_bytes).await {
            let at_once = match batch.iter().any(|candidate| candidate.looks_at_documents()) {
                true => SPLITS_AT_ONCE,
                false => batch.len().max(1),
            };
            for part in batch.chunks(at_once) {
                self.run_batch(part, statistics).await?;
            }
        }
        self.result.docs_scanned = self.scan_budget.spent();
        self.result.docs_verified = self.verify_budget.spent();
        Ok(())
    }

    async fn run_batch(
        &mut self,
        candidates: &[&Candidate],
        statistics: Option<&Statistics>,
    ) -> Result<(), SearchError> {
        let searches = candidates.iter().map(|candidate| {
            let work = Work {
                window: self.window,
                has_aggregations: true,
                statistics,
            };
            guarded(&candidate.split.entry.id, self.search(candidate, work))
        });
        let mut results = join_all(searches).await;
        self.finish_batch(candidates, &mut results).await;
        for (candidate, result) in candidates.iter().zip(results) {
            match result {
                Ok(result) => {
                    self.result.num_splits_searched += 1;
                    self.merge_hits(result.hits, &candidate.order);
                    if let Some(listed) = result.listed {
                        self.list(candidate, &listed)?;
                    }
                    let answer = SplitAnswer {
                        num_hits: result.num_hits,
                        aggregations: result.aggregations.or_else(|| candidate.whole.clone()),
                    };
                    self.add_found(candidate, answer);
                }
                // Too many buckets, or an aggregation of a field that cannot be aggregated, is an error
                // of the request, not of this split.
                Err(error)
                    if matches!(error.kind, ErrorKind::Limit | ErrorKind::Invalid)
                        && candidate.split.body.failure().is_none() =>
                {
                    return Err(error);
                }
                Err(error) => self.fail(candidate, error),
            }
        }
        Ok(())
    }

    /// Warms up and searches one split, unless no document of it can match.
    pub(super) async fn search(
        &self,
        candidate: &Candidate,
        work: Work<'_>,
    ) -> Result<SplitResult, SearchError> {
        let split = candidate.split.as_ref();
        self.interrupt.check()?;
        if work.statistics.is_none() && candidate.excluded().await?.is_some() {
            return Ok(SplitResult::default());
        }
        warm_up(split, &candidate.built.needs)
            .await
            .map_err(|error| split.error(error))?;
        let docs = self.left_of_scroll(split, candidate.within.docs(split).await?);
        let scanner = Scanner {
            split,
            docs: docs.clone(),
            budget: &self.scan_budget,
            verify_budget: &self.verify_budget,
            interrupt: &self.interrupt,
        };
        if candidate.needs_scan() {
            let others: Vec<&BuiltQuery> = candidate.other_queries().collect();
            scanner.scan_all(&candidate.built, &others).await?;
        }
        let question = self.leaf.question;
        let reads_objects = candidate.reads_objects && work.has_aggregations;
        let asked = question.aggregations.as_ref().filter(|_| reads_objects);
        let objects = match asked {
            Some(asked) => {
                let objects = scanner.read_objects(asked, &candidate.built, &question.limits);
                objects.await?
            }
            None => Vec::new(),
        };
        let task = SplitTask {
            split,
            split_ord: candidate.split_ord,
            built: &candidate.built,
            named: &candidate.named,
            docs,
            order: &candidate.order,
            is_scored: candidate.order.is_scored(question),
            window: work.window,
            objects: &objects,
            aggregations: self
                .leaf
                .aggregations()
                .filter(|_| work.has_aggregations)
                .zip(candidate.filters.as_deref()),
            from_head: &candidate.from_head,
            statistics: work.statistics,
            lists_documents: question.list_documents,
            min_score: question.min_score,
            interrupt: &self.interrupt,
        };
        let result = rerun_on_gaps(split, &self.interrupt, || task.run()).await;
        if work.window == 0 {
            // Nothing more is read from this split. The next split then reuses memory that is still in the
            // processor's cache.
            split.body.release();
        }
        result
    }

    /// Leaves out the documents that are on earlier pages of a scroll.
    fn left_of_scroll(&self, split: &OpenSplit, mut docs: Range<u32>) -> Range<u32> {
        let scroll = self.leaf.question.scroll.as_ref();
        if let Some(after) = scroll.and_then(|scroll| scroll.after.as_ref())
            && let Some(doc) = after.doc_in(&split.index, &split.entry)
        {
            docs.start = docs.start.max(doc.saturating_add(1)).min(docs.end);
        }
        docs
    }

    /// Ends the search of a batch of splits: settles the places of hits (a split whose places cannot be
    /// read fails) and releases bytes.
    pub(super) async fn finish_batch(
        &self,
        candidates: &[&Candidate],
        results: &mut [Result<SplitResult, SearchError>],
    ) {
        if let Some(first) = candidates.first()
            && self.window > 0
            && first.order != HitOrder::Stored
        {
            let elsewhere = self.elsewhere(candidates);
            let window = match first.order.collapse() {
                None => self.window,
                // Hits that come before may belong to one group.
                Some(_) => usize::MAX,
            };
            let last = self.leaf.question.sort.last();
            let by_split = last.is_some_and(|key| key.target == SortTarget::SplitDoc);
            settle_places(
                candidates,
                results,
                &first.order,
                window,
                &elsewhere,
                by_split,
            )
            .await;
        }
        for candidate in candidates {
            candidate.split.body.release();
        }
    }

    /// Returns all splits of the plan except `here`.
    fn elsewhere(&self, here: &[&Candidate]) -> Vec<Elsewhere> {
        let here = canter_sorting::set_of(here.iter().map(|candidate| candidate.split_ord));
        (0..)
            .zip(&self.leaf.time_ranges)
            .filter(|(split_ord, _)| !here.contains(split_ord))
            .map(|(split_ord, time_range)| Elsewhere {
                time_range: *time_range,
                identities: self.identities.get(&split_ord).copied(),
            })
            .collect()
    }

    pub(super) fn merge_hits(&mut self, mut hits: Vec<PartialHit>, order: &HitOrder) {
        self.result.hits.append(&mut hits);
        canter_sorting::sort_by(&mut self.result.hits, |left, right| {
            compare_hits(left, right, order)
        });
        collapse(&mut self.result.hits, order);
        self.result.hits.truncate(self.window);
    }
}

/// Parts of an answer to compute for one split.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) window: usize,
    pub(super) has_aggregations: bool,
    pub(super) statistics: Option<&'a Statistics>,
}

//! Running a query over the splits of one leaf.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy_query_grammar::UserInputAst;

use super::aggregate::note_needs;
use super::candidate::Candidate;
use super::partial::{FailedSplit, PartialHit, PartialResult, SortValue, compare_hits};
use super::rollup_histogram::from_rollup;
use super::split_search::{SplitResult, SplitTask};
use super::statistics::Statistics;
use super::times::{TimedHits, docs_within, settle_times};
use super::top_hits::HitOrder;
use super::warmup::warm_up;
use crate::query::{QueryShape, build_query, parse_query};
use crate::request::{Limits, SearchRequest, SortKeySpec, SortOrder, TimeFilter, parse_sort_by};
use crate::session::exchange::Exchange;
use crate::split::{HeadSource, Mappers, OpenSplit, open_split};
use crate::{ErrorKind, SearchError};
use canter_split_format::TimeRange;

/// How often a split is run again after a synchronous read missed its bytes.
const MAX_RERUNS: usize = 1_000;

/// A leaf's part of a search.
pub(crate) struct Leaf {
    pub(crate) request: SearchRequest,
    pub(crate) limits: Limits,
    /// Splits with their place among all splits of the plan, oldest first.
    pub(crate) splits: Vec<(u32, HeadSource)>,
    /// Time ranges of all splits of the plan, by place.
    pub(crate) time_ranges: Vec<Option<TimeRange>>,
}

/// The request, read once for all splits.
struct Prepared {
    ast: UserInputAst,
    sort_keys: Vec<SortKeySpec>,
    aggregations: Option<Aggregations>,
    time_filter: TimeFilter,
    window: usize,
}

/// Searches a leaf's splits. A split that fails is named in the result; the others still answer.
///
/// # Errors
/// If the request itself is wrong.
pub(crate) async fn search_leaf(
    leaf: Leaf,
    exchange: &Exchange,
    opened: &mut BTreeMap<u32, Arc<OpenSplit>>,
) -> Result<PartialResult, SearchError> {
    let prepared = Prepared {
        ast: parse_query(&leaf.request.query, &leaf.limits)?,
        sort_keys: parse_sort_by(leaf.request.sort_by.as_deref().unwrap_or_default())?,
        aggregations: leaf.request.aggregations()?,
        time_filter: leaf.request.time_filter(),
        window: leaf.request.window(),
    };
    let mut search = LeafSearch {
        leaf: &leaf,
        prepared,
        result: PartialResult::default(),
    };
    let candidates = search.open_all(exchange).await;
    for candidate in &candidates {
        opened.insert(candidate.split_ord, Arc::clone(&candidate.split));
    }
    search.run(&candidates).await?;
    search.result.warmup_gaps = candidates
        .iter()
        .map(|candidate| candidate.split.body.num_gaps())
        .sum();
    Ok(search.result)
}

struct LeafSearch<'a> {
    leaf: &'a Leaf,
    prepared: Prepared,
    result: PartialResult,
}

impl LeafSearch<'_> {
    fn fail(&mut self, candidate: &Candidate, error: SearchError) {
        self.result
            .failed_splits
            .push(FailedSplit::new(&candidate.split.entry.id, error));
    }

    /// Opens all splits at once and builds the query for each; what one split must read for that is
    /// read together with what the others must.
    async fn open_all(&mut self, exchange: &Exchange) -> Vec<Candidate> {
        let mappers = Mappers::default();
        let search = &*self;
        let opens = search.leaf.splits.iter().map(|(split_ord, source)| {
            let opening = open_split(source.clone(), exchange, &mappers);
            async move { search.prepare(*split_ord, opening.await?).await }
        });
        let opens = join_all(opens).await;
        let mut candidates = Vec::new();
        for ((_, source), candidate) in self.leaf.splits.iter().zip(opens) {
            match candidate {
                Ok(candidate) => candidates.push(candidate),
                Err(error) => {
                    self.result
                        .failed_splits
                        .push(FailedSplit::new(&source.entry.id, error));
                }
            }
        }
        candidates
    }

    async fn prepare(&self, split_ord: u32, split: OpenSplit) -> Result<Candidate, SearchError> {
        let order = HitOrder::of_request(
            &self.prepared.sort_keys,
            split.metadata.sort_field.as_deref(),
        );
        let mut built = build_query(
            &self.prepared.ast,
            &split.mapper,
            &self.leaf.request.search_field,
            order.needs_scores(),
            &self.leaf.limits,
        )?;
        let docs = docs_within(&split, self.prepared.time_filter).await?;
        let all_docs = docs.len() == split.segment().max_doc() as usize;
        let from_head = match &self.prepared.aggregations {
            Some(aggregations) if all_docs && built.shape == QueryShape::All => {
                from_rollup(&split, aggregations)
            }
            _ => None,
        };
        if let Some(aggregations) = &self.prepared.aggregations
            && from_head.is_none()
        {
            note_needs(&split, aggregations, &mut built.needs);
        }
        if self.prepared.window > 0 {
            built
                .needs
                .fast_fields
                .extend(order.fast_fields().map(str::to_owned));
        }
        Ok(Candidate {
            split_ord,
            split: Arc::new(split),
            built,
            order,
            docs,
            from_head,
        })
    }

    async fn run(&mut self, candidates: &[Candidate]) -> Result<(), SearchError> {
        let Some(first) = candidates.first() else {
            return Ok(());
        };
        match &first.order {
            HitOrder::Time(direction) if self.countable(candidates) => {
                self.run_until_sure(candidates, *direction).await
            }
            order if order.needs_scores() => self.run_scored(candidates).await,
            _ => self.run_all(candidates, None).await,
        }
    }

    /// Whether every split can say how many hits it has before its documents are looked at, and
    /// aggregations need none of them.
    fn countable(&self, candidates: &[Candidate]) -> bool {
        candidates.iter().all(|candidate| {
            (self.prepared.aggregations.is_none() || candidate.from_head.is_some())
                && match candidate.built.shape {
                    QueryShape::All | QueryShape::Nothing => true,
                    QueryShape::Term(_) => candidate.covers_all_docs(),
                    QueryShape::Other => false,
                }
        })
    }

    /// Counts all splits, then searches from the newest (or oldest) until no other split can hold a
    /// better hit: most splits are never read.
    async fn run_until_sure(
        &mut self,
        candidates: &[Candidate],
        direction: SortOrder,
    ) -> Result<(), SearchError> {
        let counts = join_all(candidates.iter().map(Candidate::count)).await;
        let mut waiting: Vec<(&Candidate, u64)> = Vec::new();
        for (candidate, count) in candidates.iter().zip(counts) {
            match count {
                Ok(count) => waiting.push((candidate, count)),
                Err(error) => self.fail(candidate, error),
            }
        }
        waiting.sort_by_key(|(candidate, _)| candidate.search_rank(direction));
        let window = self.prepared.window as u64;
        let mut answered: Vec<(&Candidate, u64)> = Vec::new();
        loop {
            let found = self.result.hits.len() as u64;
            let mut missing = window.saturating_sub(found);
            let worst = self.worst_time();
            let (batch, rest): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(candidate, count)| {
                    if *count == 0 || window == 0 {
                        false
                    } else if missing > 0 {
                        missing = missing.saturating_sub(*count);
                        true
                    } else {
                        found >= window && candidate.may_beat(worst, direction)
                    }
                });
            waiting = rest;
            if batch.is_empty() {
                break;
            }
            let work = Work {
                window: self.prepared.window,
                aggregations: None,
                statistics: None,
            };
            let mut results = join_all(
                batch
                    .iter()
                    .map(|(candidate, _)| self.search(candidate, work)),
            )
            .await;
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
        for (candidate, count) in answered {
            self.result.num_hits += count;
            if let Some(aggregations) = &candidate.from_head {
                self.result
                    .aggregations
                    .insert(candidate.split_ord, aggregations.clone());
            }
        }
        Ok(())
    }

    /// The time of the last hit so far, or the start of its time bucket.
    fn worst_time(&self) -> Option<i64> {
        match self.result.hits.last()?.keys.first()? {
            SortValue::Date(time_ns) => Some(*time_ns),
            _ => None,
        }
    }

    /// First the dictionaries of all splits, for statistics that hold for all of them; then the rest.
    async fn run_scored(&mut self, candidates: &[Candidate]) -> Result<(), SearchError> {
        let warmups = candidates.iter().map(|candidate| async {
            warm_up(candidate.split.segment(), &candidate.built.needs)
                .await
                .map_err(|error| candidate.split.error(error))
        });
        let mut statistics = Statistics::default();
        let mut sound = Vec::new();
        for (candidate, warmed_up) in candidates.iter().zip(join_all(warmups).await) {
            let terms = candidate.built.needs.terms.keys();
            let added = warmed_up.and_then(|()| {
                statistics
                    .add(&candidate.split, terms)
                    .map_err(|error| candidate.split.error(error))
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
        let searches = candidates.iter().map(|candidate| {
            let aggregations = match candidate.from_head {
                Some(_) => None,
                None => self.prepared.aggregations.as_ref(),
            };
            let work = Work {
                window: self.prepared.window,
                aggregations,
                statistics,
            };
            self.search(candidate, work)
        });
        let mut results = join_all(searches).await;
        self.finish_batch(&candidates, &mut results).await;
        for (candidate, result) in candidates.into_iter().zip(results) {
            match result {
                Ok(result) => {
                    self.result.num_splits_searched += 1;
                    self.result.num_hits += result.num_hits;
                    self.merge_hits(result.hits, &candidate.order);
                    let aggregations = result.aggregations.or_else(|| candidate.from_head.clone());
                    if let Some(aggregations) = aggregations {
                        self.result
                            .aggregations
                            .insert(candidate.split_ord, aggregations);
                    }
                }
                // More buckets than allowed is about the request, not about this split.
                Err(error)
                    if error.kind == ErrorKind::Limit
                        && candidate.split.body.failure().is_none() =>
                {
                    return Err(error);
                }
                Err(error) => self.fail(candidate, error),
            }
        }
        Ok(())
    }

    /// Warms one split up and searches it.
    async fn search(
        &self,
        candidate: &Candidate,
        work: Work<'_>,
    ) -> Result<SplitResult, SearchError> {
        let split = candidate.split.as_ref();
        let task = SplitTask {
            split,
            split_ord: candidate.split_ord,
            built: &candidate.built,
            docs: candidate.docs.clone(),
            order: &candidate.order,
            window: work.window,
            aggregations: work.aggregations,
            statistics: work.statistics,
            limits: &self.leaf.limits,
        };
        warm_up(split.segment(), &candidate.built.needs)
            .await
            .map_err(|error| split.error(error))?;
        if rerun_on_gaps(split, || task.too_many_terms()).await? {
            return Err(SearchError::new(
                ErrorKind::Limit,
                "a phrase prefix stands for more than 1024 words: give more of its last word",
            ));
        }
        rerun_on_gaps(split, || task.run()).await
    }

    /// Ends the search of a batch of splits: hits that are ordered by time get their times (a split
    /// whose times cannot be read fails), and bytes are let go.
    async fn finish_batch(
        &self,
        candidates: &[&Candidate],
        results: &mut [Result<SplitResult, SearchError>],
    ) {
        if let Some(HitOrder::Time(direction)) = candidates.first().map(|first| &first.order) {
            self.settle_times(candidates, results, *direction).await;
        }
        for candidate in candidates {
            candidate.split.body.release();
        }
    }

    async fn settle_times(
        &self,
        candidates: &[&Candidate],
        results: &mut [Result<SplitResult, SearchError>],
        direction: SortOrder,
    ) {
        let here: BTreeSet<u32> = candidates
            .iter()
            .map(|candidate| candidate.split_ord)
            .collect();
        let elsewhere: Vec<TimeRange> = (0..)
            .zip(&self.leaf.time_ranges)
            .filter(|(split_ord, _)| !here.contains(split_ord))
            .filter_map(|(_, range)| *range)
            .collect();
        // A split whose times cannot be read must not have pushed out hits of the others: they are
        // settled again without it.
        loop {
            let mut places = Vec::new();
            let mut batch = Vec::new();
            for (place, (candidate, result)) in
                candidates.iter().zip(results.iter_mut()).enumerate()
            {
                if let Ok(result) = result {
                    places.push(place);
                    batch.push(TimedHits {
                        split: &candidate.split,
                        hits: &mut result.hits,
                    });
                }
            }
            let before: Vec<Vec<PartialHit>> =
                batch.iter().map(|timed| timed.hits.clone()).collect();
            let window = self.prepared.window;
            let mut failures = settle_times(&mut batch, direction, window, &elsewhere).await;
            if failures.is_empty() {
                return;
            }
            for (timed, hits) in batch.into_iter().zip(before) {
                *timed.hits = hits;
            }
            for (batch_place, place) in places.into_iter().enumerate() {
                if let Some(error) = failures.remove(&batch_place)
                    && let Some(result) = results.get_mut(place)
                {
                    *result = Err(error);
                }
            }
        }
    }

    fn merge_hits(&mut self, mut hits: Vec<PartialHit>, order: &HitOrder) {
        self.result.hits.append(&mut hits);
        let directions = order.directions();
        self.result
            .hits
            .sort_by(|left, right| compare_hits(left, right, &directions));
        self.result.hits.truncate(self.prepared.window);
    }
}

/// What to find in one split.
#[derive(Clone, Copy)]
struct Work<'a> {
    window: usize,
    aggregations: Option<&'a Aggregations>,
    statistics: Option<&'a Statistics>,
}

/// Runs `work` until no synchronous read misses its bytes. The warmup is meant to leave nothing to
/// miss; this is what keeps an answer right where it does.
async fn rerun_on_gaps<T>(
    split: &OpenSplit,
    work: impl Fn() -> tantivy::Result<T>,
) -> Result<T, SearchError> {
    for _ in 0..MAX_RERUNS {
        let result = work();
        let gaps = split.body.take_gaps();
        if gaps.is_empty() {
            return result
                .map_err(|error| aggregation_limit(&error).unwrap_or_else(|| split.error(error)));
        }
        for loaded in join_all(
            gaps.into_iter()
                .map(|(range, class)| split.body.load(range, class)),
        )
        .await
        {
            loaded?;
        }
    }
    Err(SearchError::internal(format!(
        "split {}: bytes were still missing after {MAX_RERUNS} attempts",
        split.entry.id
    )))
}

/// The request's error if an aggregation grew past its limits.
fn aggregation_limit(error: &tantivy::TantivyError) -> Option<SearchError> {
    use tantivy::aggregation::AggregationError;
    match error {
        tantivy::TantivyError::AggregationError(
            error @ (AggregationError::BucketLimitExceeded { .. }
            | AggregationError::MemoryExceeded { .. }),
        ) => Some(SearchError::new(ErrorKind::Limit, format!("aggs: {error}"))),
        _ => None,
    }
}

//! Running a query over the splits of one leaf.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::join_all;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::intermediate_agg_result::IntermediateAggregationResults;
use tantivy_query_grammar::UserInputAst;

use super::aggregate::note_needs;
use super::partial::{FailedSplit, PartialHit, PartialResult, SortValue, compare_hits};
use super::rollup_histogram::from_rollup;
use super::split_search::{SplitResult, SplitTask};
use super::statistics::Statistics;
use super::top_hits::HitOrder;
use super::warmup::warm_up;
use crate::query::{BuiltQuery, Needs, QueryShape, build_query, parse_query};
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

/// One split on its way through the phases.
struct Candidate {
    split_ord: u32,
    split: Arc<OpenSplit>,
    built: BuiltQuery,
    order: HitOrder,
    /// Documents within the time filter.
    docs: Range<u32>,
    /// Aggregations that the head answered.
    from_head: Option<IntermediateAggregationResults>,
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

    /// Opens all splits at once and builds the query for each.
    async fn open_all(&mut self, exchange: &Exchange) -> Vec<Candidate> {
        let mappers = Mappers::default();
        let opens = self
            .leaf
            .splits
            .iter()
            .map(|(_, source)| open_split(source.clone(), exchange, &mappers));
        let opens = join_all(opens).await;
        let mut candidates = Vec::new();
        for ((split_ord, source), opened) in self.leaf.splits.iter().zip(opens) {
            let candidate = match opened {
                Ok(split) => self.prepare(*split_ord, split).await,
                Err(error) => Err(error),
            };
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
            let results = join_all(
                batch
                    .iter()
                    .map(|(candidate, _)| self.search(candidate, work)),
            )
            .await;
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
        let results = join_all(searches).await;
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
        let mut result = rerun_on_gaps(split, || task.run()).await?;
        if matches!(candidate.order, HitOrder::Time(_)) {
            self.add_times(candidate, &mut result.hits).await?;
        }
        split.body.release();
        Ok(result)
    }

    /// Gives hits their time as the sort key. The start of a hit's time bucket stands for its time if
    /// no other split has documents in that bucket: then it compares like the time itself.
    async fn add_times(
        &self,
        candidate: &Candidate,
        hits: &mut [PartialHit],
    ) -> Result<(), SearchError> {
        let split = candidate.split.as_ref();
        let mut sure = true;
        for hit in hits.iter_mut() {
            let bucket = split
                .time_index
                .as_ref()
                .map(|index| index.bucket_of(hit.doc));
            sure &= bucket.as_ref().is_some_and(|bucket| {
                !(0..)
                    .zip(&self.leaf.time_ranges)
                    .any(|(ord, range): (u32, _)| {
                        ord != candidate.split_ord
                            && range.is_some_and(|range| {
                                range.start_ns < bucket.end && range.end_ns >= bucket.start
                            })
                    })
            });
            hit.keys = vec![SortValue::Date(
                bucket.map_or(i64::MIN, |bucket| bucket.start),
            )];
        }
        if sure {
            return Ok(());
        }
        let times = timestamps(split).await?;
        for hit in hits {
            let time = times
                .first(hit.doc)
                .map(tantivy::DateTime::into_timestamp_nanos);
            hit.keys = vec![time.map_or(SortValue::Missing, SortValue::Date)];
        }
        Ok(())
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

impl Candidate {
    fn covers_all_docs(&self) -> bool {
        self.docs == (0..self.split.segment().max_doc())
    }

    /// How many documents match, for shapes that are [`LeafSearch::countable`].
    async fn count(&self) -> Result<u64, SearchError> {
        match &self.built.shape {
            QueryShape::All => Ok(self.docs.len() as u64),
            QueryShape::Nothing | QueryShape::Other => Ok(0),
            QueryShape::Term(term) => {
                let inverted_index = self
                    .split
                    .segment()
                    .inverted_index(term.field())
                    .map_err(|error| self.split.error(error))?;
                let doc_freq = inverted_index.doc_freq_async(term).await;
                Ok(u64::from(
                    doc_freq.map_err(|error| self.split.error(error))?,
                ))
            }
        }
    }

    /// Sorts splits so that the one with the best possible hit is first.
    fn search_rank(&self, direction: SortOrder) -> (i64, u32) {
        let range = self.split.metadata.time_range;
        match direction {
            SortOrder::Descending => (
                !range.map_or(i64::MAX, |range| range.end_ns),
                !self.split_ord,
            ),
            SortOrder::Ascending => (
                range.map_or(i64::MIN, |range| range.start_ns),
                self.split_ord,
            ),
        }
    }

    /// Whether a document of this split may come before a hit of that time.
    fn may_beat(&self, worst_ns: Option<i64>, direction: SortOrder) -> bool {
        match (worst_ns, self.split.metadata.time_range) {
            (Some(worst), Some(range)) => match direction {
                SortOrder::Descending => range.end_ns >= worst,
                SortOrder::Ascending => range.start_ns <= worst,
            },
            _ => true,
        }
    }
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

/// The documents that a time filter lets through: documents are sorted by time.
async fn docs_within(split: &OpenSplit, filter: TimeFilter) -> Result<Range<u32>, SearchError> {
    let num_docs = split.segment().max_doc();
    let mut docs = 0..num_docs;
    let Some(range) = split.metadata.time_range else {
        return Ok(docs);
    };
    if let Some(start) = filter.start_ns.filter(|start| *start > range.start_ns) {
        docs.start = first_doc_at_or_after(split, start).await?;
    }
    if let Some(end) = filter.end_ns.filter(|end| *end <= range.end_ns) {
        docs.end = first_doc_at_or_after(split, end).await?;
    }
    if docs.is_empty() {
        docs = 0..0;
    }
    Ok(docs)
}

async fn first_doc_at_or_after(split: &OpenSplit, time_ns: i64) -> Result<u32, SearchError> {
    let mut docs = match &split.time_index {
        Some(index) => index.first_doc_at_or_after(time_ns),
        None => 0..split.segment().max_doc() + 1,
    };
    if docs.len() == 1 {
        return Ok(docs.start);
    }
    // The bucket's border is not the filter's: the column tells.
    let times = timestamps(split).await?;
    let is_before = |doc: u32| {
        times
            .first(doc)
            .is_some_and(|time| time.into_timestamp_nanos() < time_ns)
    };
    docs.end -= 1;
    while docs.start < docs.end {
        let middle = docs.start + (docs.end - docs.start) / 2;
        if is_before(middle) {
            docs.start = middle + 1;
        } else {
            docs.end = middle;
        }
    }
    Ok(docs.start)
}

/// The timestamp column, brought here if it is not.
async fn timestamps(
    split: &OpenSplit,
) -> Result<tantivy::columnar::Column<tantivy::DateTime>, SearchError> {
    let name = split.metadata.sort_field.as_deref().unwrap_or_default();
    let needs = Needs {
        fast_fields: [name.to_owned()].into(),
        ..Needs::default()
    };
    warm_up(split.segment(), &needs)
        .await
        .map_err(|error| split.error(error))?;
    split
        .segment()
        .fast_fields()
        .date(name)
        .map_err(|error| split.error(error))
}

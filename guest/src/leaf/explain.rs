//! Explanation of a leaf search: what it would do with each split, found without reading documents.

use std::collections::BTreeMap;

use futures_util::future::join_all;

use super::batch::next_batch;
use super::candidate::Candidate;
use super::hits::HitOrder;
use super::leaf_search::{Leaf, LeafSearch};
use crate::SearchError;
use crate::exchange::Exchange;
use crate::query::QueryShape;
use crate::request::SortOrder;
use crate::split::guarded;

/// The treatment of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Its documents are searched.
    Search,
    /// Its head (and the dictionary) have the answer.
    Head,
    /// The host's cache has its answer.
    Cached,
    /// It is searched only if the others do not hold enough hits.
    Later,
    /// It cannot be opened.
    Failed,
}

impl Decision {
    /// Returns the name used in answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Head => "head",
            Self::Cached => "cached",
            Self::Later => "later",
            Self::Failed => "failed",
        }
    }
}

/// The treatment of one split, and the reason.
#[derive(Clone, Debug)]
pub(crate) struct SplitFate {
    pub(crate) decision: Decision,
    pub(crate) reason: String,
}

impl SplitFate {
    pub(crate) fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
        }
    }
}

/// Returns the treatment of each split of a leaf, by place, and the maximum number of documents to fetch.
///
/// Reads heads, and the dictionary where a count comes from it.
///
/// # Errors
/// If the request itself is wrong.
pub(crate) async fn explain_leaf(
    leaf: &Leaf<'_>,
    exchange: &Exchange,
) -> Result<(BTreeMap<u32, SplitFate>, u64), SearchError> {
    let mut search = LeafSearch::new(leaf, exchange)?;
    let splits = search.uncached().await;
    let (splits, later) = match search.rounds(&splits) {
        Some(rounds) => rounds.divide(),
        None => (splits, Vec::new()),
    };
    let candidates = search.open(splits).await;
    let direction = match candidates.first().map(|first| &first.order) {
        Some(HitOrder::Time(direction)) if search.countable(&candidates) => Some(*direction),
        _ => None,
    };
    let (mut fates, max_documents) = match direction {
        Some(direction) => explain_counted(&mut search, &candidates, direction).await,
        None => explain_searched(&mut search, &candidates).await,
    };
    for (split_ord, _) in later {
        let reason = "searched if others hold too few hits, since not all are to be counted";
        fates.insert(*split_ord, SplitFate::new(Decision::Later, reason));
    }
    // The remaining splits were never opened: the cache had them, or they failed.
    for (split_ord, source) in &leaf.splits {
        let mut failures = search.result.failed_splits.iter();
        let failure = failures.find(|failed| failed.split_id == source.entry.id);
        let fate = match failure {
            Some(failure) => SplitFate::new(Decision::Failed, &failure.message),
            None => SplitFate::new(
                Decision::Cached,
                "the partial-result cache has what it adds to the answer",
            ),
        };
        fates.entry(*split_ord).or_insert(fate);
    }
    Ok((fates, max_documents))
}

/// Explains splits that are counted first: only those with the hits of the page are searched.
async fn explain_counted(
    search: &mut LeafSearch<'_>,
    candidates: &[Candidate],
    direction: SortOrder,
) -> (BTreeMap<u32, SplitFate>, u64) {
    let window = search.window;
    let counted = search.count_all(candidates, direction).await;
    let num_matches: u64 = counted.iter().map(|(_, count)| count).sum();
    let (batch, rest) = next_batch(counted, window, 0, None, direction);
    let mut fates = BTreeMap::new();
    for (candidate, count) in batch {
        let reason = format!("{count} matching documents, among them the first hits");
        fates.insert(
            candidate.split_ord,
            SplitFate::new(Decision::Search, reason),
        );
    }
    for (candidate, count) in rest {
        let reason = match (count, window) {
            (0, _) => "no document matches".to_owned(),
            (_, 0) => format!("{count} matching documents, and no hits are asked for"),
            _ => format!("{count} matching documents, but other splits have the first hits"),
        };
        fates.insert(candidate.split_ord, SplitFate::new(Decision::Head, reason));
    }
    (fates, num_matches.min(window as u64))
}

/// Explains splits that must all be searched, except those that are known to hold no hit.
async fn explain_searched(
    search: &mut LeafSearch<'_>,
    candidates: &[Candidate],
) -> (BTreeMap<u32, SplitFate>, u64) {
    let excluded = candidates.iter();
    let excluded = excluded.map(|one| guarded(&one.split.entry.id, one.excluded()));
    let excluded = join_all(excluded).await;
    let mut fates = BTreeMap::new();
    for (candidate, excluded) in candidates.iter().zip(excluded) {
        match excluded {
            Ok(excluded) => {
                fates.insert(candidate.split_ord, fate_of(candidate, excluded));
            }
            Err(error) => search.fail(candidate, error),
        }
    }
    let is_searched = |fate: &SplitFate| fate.decision == Decision::Search;
    let max_documents = match fates.values().any(is_searched) {
        true => search.window as u64,
        false => 0,
    };
    (fates, max_documents)
}

fn fate_of(candidate: &Candidate, excluded: Option<&str>) -> SplitFate {
    match (&candidate.built.shape, excluded) {
        (QueryShape::Nothing, _) => {
            SplitFate::new(Decision::Head, "no document can match this query")
        }
        _ if candidate.order.needs_scores() => {
            SplitFate::new(Decision::Search, "hits are scored over all splits")
        }
        (_, Some(reason)) => SplitFate::new(Decision::Head, reason),
        _ => {
            let num_docs = candidate.split.num_live(candidate.within.most());
            let reason = match candidate.looks_at_documents() {
                true => format!(
                    "up to {num_docs} stored documents to look through, for a field that is not indexed"
                ),
                false => format!("up to {num_docs} documents to look at"),
            };
            SplitFate::new(Decision::Search, reason)
        }
    }
}

//! What the four kinds of session do.

use std::collections::BTreeMap;

use canter_split_format::TimeRange;

use super::exchange::Exchange;
use super::protocol::{Outcome, QueryPlan};
use super::wire::{LeafRequest, RootRequest, partial_to_bytes};
use crate::SearchError;
use crate::leaf::{Leaf, PartialResult, search_leaf};
use crate::plan::{PlannedSplit, SearchPlan, plan_search, read_manifest};
use crate::request::{Limits, SearchRequest};
use crate::root::{Merged, PlanFacts, answer};
use crate::split::HeadSource;

fn facts_of(plan: &SearchPlan) -> PlanFacts {
    PlanFacts {
        num_splits: plan.num_splits,
        num_pruned_by_time: plan.num_pruned_by_time,
        num_pruned_by_tags: plan.num_pruned_by_tags,
        timestamp_field: plan.timestamp_field.clone(),
    }
}

fn sources_of(splits: &[PlannedSplit]) -> BTreeMap<u32, HeadSource> {
    splits
        .iter()
        .map(|split| (split.split_ord, split.source.clone()))
        .collect()
}

/// The whole search.
pub(super) async fn search(
    request: SearchRequest,
    limits: Limits,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let manifest = read_manifest(&exchange, &limits).await?;
    let plan = plan_search(manifest, &request, &limits)?;
    run_plan(plan, request, limits, exchange).await
}

/// A planned search in this one session.
async fn run_plan(
    plan: SearchPlan,
    request: SearchRequest,
    limits: Limits,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let facts = facts_of(&plan);
    let sources = sources_of(&plan.splits);
    let leaf = Leaf {
        time_ranges: time_ranges_of(&plan),
        splits: plan
            .splits
            .into_iter()
            .map(|split| (split.split_ord, split.source))
            .collect(),
        request: request.clone(),
        limits: limits.clone(),
    };
    let mut opened = BTreeMap::new();
    let mut merged = Merged::default();
    merged.add(search_leaf(leaf, &exchange, &mut opened).await?);
    answer(
        merged,
        &request,
        &limits,
        &facts,
        &sources,
        &mut opened,
        &exchange,
    )
    .await
    .map(Outcome::Response)
}

fn time_ranges_of(plan: &SearchPlan) -> Vec<Option<TimeRange>> {
    plan.splits
        .iter()
        .map(|split| split.source.entry.time_range)
        .collect()
}

/// The plan of a search that several leaves share; the whole search if one leaf is all it takes.
pub(super) async fn plan(
    request: SearchRequest,
    limits: Limits,
    max_leaves: u32,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let manifest = read_manifest(&exchange, &limits).await?;
    let plan = plan_search(manifest, &request, &limits)?;
    let leaves = divide(&plan, max_leaves, limits.min_docs_per_leaf);
    if leaves.len() <= 1 {
        return run_plan(plan, request, limits, exchange).await;
    }
    let time_ranges = time_ranges_of(&plan);
    let leaves = leaves
        .into_iter()
        .map(|splits| {
            LeafRequest {
                request: request.clone(),
                limits: limits.clone(),
                splits,
                time_ranges: time_ranges.clone(),
            }
            .to_bytes()
        })
        .collect::<Result<Vec<_>, _>>()?;
    let root = RootRequest {
        facts: facts_of(&plan),
        request,
        limits,
        splits: plan.splits,
    }
    .to_bytes()?;
    Ok(Outcome::Plan(QueryPlan { leaves, root }))
}

/// Cuts the plan's splits into runs of about the same number of documents.
fn divide(plan: &SearchPlan, max_leaves: u32, min_docs_per_leaf: u64) -> Vec<Vec<PlannedSplit>> {
    let docs_of = |split: &PlannedSplit| split.source.entry.num_docs;
    let num_docs: u64 = plan.splits.iter().map(docs_of).sum();
    let num_leaves = match plan.divisible {
        true => (num_docs / min_docs_per_leaf.max(1)).clamp(1, u64::from(max_leaves.max(1))),
        false => 1,
    };
    let docs_per_leaf = num_docs.div_ceil(num_leaves).max(1);
    let mut leaves: Vec<Vec<PlannedSplit>> = Vec::new();
    let mut docs_before = 0;
    for split in &plan.splits {
        let leaf_ord = docs_before / docs_per_leaf;
        if leaves.len() as u64 <= leaf_ord {
            leaves.push(Vec::new());
        }
        if let Some(leaf) = leaves.last_mut() {
            leaf.push(split.clone());
        }
        docs_before += docs_of(split);
    }
    leaves
}

/// One leaf of a divided search.
pub(super) async fn leaf(request: LeafRequest, exchange: Exchange) -> Result<Outcome, SearchError> {
    let leaf = Leaf {
        request: request.request,
        limits: request.limits,
        splits: request
            .splits
            .into_iter()
            .map(|split| (split.split_ord, split.source))
            .collect(),
        time_ranges: request.time_ranges,
    };
    let partial = search_leaf(leaf, &exchange, &mut BTreeMap::new()).await?;
    partial_to_bytes(&partial).map(Outcome::Partial)
}

/// The end of a divided search.
pub(super) async fn root(
    request: RootRequest,
    partials: Vec<PartialResult>,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let mut merged = Merged::default();
    for partial in partials {
        merged.add(partial);
    }
    let sources = sources_of(&request.splits);
    answer(
        merged,
        &request.request,
        &request.limits,
        &request.facts,
        &sources,
        &mut BTreeMap::new(),
        &exchange,
    )
    .await
    .map(Outcome::Response)
}

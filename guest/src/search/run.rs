//! What each kind of session does.

use std::collections::BTreeMap;

use canter_protocol::{Outcome, QueryPlan};
use canter_split_format::ManifestFile;
use futures_util::future::join_all;

use super::explain::explain;
use super::wire::{LeafRequest, RootRequest, partial_to_bytes};
use crate::exchange::Exchange;
use crate::leaf::{Leaf, PartialResult, general_reason, kind_name, search_leaf};
use crate::limits::Limits;
use crate::partial_cache::answer_key;
use crate::plan::{
    PlannedSplit, PruneReason, SearchPlan, Unopened, keep_manifest, plan_search, read_manifest,
    read_pinned,
};
use crate::request::{AskedIndexes, PinnedManifest, Question, SearchRequest};
use crate::root::{Merged, PlanFacts, answer, answer_from_cache};
use crate::split::HeadSource;
use crate::{ErrorKind, SearchError};

fn facts_of(
    plan: &SearchPlan,
    request: &SearchRequest,
    limits: &Limits,
) -> Result<PlanFacts, SearchError> {
    let entries = plan.splits.iter().map(|split| &split.source.entry);
    // Without a part of the splits the answer is no answer to keep, nor is one that was kept the answer.
    let is_whole = plan.known.failed_splits.is_empty();
    let names = |unopened: &'_ Unopened| -> Vec<String> {
        let name = std::iter::once(unopened.name.clone());
        name.chain(unopened.deletes.clone()).collect()
    };
    let answered: Vec<String> = plan.answered.iter().flat_map(names).collect();
    let answered = answered.iter().map(String::as_str);
    let answer_key = match plan.indexes.as_slice() {
        [index] => answer_key(request, limits, index, entries, answered)?,
        // Under which index it would be kept, nothing says.
        _ => None,
    };
    Ok(PlanFacts {
        num_splits: plan.num_splits,
        num_pruned_by_time: plan.num_pruned(PruneReason::Time),
        num_pruned_by_tags: plan.num_pruned(PruneReason::Tags),
        num_pruned_by_filter: plan.num_pruned(PruneReason::Filter),
        timestamp_field: plan.timestamp_field.clone(),
        indexes: plan.indexes.clone(),
        untyped_keys: plan.untyped_keys.clone(),
        answer_key: answer_key.filter(|_| is_whole),
    })
}

fn sources_of(splits: Vec<PlannedSplit>) -> BTreeMap<u32, HeadSource> {
    let splits = splits.into_iter();
    canter_sorting::map_of(splits.map(|split| (split.split_ord, split.source)))
}

/// How planning ends.
enum Planned {
    /// The splits must be looked at.
    Open(Box<SearchPlan>, PlanFacts),
    /// There is an answer already: an explanation, or one that the host's cache kept.
    Answered(String),
}

/// The first part of every search: manifests, pruning, and what the host's cache knows.
async fn make_plan(
    question: &mut Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Planned, SearchError> {
    let mut plan = plan_all(question, indexes, exchange).await?;
    question.request.mixes_times = plan.mixes_times;
    question.request.time_bounds.clone_from(&plan.time_bounds);
    let Question {
        request, limits, ..
    } = &*question;
    plan.finish(request, limits)?;
    let facts = facts_of(&plan, request, limits)?;
    if request.explain {
        let answer_key = facts.answer_key.as_deref();
        let (request, limits) = (request.clone(), limits.clone());
        let explanation = explain(plan, answer_key, request, limits, exchange).await?;
        return Ok(Planned::Answered(explanation));
    }
    let num_splits = plan.splits.len() as u64;
    Ok(
        match answer_from_cache(&facts, num_splits, question, exchange).await {
            Some(answer) => Planned::Answered(answer),
            None => Planned::Open(Box::new(plan), facts),
        },
    )
}

/// The manifest of an index that a search is of, and what pins it if a scroll begins with that search.
async fn manifest_for(
    request: &SearchRequest,
    name: &str,
    limits: &Limits,
    exchange: &Exchange,
) -> Result<(ManifestFile, Option<PinnedManifest>), SearchError> {
    let pinned = request.pinned.iter().find(|(of, _)| of == name);
    let begins_scroll = request.scroll().is_some() && request.pinned.is_empty();
    let read = async {
        match pinned {
            Some((_, hash)) => read_pinned(hash, exchange, limits).await,
            None if begins_scroll => {
                let (manifest, hash) = keep_manifest(exchange, limits).await?;
                return Ok((Some(manifest), Some((name.to_owned(), hash))));
            }
            None => read_manifest(exchange, limits).await.map(Some),
        }
        .map(|manifest| (manifest, None))
    };
    match read.await {
        Ok((Some(manifest), pin)) => Ok((manifest, pin)),
        Ok((None, _)) => Err(SearchError::new(
            ErrorKind::NotFound,
            match request.scroll() {
                Some(_) => {
                    "the scroll cannot go on: its index has changed since it began, and this host does not keep what it \
                     was then (any more); begin again"
                }
                None => "this point in time is not kept any more: take a new one",
            },
        )),
        Err(error) if error.kind == ErrorKind::NotFound && !name.is_empty() => Err(no_index(name)),
        Err(error) => Err(error),
    }
}

/// The error of an index whose manifest is not there.
pub(crate) fn no_index(name: &str) -> SearchError {
    let message = format!("no such index [{name}]: there is no index here");
    SearchError::new(ErrorKind::NotFound, message)
}

/// The plan of a search of all these indexes, which are planned at once.
async fn plan_all(
    question: &mut Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<SearchPlan, SearchError> {
    let Question {
        request, limits, ..
    } = &*question;
    let plan_one = async |exchange: &Exchange, name: &str| {
        let (manifest, pin) = match manifest_for(request, name, limits, exchange).await {
            Ok(found) => found,
            Err(error) => return (None, Err(error)),
        };
        let plan = plan_search(manifest, request, limits, exchange).await;
        (pin, plan)
    };
    let names = &indexes.names;
    let (pins, plan): (Vec<Option<PinnedManifest>>, _) = if names.len() <= 1 {
        let name = names.first().map_or("", String::as_str);
        let (pin, plan) = plan_one(exchange, name).await;
        (vec![pin], plan)
    } else {
        let plans = names
            .iter()
            .map(|name| async { plan_one(&exchange.of_index(name), name).await });
        let (pins, plans): (_, Vec<_>) = join_all(plans).await.into_iter().unzip();
        let plans = names.iter().map(String::as_str).zip(plans).collect();
        let ends_search = |name: &str, error: &SearchError| match error.kind {
            ErrorKind::NotFound => indexes.requires(name),
            // All pages are of the same documents.
            kind if request.scroll().is_some() => kind != ErrorKind::Invalid,
            _ => !request.pinned.is_empty(),
        };
        (pins, SearchPlan::of_several(plans, ends_search))
    };
    let plan = plan?;
    let pins: Vec<PinnedManifest> = pins.into_iter().flatten().collect();
    if !pins.is_empty() {
        question.request.pin_scroll(pins);
        exchange.hand_over_stores().await;
    }
    Ok(plan)
}

/// What a search of these indexes is done through. They are brought into an order, which decides between copies of a
/// document in several, and is the same for each page of hits.
fn exchange_of(indexes: &mut AskedIndexes, exchange: Exchange) -> Exchange {
    canter_sorting::sort(&mut indexes.names);
    match indexes.names.as_slice() {
        [index] => exchange.of_index(index),
        _ => exchange,
    }
}

/// An error as the caller may see it. Under a forced filter one that is not about the request says nothing of splits,
/// objects and bytes: what was read depends on documents that the caller may not see.
fn shown(error: SearchError, is_filtered: bool, exchange: &Exchange) -> SearchError {
    let report = exchange.report();
    let is_of_request = match error.kind {
        ErrorKind::Invalid | ErrorKind::NotFound => true,
        ErrorKind::Limit => !report.timed_out && report.budget_exhausted.is_none(),
        ErrorKind::Data | ErrorKind::Unavailable | ErrorKind::Internal => false,
    };
    match is_filtered && !is_of_request {
        true => SearchError::new(error.kind, general_reason(kind_name(error.kind))),
        false => error,
    }
}

/// The whole search. No index stands for the one that the host knows.
pub(crate) async fn search(
    question: Question,
    indexes: AskedIndexes,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let is_filtered = question.request.forced_filter.is_some();
    let end = search_all(question, indexes, exchange.clone()).await;
    end.map_err(|error| shown(error, is_filtered, &exchange))
}

async fn search_all(
    mut question: Question,
    mut indexes: AskedIndexes,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let exchange = exchange_of(&mut indexes, exchange);
    match make_plan(&mut question, &indexes, &exchange).await? {
        Planned::Answered(answer) => Ok(Outcome::Response(answer)),
        Planned::Open(plan, facts) => run_plan(*plan, facts, question, exchange).await,
    }
}

/// A planned search in this one session.
async fn run_plan(
    plan: SearchPlan,
    facts: PlanFacts,
    question: Question,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let leaf = plan.leaf(question.request.clone(), question.limits.clone());
    let sources = sources_of(plan.splits);
    let mut opened = BTreeMap::new();
    let mut merged = Merged::default();
    merged.add(plan.known)?;
    merged.add(search_leaf(leaf, &exchange, &mut opened).await?)?;
    answer(merged, &question, &facts, &sources, &mut opened, &exchange)
        .await
        .map(Outcome::Response)
}

/// The plan of a search that several leaves share; the whole search if one leaf is all it takes.
pub(crate) async fn plan(
    question: Question,
    indexes: AskedIndexes,
    max_leaves: u32,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let is_filtered = question.request.forced_filter.is_some();
    let end = plan_leaves(question, indexes, max_leaves, exchange.clone()).await;
    end.map_err(|error| shown(error, is_filtered, &exchange))
}

async fn plan_leaves(
    mut question: Question,
    mut indexes: AskedIndexes,
    max_leaves: u32,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let exchange = exchange_of(&mut indexes, exchange);
    let (plan, facts) = match make_plan(&mut question, &indexes, &exchange).await? {
        Planned::Answered(answer) => return Ok(Outcome::Response(answer)),
        Planned::Open(plan, facts) => (*plan, facts),
    };
    let leaves = divide(&plan, max_leaves, question.limits.min_docs_per_leaf);
    if leaves.len() <= 1 {
        return run_plan(plan, facts, question, exchange).await;
    }
    let time_ranges = plan.time_ranges();
    let leaves = leaves
        .into_iter()
        .map(|splits| {
            LeafRequest {
                request: question.request.clone(),
                limits: question.limits.clone(),
                splits,
                time_ranges: time_ranges.clone(),
                indexes: plan.indexes.clone(),
                prefix: exchange.prefix().to_owned(),
            }
            .to_bytes()
        })
        .collect::<Result<Vec<_>, _>>()?;
    let root = RootRequest {
        known: plan.known,
        facts,
        question,
        splits: plan.splits,
        prefix: exchange.prefix().to_owned(),
    }
    .to_bytes()?;
    Ok(Outcome::Plan(QueryPlan { leaves, root }))
}

/// Cuts the plan's splits into runs of about the same number of documents.
fn divide(plan: &SearchPlan, max_leaves: u32, min_docs_per_leaf: u64) -> Vec<Vec<PlannedSplit>> {
    let docs_of = |split: &PlannedSplit| split.source.entry.num_docs;
    let num_docs: u64 = plan.splits.iter().map(docs_of).fold(0, u64::saturating_add);
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
        docs_before = docs_of(split).saturating_add(docs_before);
    }
    leaves
}

/// One leaf of a divided search.
pub(crate) async fn leaf(request: LeafRequest, exchange: Exchange) -> Result<Outcome, SearchError> {
    let exchange = exchange.with_prefix(&request.prefix);
    let leaf = Leaf {
        request: request.request,
        limits: request.limits,
        splits: request
            .splits
            .into_iter()
            .map(|split| (split.split_ord, split.source))
            .collect(),
        time_ranges: request.time_ranges,
        indexes: request.indexes,
    };
    let partial = search_leaf(leaf, &exchange, &mut BTreeMap::new()).await?;
    exchange.hand_over_stores().await;
    partial_to_bytes(&partial).map(Outcome::Partial)
}

/// The end of a divided search.
pub(crate) async fn root(
    request: RootRequest,
    partials: Vec<PartialResult>,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let exchange = exchange.with_prefix(&request.prefix);
    let question = &request.question;
    let mut merged = Merged::default();
    let aggregations = question.request.aggregations(&question.limits)?;
    merged.add(request.known)?;
    for partial in partials {
        let fits = match (&partial.aggregations, &aggregations) {
            (Some(partial), Some(aggregations)) => partial.fits(aggregations),
            (partial, _) => partial.is_none(),
        };
        if !fits {
            return Err(SearchError::internal("a leaf answered another request"));
        }
        merged.add(partial)?;
    }
    let sources = sources_of(request.splits);
    let opened = &mut BTreeMap::new();
    let answer = answer(
        merged,
        question,
        &request.facts,
        &sources,
        opened,
        &exchange,
    );
    let answer = answer.await.map(Outcome::Response);
    answer.map_err(|error| shown(error, question.request.forced_filter.is_some(), &exchange))
}

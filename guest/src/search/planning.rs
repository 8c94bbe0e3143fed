//! The first part of every search: manifests, pruning, and the host's cache of answers.

use std::collections::BTreeMap;

use canter_split_format::ManifestFile;
use futures_util::future::join_all;

use super::explain::explain;
use crate::exchange::Exchange;
use crate::plan::{
    PlannedSplit, PruneReason, SearchPlan, Unopened, keep_manifest, plan_search, read_manifest,
    read_pinned,
};
use crate::request::{AskedIndexes, PinnedManifest, Question, Resolved};
use crate::root::{PlanFacts, answer_from_cache};
use crate::split::HeadSource;
use crate::split::partial_cache::answer_key;
use crate::{ErrorKind, SearchError};

/// The end of planning.
pub(super) enum Planned {
    /// Some splits must be searched.
    Open(Box<Plan>),
    /// The answer is known: an explanation, or a cached answer.
    Answered(String),
}

/// A plan, and the facts it established.
pub(super) struct Plan {
    pub(super) search: SearchPlan,
    pub(super) resolved: Resolved,
    pub(super) facts: PlanFacts,
}

/// Plans a search whose answer nothing keeps.
///
/// # Errors
/// As [`make_plan`].
pub(super) async fn plan_only(
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<(SearchPlan, Resolved), SearchError> {
    let (mut search, pinned) = plan_all(question, indexes, exchange).await?;
    let resolved = Resolved {
        mixes_times: search.mixes_times,
        pinned,
        ..Resolved::of(question, search.time_bounds.as_ref())
    };
    search.finish(question)?;
    Ok((search, resolved))
}

/// Plans the search of these indexes.
///
/// # Errors
/// If the question is invalid for them, or a manifest cannot be read.
pub(super) async fn make_plan(
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Planned, SearchError> {
    let (search, resolved) = plan_only(question, indexes, exchange).await?;
    let facts = facts_of(&search, question, &resolved)?;
    if question.explain {
        let answer_key = facts.answer_key.as_deref();
        let explanation = explain(search, answer_key, question, &resolved, exchange).await?;
        return Ok(Planned::Answered(explanation));
    }
    let num_splits = search.splits.len() as u64;
    let kept = answer_from_cache(&facts, num_splits, question, exchange).await;
    Ok(match kept {
        Some(answer) => Planned::Answered(answer),
        None => Planned::Open(Box::new(Plan {
            search,
            resolved,
            facts,
        })),
    })
}

fn facts_of(
    plan: &SearchPlan,
    question: &Question,
    resolved: &Resolved,
) -> Result<PlanFacts, SearchError> {
    let entries = plan.splits.iter().map(|split| &split.source.entry);
    // An answer without some splits is not cached, and a cached one would not match it.
    let is_whole = plan.known.failed_splits.is_empty();
    let names = |unopened: &'_ Unopened| -> Vec<String> {
        let name = std::iter::once(unopened.name.clone());
        name.chain(unopened.deletes.clone()).collect()
    };
    let answered: Vec<String> = plan.answered.iter().flat_map(names).collect();
    let answered = answered.iter().map(String::as_str);
    let answer_key = match plan.indexes.as_slice() {
        [index] => answer_key(question, resolved, index, entries, answered)?,
        // Nothing says under which index it would be cached.
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
        unsigned_keys: plan.unsigned_keys.clone(),
        own_formats: plan.own_formats.clone(),
        answer_key: answer_key.filter(|_| is_whole),
    })
}

/// Returns the sources of planned splits, by their place in the plan.
pub(super) fn sources_of(splits: Vec<PlannedSplit>) -> BTreeMap<u32, HeadSource> {
    let splits = splits.into_iter();
    canter_sorting::map_of(splits.map(|split| (split.split_ord, split.source)))
}

/// Plans a search of all these indexes, all at once; returns the plan and, if a scroll begins, the pins of their
/// manifests.
pub(super) async fn plan_all(
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<(SearchPlan, Vec<PinnedManifest>), SearchError> {
    let plan_one = async |exchange: &Exchange, name: &str| {
        let (manifest, pin) = match manifest_for(question, name, exchange).await {
            Ok(found) => found,
            Err(error) => return (None, Err(error)),
        };
        (pin, plan_search(manifest, question, exchange).await)
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
            // All pages show the same documents.
            kind if question.scroll().is_some() => kind != ErrorKind::Invalid,
            _ => !question.pinned.is_empty(),
        };
        (pins, SearchPlan::of_several(plans, ends_search))
    };
    let plan = plan?;
    let pins: Vec<PinnedManifest> = pins.into_iter().flatten().collect();
    if !pins.is_empty() {
        exchange.hand_over_stores().await;
    }
    Ok((plan, pins))
}

/// Reads the manifest of an index to search, and its pin if the search begins a scroll.
async fn manifest_for(
    question: &Question,
    name: &str,
    exchange: &Exchange,
) -> Result<(ManifestFile, Option<PinnedManifest>), SearchError> {
    let limits = &question.limits;
    let pinned = question.pinned.iter().find(|(of, _)| of == name);
    let begins_scroll = question.scroll().is_some() && question.pinned.is_empty();
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
            match question.scroll() {
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

/// Returns the error of an index whose manifest does not exist.
pub(crate) fn no_index(name: &str) -> SearchError {
    let message = format!("no such index [{name}]: there is no index here");
    SearchError::new(ErrorKind::NotFound, message)
}

/// Returns the exchange for a search of these indexes. Sorts them: the order decides between copies of a document in
/// several indexes, and is the same for each page of hits.
pub(super) fn exchange_of(indexes: &mut AskedIndexes, exchange: Exchange) -> Exchange {
    canter_sorting::sort(&mut indexes.names);
    match indexes.names.as_slice() {
        [index] => exchange.of_index(index),
        _ => exchange,
    }
}

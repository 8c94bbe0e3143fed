//! A search that several sessions share: plan, leaves, root.

use std::collections::BTreeMap;

use canter_aggregations::Backgrounds;
use canter_protocol::{Outcome, QueryPlan};

use super::alike::with_typical_words;
use super::errors::shown;
use super::nearest::with_nearest;
use super::planning::{Plan, Planned, exchange_of, make_plan, sources_of};
use super::whole::carry_out;
use super::wire::{LeafRequest, RootRequest, partial_to_bytes};
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::{Leaf, PartialResult, search_leaf};
use crate::plan::{PlannedSplit, SearchPlan};
use crate::request::{AskedAggregations, AskedIndexes, Question};
use crate::root::{Merged, RootSearch};

/// End of the first session of a search.
pub(crate) enum Searched {
    /// The answer: one JSON object.
    Answer(String),
    /// A plan that leaves and a root are still to carry out.
    Plan(QueryPlan),
}

impl From<String> for Searched {
    fn from(answer: String) -> Self {
        Self::Answer(answer)
    }
}

/// Plans a search that at most `max_leaves` leaves share; runs it if one leaf is enough.
pub(crate) async fn run_plan(
    question: Question,
    indexes: AskedIndexes,
    max_leaves: u32,
    exchange: Exchange,
) -> Result<Searched, SearchError> {
    let is_filtered = question.is_filtered();
    let end = plan_leaves(question, indexes, max_leaves, exchange.clone()).await;
    end.map_err(|error| shown(error, is_filtered, &exchange))
}

async fn plan_leaves(
    question: Question,
    mut indexes: AskedIndexes,
    max_leaves: u32,
    exchange: Exchange,
) -> Result<Searched, SearchError> {
    let exchange = exchange_of(&mut indexes, exchange);
    let chosen = with_typical_words(&question, &indexes, &exchange).await?;
    let question = chosen.unwrap_or(question);
    let found = with_nearest(&question, &indexes, &exchange).await?;
    let question = found.unwrap_or(question);
    let plan = match make_plan(&question, &indexes, &exchange).await? {
        Planned::Answered(answer) => return Ok(Searched::Answer(answer)),
        Planned::Open(plan) => *plan,
    };
    let leaves = divide(&plan.search, max_leaves, question.limits.min_docs_per_leaf);
    if leaves.len() <= 1 {
        let answer = carry_out(plan, &question, &indexes, &exchange).await;
        return answer.map(Searched::Answer);
    }
    let Plan {
        search,
        resolved,
        facts,
    } = plan;
    let leaves = leaves.into_iter().map(|splits| {
        let leaf = LeafRequest {
            question: question.clone(),
            resolved: resolved.clone(),
            splits,
            time_ranges: search.time_ranges(),
            indexes: search.indexes.clone(),
            prefix: exchange.prefix().to_owned(),
        };
        leaf.to_bytes()
    });
    let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
    let root = RootRequest {
        question,
        resolved,
        splits: search.splits,
        facts,
        known: search.known,
        prefix: exchange.prefix().to_owned(),
    };
    let root = root.to_bytes()?;
    Ok(Searched::Plan(QueryPlan { leaves, root }))
}

/// Divides the plan's splits into runs with about the same number of documents.
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
        let leaf_ord = (docs_before / docs_per_leaf).min(num_leaves - 1);
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

/// Runs one leaf of a divided search.
pub(crate) async fn run_leaf(
    request: LeafRequest,
    exchange: Exchange,
) -> Result<Outcome, SearchError> {
    let exchange = exchange.with_prefix(&request.prefix);
    let splits = request.splits.into_iter();
    let leaf = Leaf {
        question: &request.question,
        resolved: &request.resolved,
        splits: splits
            .map(|split| (split.split_ord, split.source))
            .collect(),
        time_ranges: request.time_ranges,
        indexes: request.indexes,
    };
    let partial = search_leaf(leaf, &exchange, &mut BTreeMap::new()).await?;
    exchange.hand_over_stores().await;
    partial_to_bytes(&partial).map(Outcome::Partial)
}

/// Ends a divided search: merges the results of its leaves, in the plan's order.
pub(crate) async fn run_root(
    request: RootRequest,
    partials: Vec<PartialResult>,
    exchange: Exchange,
) -> Result<String, SearchError> {
    let exchange = exchange.with_prefix(&request.prefix);
    let question = &request.question;
    let mut merged = Merged::default();
    let asked = question.aggregations.as_ref();
    let aggregations = asked.map(AskedAggregations::parsed);
    merged.add(request.known)?;
    for partial in partials {
        let fits = match (&partial.aggregations, aggregations) {
            (Some(partial), Some(aggregations)) => partial.fits(aggregations),
            (partial, _) => partial.is_none(),
        };
        if !fits {
            return Err(SearchError::internal("a leaf answered another request"));
        }
        merged.add(partial)?;
    }
    let root = RootSearch {
        question,
        resolved: &request.resolved,
        facts: &request.facts,
        sources: &sources_of(request.splits),
        exchange: &exchange,
    };
    // A search that compares with other documents is not divided.
    let backgrounds = Backgrounds::new(merged.result.num_hits);
    let aggregations = merged.take_aggregations();
    let opened = &mut BTreeMap::new();
    let answer = root
        .answer(merged, aggregations, &backgrounds, opened)
        .await;
    answer.map_err(|error| shown(error, question.is_filtered(), &exchange))
}

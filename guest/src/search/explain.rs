//! Explanation of a search: its plan, and the treatment of each split with the reason, as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::{Decision, SplitFate, explain_leaf};
use crate::plan::{PruneReason, SearchPlan, Unopened};
use crate::request::{Question, Resolved, VectorReads};
use crate::root::CachedAnswer;
use crate::split::partial_cache::look_up;
use canter_split_format::SplitEntry;

/// An explained plan.
#[derive(Debug, Serialize)]
struct Explanation<'a> {
    /// Live splits of the index.
    num_splits: u64,
    /// All splits, newest first.
    splits: Vec<ExplainedSplit<'a>>,
    /// Maximum number of documents that are fetched for the hits.
    max_documents: u64,
    /// What was read to find the nearest vectors: the plan names their documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors: Option<VectorReads>,
}

#[derive(Debug, Serialize)]
struct ExplainedSplit<'a> {
    split_id: &'a str,
    /// More than one for a page of splits, whose name replaces the id.
    #[serde(skip_serializing_if = "is_one")]
    num_splits: u64,
    num_docs: u64,
    /// `pruned`, `head`, `cached`, `search`, `later` or `failed`.
    decision: &'static str,
    /// The reason, in words.
    reason: &'a str,
}

impl<'a> ExplainedSplit<'a> {
    fn new(entry: &'a SplitEntry, decision: &'static str, reason: &'a str) -> Self {
        Self {
            split_id: &entry.id,
            num_splits: 1,
            num_docs: entry.num_live_docs(),
            decision,
            reason,
        }
    }

    fn unopened(unopened: &'a Unopened, decision: &'static str, reason: &'a str) -> Self {
        Self {
            split_id: &unopened.name,
            num_splits: unopened.num_splits,
            num_docs: unopened.num_docs,
            decision,
            reason,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_one(number: &u64) -> bool {
    *number == 1
}

/// Explains a planned search. Reads heads, and dictionaries where counts come from them.
///
/// # Errors
/// If the request itself is wrong.
pub(crate) async fn explain(
    plan: SearchPlan,
    answer_key: Option<&str>,
    question: &Question,
    resolved: &Resolved,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let is_cached = match answer_key {
        Some(key) => look_up::<CachedAnswer>(exchange, key).await.is_some(),
        None => false,
    };
    let (fates, max_documents) = match is_cached {
        true => (all_cached(&plan), 0),
        false => {
            let leaf = plan.leaf(question, resolved);
            let (fates, max_documents) = explain_leaf(&leaf, exchange).await?;
            (fates, max_documents.min(question.max_hits))
        }
    };
    let pruned = plan.pruned.iter().map(|(unopened, reason)| {
        let reason = match reason {
            PruneReason::Time => "no document within the time filter",
            PruneReason::Tags => "it lacks a tag value that the query requires",
            PruneReason::Filter => "its filter says that it lacks a term that the query requires",
        };
        ExplainedSplit::unopened(unopened, "pruned", reason)
    });
    let answered = plan.answered.iter().map(|unopened| {
        let reason = "the manifest's page says how many documents match";
        ExplainedSplit::unopened(unopened, Decision::Head.as_str(), reason)
    });
    let planned = plan.splits.iter().filter_map(|split| {
        let fate = fates.get(&split.split_ord)?;
        let entry = &split.source.entry;
        Some(ExplainedSplit::new(
            entry,
            fate.decision.as_str(),
            &fate.reason,
        ))
    });
    let explanation = Explanation {
        num_splits: plan.num_splits,
        splits: planned
            .rev()
            .chain(answered.rev())
            .chain(pruned.rev())
            .collect(),
        max_documents,
        vectors: question.vector_reads,
    };
    serde_json::to_string(&explanation)
        .map_err(|error| SearchError::internal(format!("explanation: {error}")))
}

fn all_cached(plan: &SearchPlan) -> BTreeMap<u32, SplitFate> {
    let reason = "the partial-result cache has the whole answer";
    let splits = plan.splits.iter();
    canter_sorting::map_of(
        splits.map(|split| (split.split_ord, SplitFate::new(Decision::Cached, reason))),
    )
}

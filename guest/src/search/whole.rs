//! A search in one session.

use std::collections::BTreeMap;

use super::alike::with_typical_words;
use super::background::backgrounds;
use super::errors::shown;
use super::nearest::with_nearest;
use super::planning::{Plan, Planned, exchange_of, make_plan, sources_of};
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::search_leaf;
use crate::request::{AskedIndexes, Question};
use crate::root::{Merged, RootSearch};

/// Searches these indexes. An empty list stands for the only index of the host.
pub(crate) async fn run_search(
    question: Question,
    indexes: AskedIndexes,
    exchange: Exchange,
) -> Result<String, SearchError> {
    let end = search_all(&question, indexes, exchange.clone()).await;
    end.map_err(|error| shown(error, question.is_filtered(), &exchange))
}

async fn search_all(
    question: &Question,
    mut indexes: AskedIndexes,
    exchange: Exchange,
) -> Result<String, SearchError> {
    let exchange = exchange_of(&mut indexes, exchange);
    let chosen = with_typical_words(question, &indexes, &exchange).await?;
    let question = chosen.as_ref().unwrap_or(question);
    let found = with_nearest(question, &indexes, &exchange).await?;
    let question = found.as_ref().unwrap_or(question);
    match make_plan(question, &indexes, &exchange).await? {
        Planned::Answered(answer) => Ok(answer),
        Planned::Open(plan) => carry_out(*plan, question, &indexes, &exchange).await,
    }
}

/// Runs a plan in this session.
pub(super) async fn carry_out(
    plan: Plan,
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let Plan {
        search,
        resolved,
        facts,
    } = plan;
    let leaf = search.leaf(question, &resolved);
    let sources = sources_of(search.splits);
    let mut opened = BTreeMap::new();
    let mut merged = Merged::default();
    merged.add(search.known)?;
    merged.add(search_leaf(leaf, exchange, &mut opened).await?)?;
    let root = RootSearch {
        question,
        resolved: &resolved,
        facts: &facts,
        sources: &sources,
        exchange,
    };
    let aggregations = merged.take_aggregations();
    let found = (merged.result.num_hits, aggregations.as_ref());
    let backgrounds = backgrounds(question, found, &facts, indexes, exchange).await?;
    root.answer(merged, aggregations, &backgrounds, &mut opened)
        .await
}

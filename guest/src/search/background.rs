//! Searches for the documents with which aggregations compare those that match a query.

use std::collections::BTreeMap;

use canter_aggregations::{BackgroundAsk, Backgrounds, Partial};
use canter_doc_mapper::{DocMapper, IndexConfig};

use super::planning::plan_only;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::search_leaf;
use crate::query::QueryNode;
use crate::request::{AskedAggregations, AskedIndexes, Counting, GivenQuery, Question, refuse_ids};
use crate::root::{Merged, PlanFacts};

/// Counts the terms that a search found in the documents that they are compared with. `found` are the number of hits
/// and the aggregations of the search.
///
/// # Errors
/// If a query of these documents is wrong, or cannot be run.
pub(super) async fn backgrounds(
    question: &Question,
    (num_hits, partial): (u64, Option<&Partial>),
    facts: &PlanFacts,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Backgrounds, SearchError> {
    let mut backgrounds = Backgrounds::new(num_hits);
    let Some(asked) = question.aggregations.as_ref() else {
        return Ok(backgrounds);
    };
    if !asked.parsed().compares() {
        return Ok(backgrounds);
    }
    let configs = facts.indexes.iter().map(|index| &index.config);
    let configs = configs.filter_map(|config| serde_json::from_value(config.clone()).ok());
    let mappers = configs.filter_map(|config: IndexConfig| DocMapper::new(&config).ok());
    let mappers: Vec<DocMapper> = mappers.collect();
    let is_word = |field: &str| {
        let lists = asked.parsed().lists().iter();
        let mut lists = lists.filter(|list| list.path == field && list.of.are_words());
        lists.any(|list| mappers.iter().any(|mapper| list.is_read(mapper)))
    };
    for ask in asked.parsed().backgrounds(partial, &is_word) {
        let (num_docs, found) = count(question, &ask, indexes, exchange).await?;
        backgrounds.add(ask, num_docs, found.as_ref());
    }
    Ok(backgrounds)
}

/// Returns the number of documents that are compared with, and the counts of terms in them.
async fn count(
    question: &Question,
    ask: &BackgroundAsk,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<(u64, Option<Partial>), SearchError> {
    let (limits, is_filtered) = (&question.limits, question.is_filtered());
    let query = match &ask.query {
        None => QueryNode::All,
        Some(query) => GivenQuery::of(query)?.parse(None, limits)?,
    };
    refuse_ids(&query, is_filtered)?;
    let aggregations = AskedAggregations::read(ask.aggs.clone(), None, is_filtered, limits)?;
    let form = question.form;
    let question = Question {
        query,
        aggregations,
        max_hits: 0,
        track_total_hits: Counting::All,
        pinned: question.pinned.clone(),
        index_name: question.index_name.clone(),
        ..Question::of_all(question.forced_filter.clone(), limits.clone(), form)
    };
    let (search, resolved) = plan_only(&question, indexes, exchange).await?;
    let leaf = search.leaf(&question, &resolved);
    let mut merged = Merged::default();
    merged.add(search.known)?;
    merged.add(search_leaf(leaf, exchange, &mut BTreeMap::new()).await?)?;
    let found = merged.take_aggregations();
    Ok((merged.result.num_hits, found))
}

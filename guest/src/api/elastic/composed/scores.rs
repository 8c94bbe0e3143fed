//! Scores of a query for documents that are known.

use std::collections::BTreeMap;

use super::answer::{Answer, Hit};
use crate::SearchError;
use crate::exchange::Exchange;
use crate::query::QueryNode;
use crate::request::{AskedIndexes, Counting, ElasticHits, Question, SourceFilter};
use crate::search::run_search;

/// Scores by index and id.
pub(super) type Scores = BTreeMap<(String, String), f32>;

/// Returns the scores of those hits that a query matches.
///
/// # Errors
/// As a search.
pub(super) async fn scores_of(
    query: &QueryNode,
    hits: &[Hit],
    of: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Scores, SearchError> {
    if hits.is_empty() {
        return Ok(Scores::new());
    }
    let places: Vec<_> = hits.iter().map(Hit::place).collect();
    let ids = QueryNode::by_id(places.iter().map(|(_, id)| id.clone()));
    // Two indexes may have documents with the same id.
    let query = query.clone().and_filter(ids);
    let question = Question {
        track_total_hits: Counting::UpTo(0),
        elastic: Some(ElasticHits {
            source: SourceFilter {
                is_off: true,
                ..SourceFilter::default()
            },
            ..ElasticHits::default()
        }),
        ..of.by_score(query, of.limits.max_hits)
    };
    let answer = run_search(question, indexes.clone(), exchange.clone()).await?;
    let answer = Answer::parse(&answer)?;
    let scores = answer.hits.iter().map(|hit| (hit.place(), hit.score()));
    let mut scores: Scores = scores.collect();
    scores.retain(|place, _| places.contains(place));
    Ok(scores)
}

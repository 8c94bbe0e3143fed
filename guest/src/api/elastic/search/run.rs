//! Running a search, and answers without a search.

use canter_protocol::HttpResponse;
use futures_util::future::{join, join_all};

use crate::SearchError;
use crate::api::elastic::errors::elastic_text;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, Question};
use crate::search::run_search;

/// Returns the answer where no index is searched.
pub(in crate::api::elastic) fn found_nothing(counts: bool, total_is_number: bool) -> String {
    let total = match total_is_number {
        true => "0",
        false => r#"{"value":0,"relation":"eq"}"#,
    };
    const SHARDS: &str = r#""_shards":{"total":0,"successful":0,"skipped":0,"failed":0}"#;
    match counts {
        true => format!("{{\"count\":0,{SHARDS}}}"),
        false => format!(
            "{{\"took\":0,\"timed_out\":false,{SHARDS},\"hits\":{{\"total\":{total},\"max_score\":0.0,\"hits\":[]}}}}"
        ),
    }
}

/// Runs a search whose aggregations cover other documents than its hits: all parts at once, joined into one answer.
pub(in crate::api::elastic) async fn search_both(
    question: Question,
    aggregated: Vec<Question>,
    indexes: AskedIndexes,
    exchange: Exchange,
) -> Result<String, SearchError> {
    let hits = run_search(question, indexes.clone(), exchange.clone());
    let aggregations = aggregated
        .into_iter()
        .map(|aggregated| run_search(aggregated, indexes.clone(), exchange.clone()));
    let (hits, aggregations) = join(hits, join_all(aggregations)).await;
    let hits = hits?;
    let aggregations = aggregations.into_iter().collect::<Result<Vec<_>, _>>()?;
    joined(&hits, &aggregations)
        .ok_or_else(|| SearchError::internal("an answer of an unknown form"))
}

/// Joins an answer with hits and answers with aggregations.
fn joined(hits: &str, aggregations: &[String]) -> Option<String> {
    // Quotes inside strings are escaped, so these matches are keys.
    const HITS: &str = ",\"hits\":{";
    const AGGREGATIONS: &str = "\"hits\":[]},\"aggregations\":{";
    let (head, hits) = hits.strip_suffix('}')?.split_once(HITS)?;
    let mut head = head;
    let mut results = Vec::with_capacity(aggregations.len());
    for answer in aggregations {
        let (other, result) = answer.strip_suffix("}}")?.split_once(AGGREGATIONS)?;
        let (other, _) = other.split_once(HITS)?;
        // The answer reports what the aggregations lack; the hits lack no more than that.
        let is_whole = other.contains("\"timed_out\":false") && other.contains("\"failed\":0");
        if !is_whole {
            head = other;
        }
        results.push(result);
    }
    let results = results.join(",");
    Some([head, HITS, hits, ",\"aggregations\":{", &results, "}}"].concat())
}

/// Returns the answer of a search in the form of one that ran in the background.
pub(in crate::api::elastic) fn in_background(response: &HttpResponse, now_ms: i64) -> HttpResponse {
    /// Five days, as in Elasticsearch.
    const KEPT_MS: i64 = 5 * 24 * 3_600_000;
    let answer = String::from_utf8_lossy(&response.body);
    let is_partial = answer.contains("\"timed_out\":true");
    let expires = now_ms.saturating_add(KEPT_MS);
    elastic_text(
        200,
        format!(
            "{{\"is_partial\":{is_partial},\"is_running\":false,\"start_time_in_millis\":{now_ms},\
             \"expiration_time_in_millis\":{expires},\"completion_time_in_millis\":{now_ms},\"response\":{answer}}}"
        ),
    )
}

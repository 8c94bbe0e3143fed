//! Running a search, and answers without a search.

use canter_protocol::HttpResponse;
use futures_util::future::join;

use crate::SearchError;
use crate::api::elastic::errors::elastic_text;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, Question};
use crate::search::run_search;

/// Returns the answer where no index is searched.
pub(in crate::api::elastic) fn found_nothing(counts: bool) -> &'static str {
    match counts {
        true => r#"{"count":0,"_shards":{"total":0,"successful":0,"skipped":0,"failed":0}}"#,
        false => {
            r#"{"took":0,"timed_out":false,"_shards":{"total":0,"successful":0,"skipped":0,"failed":0},"hits":{"total":{"value":0,"relation":"eq"},"max_score":0.0,"hits":[]}}"#
        }
    }
}

/// Runs a search whose aggregations cover more documents than its hits: both parts at once, joined into one answer.
pub(in crate::api::elastic) async fn search_both(
    question: Question,
    aggregated: Question,
    indexes: AskedIndexes,
    exchange: Exchange,
) -> Result<String, SearchError> {
    let hits = run_search(question, indexes.clone(), exchange.clone());
    let aggregations = run_search(aggregated, indexes, exchange);
    let (hits, aggregations) = join(hits, aggregations).await;
    let (hits, aggregations) = (hits?, aggregations?);
    // Quotes inside strings are escaped, so these matches are keys.
    const HITS: &str = ",\"hits\":{";
    const AGGREGATIONS: &str = "\"hits\":[]},\"aggregations\":";
    let parts = || {
        let (head, hits) = hits.strip_suffix('}')?.split_once(HITS)?;
        let (other, aggregations) = aggregations.split_once(AGGREGATIONS)?;
        let (other, _) = other.split_once(HITS)?;
        // The answer reports what the aggregations lack; the hits lack no more than that.
        let is_whole = other.contains("\"timed_out\":false") && other.contains("\"failed\":0");
        let head = if is_whole { head } else { other };
        Some([head, HITS, hits, ",\"aggregations\":", aggregations].concat())
    };
    parts().ok_or_else(|| SearchError::internal("an answer of an unknown form"))
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

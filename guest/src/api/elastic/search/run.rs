//! Running a search, and answers without a search.

use futures_util::future::join;

use crate::SearchError;
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

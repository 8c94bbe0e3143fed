//! What single splits add to an answer, as the host's cache keeps it.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tantivy::aggregation::intermediate_agg_result::IntermediateAggregationResults;

use crate::partial_cache::{SplitKeys, look_up};
use crate::session::exchange::Exchange;
use crate::split::HeadSource;

/// What one split adds to an answer, but for hits.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SplitAnswer {
    pub(super) num_hits: u64,
    pub(super) aggregations: Option<IntermediateAggregationResults>,
}

/// The splits that the cache knows the answer of, by place.
pub(super) async fn look_up_splits(
    splits: &[&(u32, HeadSource)],
    keys: &SplitKeys,
    exchange: &Exchange,
) -> BTreeMap<u32, SplitAnswer> {
    let lookups = splits.iter().map(|(split_ord, source)| {
        let key = keys.key(&source.entry);
        async move { Some((*split_ord, look_up(exchange, &key).await?)) }
    });
    join_all(lookups).await.into_iter().flatten().collect()
}

//! Answers of single splits in the host's cache.

use std::collections::BTreeMap;

use canter_aggregations::{Aggregations, Partial};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use crate::split::partial_cache::{SplitKeys, look_up};
use crate::split::{HeadSource, Indexes};

/// The answer of one split, without hits.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SplitAnswer {
    pub(super) num_hits: u64,
    pub(super) aggregations: Option<Partial>,
}

/// Looks up the answers of splits in the host's cache; returns those found, by place.
pub(super) async fn look_up_splits(
    splits: &[&(u32, HeadSource)],
    keys: &SplitKeys,
    aggregations: Option<&Aggregations>,
    indexes: &Indexes,
) -> BTreeMap<u32, SplitAnswer> {
    let lookups = splits.iter().map(|(split_ord, source)| {
        let key = keys.key(source);
        async move {
            let exchange = indexes.exchange_of(source)?;
            let answer: SplitAnswer = look_up(exchange, &key).await?;
            let fits = match (aggregations, &answer.aggregations) {
                (Some(aggregations), Some(partial)) => partial.fits(aggregations),
                (found, partial) => found.is_none() && partial.is_none(),
            };
            fits.then_some((*split_ord, answer))
        }
    });
    canter_sorting::map_of(join_all(lookups).await.into_iter().flatten())
}

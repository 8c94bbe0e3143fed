//! Cost of cold queries: counts their reads.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_runtime::{Engine, Limits};
use serde_json::json;

use crate::{BenchIndex, Query};

/// Cost of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Name of the query.
    pub name: &'static str,
    /// Total number of hits.
    pub num_hits: u64,
    /// Number of dependent rounds to the store.
    pub num_waves: u64,
    /// Number of requests to the store.
    pub num_requests: u64,
    /// Number of bytes from the store.
    pub num_bytes: u64,
}

/// Runs each query once, cold. Fails if a split fails, a warmup is incomplete or a query exceeds
/// its budget.
pub fn measure(
    index: &BenchIndex,
    engine: &Arc<dyn Engine>,
    queries: &[Query],
) -> Result<Vec<Cost>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let searcher = index.searcher(engine.clone())?;
    queries
        .iter()
        .map(|query| {
            let mut request = query.request.clone();
            request["profile"] = json!(true);
            let response = runtime
                .block_on(searcher.search(&request, &Limits::default()))
                .with_context(|| query.name)?;
            let json = &response.json;
            ensure!(
                json["failed_splits"] == json!([]),
                "{}: a split failed",
                query.name
            );
            let gaps = &json["profile"]["warmup_gaps"];
            ensure!(*gaps == json!(0), "{}: {gaps} warmup gaps", query.name);
            let cost = Cost {
                name: query.name,
                num_hits: json["num_hits"].as_u64().context("num_hits")?,
                num_waves: response.profile.num_waves,
                num_requests: response.profile.num_requests,
                num_bytes: response.profile.num_bytes,
            };
            if let Some(budget) = query.budget {
                let is_within =
                    cost.num_waves <= budget.max_waves && cost.num_requests <= budget.max_requests;
                ensure!(is_within, "over the budget {budget:?}: {cost:?}");
            }
            Ok(cost)
        })
        .collect()
}

/// Formats the costs as aligned text.
pub fn table(costs: &[Cost]) -> String {
    let width = costs
        .iter()
        .map(|cost| cost.name.len())
        .max()
        .unwrap_or_default();
    let mut text = format!(
        "{:width$}  {:>9}  {:>5}  {:>8}  {:>10}\n",
        "query", "hits", "waves", "requests", "bytes"
    );
    for cost in costs {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:width$}  {:>9}  {:>5}  {:>8}  {:>10}",
            cost.name, cost.num_hits, cost.num_waves, cost.num_requests, cost.num_bytes
        );
    }
    text
}

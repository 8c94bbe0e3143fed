//! Guest time in the native engine compared with WebAssembly.
//!
//! It is the time inside `step` as reported in the profile of a search. Reading, caching and
//! starting an instance are excluded, so a folder on disk serves as well as memory. Both engines
//! must give the same answers.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_runtime::{Engine, Limits, Searcher};
use serde_json::{Value, json};

use crate::Query;

/// Minimum guest time of one query in each engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestTimes {
    /// Name of the query.
    pub name: &'static str,
    /// Total number of hits, the same in every engine.
    pub num_hits: u64,
    /// Minimum time in microseconds, in the order of the engines.
    pub micros: Vec<u64>,
}

impl GuestTimes {
    /// Returns the second engine's time divided by the first's; `None` with only one engine.
    pub fn ratio(&self) -> Option<f64> {
        let (first, second) = (self.micros.first()?, self.micros.get(1)?);
        Some(*second as f64 / (*first).max(1) as f64)
    }
}

/// Runs a query `num_runs` times, alternating between the searchers. Fails if the answers differ.
pub async fn measure_guest(
    searchers: &[Searcher],
    query: &Query,
    num_runs: u32,
) -> Result<GuestTimes> {
    let mut request = query.request.clone();
    request["profile"] = json!(true);
    let mut micros = vec![u64::MAX; searchers.len()];
    let mut answer: Option<Value> = None;
    for _ in 0..num_runs.max(1) {
        for (searcher, least) in searchers.iter().zip(&mut micros) {
            let response = searcher
                .search(&request, &Limits::default())
                .await
                .with_context(|| query.name)?;
            *least = response.profile.guest_us.min(*least);
            let mut found = response.json;
            for of_this_run in ["profile", "elapsed_time_micros", "took", "trace"] {
                found.as_object_mut().map(|found| found.remove(of_this_run));
            }
            let first = answer.get_or_insert_with(|| found.clone());
            ensure!(
                *first == found,
                "{}: the engines differ: {first} {found}",
                query.name
            );
        }
    }
    let num_hits = answer
        .as_ref()
        .and_then(|answer| answer["num_hits"].as_u64());
    Ok(GuestTimes {
        name: query.name,
        num_hits: num_hits.context("num_hits")?,
        micros,
    })
}

/// Formats the times as aligned text, with the ratios and their geometric mean.
pub fn times_table(engines: &[Arc<dyn Engine>], times: &[GuestTimes]) -> String {
    let names = times.iter().map(|times| times.name.len());
    let width = names.max().unwrap_or_default();
    let mut text = format!("{:width$}  {:>9}", "guest time in ms", "hits");
    // Writing to a string cannot fail.
    for engine in engines {
        let _ = write!(text, "  {:>9}", engine.name());
    }
    text.push_str("  ratio\n");
    for times in times {
        let _ = write!(text, "{:width$}  {:>9}", times.name, times.num_hits);
        for micros in &times.micros {
            let _ = write!(text, "  {:>9.2}", *micros as f64 / 1e3);
        }
        if let Some(ratio) = times.ratio() {
            let _ = write!(text, "  {ratio:>5.2}");
        }
        text.push('\n');
    }
    let ratios: Vec<f64> = times.iter().filter_map(GuestTimes::ratio).collect();
    if !ratios.is_empty() {
        let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
        let _ = writeln!(text, "geometric mean of the ratios: {:.2}", mean.exp());
    }
    text
}

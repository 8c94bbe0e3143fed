//! The guest's time in the native engine beside that in WebAssembly.
//!
//! It is the time inside `step` alone, which the profile of a search tells: reading, caching and starting an
//! instance are not in it, so a folder on a disk does as well as memory. Both engines must answer the same.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_runtime::{Engine, Limits, Searcher};
use serde_json::{Value, json};

use crate::Query;

/// The least time that the guest took for one query, in each engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestTimes {
    /// The query's name.
    pub name: &'static str,
    /// Hits in all, the same in every engine.
    pub num_hits: u64,
    /// The least of so many microseconds, in the order of the engines.
    pub micros: Vec<u64>,
}

impl GuestTimes {
    /// The second engine's time for each microsecond of the first's; `None` if there is one engine only.
    pub fn ratio(&self) -> Option<f64> {
        let (first, second) = (self.micros.first()?, self.micros.get(1)?);
        Some(*second as f64 / (*first).max(1) as f64)
    }
}

/// Runs a query on each searcher in turns, `num_runs` times. Fails if the answers differ.
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

/// The times as aligned text, with the ratios and their geometric mean.
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

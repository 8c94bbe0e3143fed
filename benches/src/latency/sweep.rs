//! Effect of the coalescing gap on requests, bytes and time.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use canter_runtime::fetch::{CoalesceOptions, HedgeOptions};

use super::{Lab, Setup};
use crate::Query;

/// Gaps to try, in KiB.
const GAPS_KIB: [u64; 8] = [0, 16, 64, 128, 256, 512, 1024, 2048];

/// One query with one gap, cold and without hedging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRow {
    /// Name of the query.
    pub query: &'static str,
    /// Maximum number of bytes between two ranges that become one request.
    pub max_gap_bytes: u64,
    /// Number of requests, the same for each seed.
    pub num_requests: u64,
    /// Number of bytes over the network.
    pub num_bytes: u64,
    /// Number of dependent rounds.
    pub num_waves: u64,
    /// Median over the seeds, network only.
    pub p50: Duration,
    /// 90th percentile over the seeds, network only.
    pub p90: Duration,
}

/// Measures each query with each gap, over `num_seeds` seeds.
pub fn sweep(lab: &Lab, queries: &[Query], num_seeds: u64) -> Result<Vec<SweepRow>> {
    let mut rows = Vec::new();
    for query in queries {
        for gap_kib in GAPS_KIB {
            let coalesce = CoalesceOptions {
                max_gap_bytes: gap_kib << 10,
                ..CoalesceOptions::default()
            };
            let host = lab.host(&Setup {
                coalesce,
                hedge: HedgeOptions::off(),
                ..Setup::default()
            })?;
            let samples = (1..=num_seeds.max(1))
                .map(|seed| host.search(query, seed))
                .collect::<Result<Vec<_>>>()?;
            let mut took: Vec<Duration> = samples.iter().map(|sample| sample.took).collect();
            took.sort_unstable();
            rows.push(SweepRow {
                query: query.name,
                max_gap_bytes: coalesce.max_gap_bytes,
                num_requests: samples[0].num_requests,
                num_bytes: samples[0].num_bytes,
                num_waves: samples[0].num_waves,
                p50: took[took.len() / 2],
                p90: took[took.len() * 9 / 10],
            });
        }
    }
    Ok(rows)
}

/// Formats the rows as aligned text.
pub fn sweep_table(rows: &[SweepRow]) -> String {
    let mut text = format!(
        "{:>9} {:>8} {:>10} {:>5} {:>8} {:>8}\n",
        "gap KiB", "requests", "bytes", "waves", "p50 ms", "p90 ms"
    );
    let mut query = "";
    for row in rows {
        if row.query != query {
            query = row.query;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{query}");
        }
        let _ = writeln!(
            text,
            "{:>9} {:>8} {:>10} {:>5} {:>8.1} {:>8.1}",
            row.max_gap_bytes >> 10,
            row.num_requests,
            row.num_bytes,
            row.num_waves,
            row.p50.as_secs_f64() * 1e3,
            row.p90.as_secs_f64() * 1e3,
        );
    }
    text
}

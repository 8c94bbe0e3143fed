//! Effect of hedging on p99, over several sets of seeds: the p99 of a thousand searches is the
//! tenth slowest of them, which varies by some percent between sets.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;

use super::row::{State, measure_row};
use super::{Lab, Row};
use crate::Query;

/// One set of seeds: cold searches by a host with hedging, and by one without.
#[derive(Clone, Debug, PartialEq)]
pub struct HedgingSet {
    /// First seed of the set.
    pub first_seed: u64,
    /// Measurement with hedging.
    pub hedged: Row,
    /// Measurement without hedging.
    pub unhedged: Row,
}

/// Measures `query` over `num_sets` disjoint sets of `num_seeds` seeds, network only. The first set
/// is also that of the table of latencies.
pub fn measure_hedging(
    lab: &Lab,
    query: &Query,
    num_sets: u64,
    num_seeds: u64,
) -> Result<Vec<HedgingSet>> {
    (0..num_sets)
        .map(|set| {
            let first_seed = set * num_seeds + 1;
            let seeds = first_seed..=first_seed + num_seeds - 1;
            Ok(HedgingSet {
                first_seed,
                hedged: measure_row(lab, query, State::Cold, seeds.clone(), false)?,
                unhedged: measure_row(lab, query, State::ColdUnhedged, seeds, false)?,
            })
        })
        .collect()
}

/// Formats the sets and their combination as aligned text.
pub fn hedging_table(sets: &[HedgingSet]) -> String {
    let mut text = format!(
        "{:>15} {:>7} {:>10} {:>10} {:>6}\n",
        "seeds", "extra", "p99 ms", "unhedged", "less"
    );
    let mut line = |seeds: String, extra_percent: f64, hedged: f64, unhedged: f64| {
        let less = 100.0 * (1.0 - hedged / unhedged);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{seeds:>15} {extra_percent:>5.2} % {hedged:>10.1} {unhedged:>10.1} {less:>4.1} %"
        );
    };
    let ms = |row: &Row| row.network_quantile(0.99).as_secs_f64() * 1e3;
    for set in sets {
        let last = set.first_seed + set.hedged.network.len() as u64 - 1;
        line(
            format!("{}-{last}", set.first_seed),
            set.hedged.extra_percent,
            ms(&set.hedged),
            ms(&set.unhedged),
        );
    }
    let all = |of: fn(&HedgingSet) -> &Row| -> Option<Row> {
        let mut network: Vec<Duration> = sets
            .iter()
            .flat_map(|set| of(set).network.clone())
            .collect();
        network.sort_unstable();
        Some(Row {
            network,
            ..of(sets.first()?).clone()
        })
    };
    if let (Some(hedged), Some(unhedged)) = (all(|set| &set.hedged), all(|set| &set.unhedged)) {
        let extra = sets.iter().map(|set| set.hedged.extra_percent).sum::<f64>();
        line(
            "all".to_owned(),
            extra / sets.len() as f64,
            ms(&hedged),
            ms(&unhedged),
        );
    }
    text
}

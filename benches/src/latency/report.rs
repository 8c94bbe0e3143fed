//! Rows as text, compared with the figures of Quickwit and the targets.

use std::fmt::Write as _;
use std::time::Duration;

use super::row::{Row, State};

/// Target, and the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Description of the target.
    pub target: String,
    /// Measured value.
    pub measured: String,
    /// True if the target is met.
    pub is_met: bool,
}

/// Quickwit 0.9.0 under the same network model, measured on 20,000,000 such documents in 8 splits.
const QUICKWIT: &str = "\
Quickwit 0.9.0, 20,000,000 documents in 8 splits, the same network, measured with real time:
  classic 1, cold   5 waves, 28 GETs,    773,238 bytes, p50 554 ms, p90 712 ms
  classic 1, warm   3 waves, 19 GETs,    307,549 bytes, p50 460 ms, p90 647 ms
  classic 2, cold   4 waves, 33 GETs, 54,702,565 bytes, p50 895 ms, p90 997 ms
  classic 2, warm   0 waves,  0 GETs,          0 bytes, p50 190 ms, p90 231 ms
";

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Formats the rows as aligned text.
pub fn latency_table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<35} {:>8} {:>7} {:>9} {:>5} {:>7} {:>7} {:>7} {:>7} {:>5}\n",
        "", "requests", "extra", "bytes", "waves", "p50 ms", "p90 ms", "p99 ms", "CPU ms", "share"
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
            "  {:<33} {:>8.2} {:>5.1} % {:>9.0} {:>5.1} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>3.0} %",
            row.state.name(),
            row.num_requests,
            row.extra_percent,
            row.num_bytes,
            row.num_waves,
            ms(row.quantile(0.5)),
            ms(row.quantile(0.9)),
            ms(row.quantile(0.99)),
            ms(row.cpu),
            100.0 * row.cpu.as_secs_f64() / row.quantile(0.5).as_secs_f64().max(1e-9),
        );
    }
    text.push_str(QUICKWIT);
    text
}

/// Compares the rows of the two classic queries, in this order, with their targets.
pub fn verdicts(term: &[Row], histogram: &[Row]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (name, rows, cold_ms) in [("classic 1", term, 180.0), ("classic 2", histogram, 300.0)] {
        at_most(&mut verdicts, rows, name, State::Cold, cold_ms);
        at_most(&mut verdicts, rows, name, State::WarmDisk, 60.0);
        if let Some(row) = find(rows, State::WarmPartial) {
            verdicts.push(Verdict {
                target: format!("{name}, {}: 1 request", row.state.name()),
                measured: format!(
                    "{:.2}, of which {:.2} % hedges",
                    row.num_requests, row.extra_percent
                ),
                is_met: (row.num_requests - 1.0).abs() <= row.extra_percent / 100.0 + 1e-9,
            });
        }
    }
    if let (Some(hedged), Some(not)) = (find(term, State::Cold), find(term, State::ColdUnhedged)) {
        let (with, without) = (ms(hedged.quantile(0.99)), ms(not.quantile(0.99)));
        let less = 100.0 * (1.0 - with / without);
        verdicts.push(Verdict {
            target: "classic 1, cold: hedging takes 25 % off p99 with 5 % more requests".to_owned(),
            measured: format!(
                "{less:.1} % ({without:.1} to {with:.1} ms) with {:.2} %",
                hedged.extra_percent
            ),
            is_met: less >= 25.0 && hedged.extra_percent <= 5.0,
        });
    }
    verdicts
}

fn find(rows: &[Row], state: State) -> Option<&Row> {
    rows.iter().find(|row| row.state == state)
}

fn at_most(verdicts: &mut Vec<Verdict>, rows: &[Row], name: &str, state: State, max_ms: f64) {
    if let Some(row) = find(rows, state) {
        let p50 = ms(row.quantile(0.5));
        verdicts.push(Verdict {
            target: format!("{name}, {}: p50 at most {max_ms:.0} ms", state.name()),
            measured: format!("{p50:.1} ms"),
            is_met: p50 <= max_ms,
        });
    }
}

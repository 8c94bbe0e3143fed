//! Latency of a search from an object store: exact, because the store and the clock are simulated.
//!
//! ```text
//!   Lab    an index in a folder, and an engine
//!   Host   a searcher of it, behind a simulated network, on a virtual clock     lab.rs
//!   Row    one query in one state of the caches, over many seeds                row.rs
//!   table, verdicts                                                             report.rs
//!   hedging over several sets of seeds                                          hedging.rs
//!   sweep over the gap that coalescing closes                                   sweep.rs
//! ```
//!
//! A seed determines one draw of the network's latencies, so the network time of a search is the
//! same on every machine. The CPU time is measured separately without a network, as the median of
//! some runs, and added to each: in one session, the guest computes only while no request is under
//! way, so both add up. Seeds therefore need no measurement of their own.

mod cache;
mod hedging;
mod lab;
mod report;
mod row;
mod settings;
mod sweep;

pub use hedging::{HedgingSet, hedging_table, measure_hedging};
pub use lab::{Host, Lab, Sample, Setup};
pub use report::{Verdict, latency_table, verdicts};
pub use row::{Row, State, measure_row, measure_rows};
pub use settings::LatencySettings;
pub use sweep::{SweepRow, sweep, sweep_table};

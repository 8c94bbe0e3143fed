//! Shared parts of the benches: an index in memory, queries, and measurements of their reads.
//!
//! `range_budget` counts waves, requests and bytes, which are the same on every machine; a test
//! pins them. `latency` adds exact times from a simulated store, and the measured CPU time of the
//! guest. `guest_cpu` measures guest time in both engines, `engines` compares the two over an index
//! of any size, and `instantiate` measures the start of an instance. `kernels` measures the loops
//! over packed numbers, and `formats` the parsing and ingest of each format.

mod budget;
mod cpu;
mod engine_queries;
mod engines;
mod index;
pub mod latency;
mod queries;
mod settings;

pub use budget::{Cost, measure, table};
pub use cpu::process_cpu_seconds;
pub use engine_queries::engine_queries;
pub use engines::{GuestTimes, measure_guest, times_table};
pub use index::{BenchIndex, open_index};
pub use queries::{Budget, Query, budget_queries, classic_queries, cpu_queries};
pub use settings::{SEED, Settings};

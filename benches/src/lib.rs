//! What the benches share: an index in memory, the queries that are measured, and what each reads.
//!
//! Seven things are measured. `range_budget` counts waves, requests and bytes, which are the same on every
//! machine; a test pins them. `latency` adds what a simulated store makes of them, exact as well, and the
//! time of the guest, which is not. `guest_cpu` takes that time in both engines, `engines` compares the two
//! over an index of any size, and `instantiate` takes that of a fresh instance. `kernels` takes that of the
//! loops over packed numbers, and `formats` that of reading and ingesting each format.

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

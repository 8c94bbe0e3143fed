//! What the benches share: an index in memory, the queries that are measured, and what each reads.
//!
//! Two things are measured. `range_budget` counts waves, requests and bytes, which are the same on every
//! machine; a test pins them. `guest_cpu` takes the time of the guest in both engines, which is not.

mod budget;
mod index;
mod queries;
mod settings;

pub use budget::{Cost, measure, table};
pub use index::BenchIndex;
pub use queries::{Budget, Query, budget_queries, cpu_queries};
pub use settings::{SEED, Settings};

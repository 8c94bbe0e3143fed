//! Observability of the host: spans, metrics and the `Server-Timing` header.

#![doc = include_str!("README.md")]

mod buckets;
mod metrics;
mod process;
pub(crate) mod profile;
mod query;
mod server_timing;
mod sources;
pub(crate) mod spans;
mod store;

pub use canter_stores::{redact, redact_urls};
pub use metrics::Metrics;
pub use server_timing::ServerTiming;

pub(crate) use metrics::OK;
pub(crate) use query::{Answered, observe_query};
pub(crate) use sources::SearcherSource;
pub(crate) use store::Observed;

#[cfg(test)]
pub(crate) mod tests;

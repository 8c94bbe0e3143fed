//! Canter on AWS Lambda: a function that searches, and one that indexes what arrives in a bucket.
//!
//! Both are native programs that speak the Lambda Runtime API. They hold no search logic and no
//! indexing logic: the one carries HTTP requests into [`canter_runtime::Searcher`] and its answers out,
//! the other carries the objects of S3 events into `canter_index_builder::ingest`.
//!
//! ```text
//!   function URL, API Gateway, ALB ─┐                 ┌─ memory ─ /tmp ─ S3
//!   direct invocation ──────────────┼─▶ search ─▶ Searcher
//!   a leaf of another search ───────┘                 └─ Invoke: leaves run in other instances
//!
//!   S3 event, EventBridge, direct ────▶ indexer ─▶ ingest ─▶ split ─▶ manifest (compare and swap)
//! ```

#[cfg(test)]
mod documents;
mod env;
mod invoke;
mod logs;
mod service;

pub mod indexer;
pub mod search;

pub use env::{ConfigError, Environment};
pub use service::{Served, serve};

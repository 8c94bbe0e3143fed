//! Canter on AWS Lambda: a function that searches, and one that indexes objects that arrive in a
//! bucket.
//!
//! Both are native programs that use the Lambda Runtime API. They contain no search and indexing
//! logic: one passes HTTP requests to [`canter_runtime::Searcher`] and returns its answers, the
//! other passes the objects of S3 events to `canter_index_builder::ingest`.
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

//! Pipelines that documents pass through before they are added: Elasticsearch's `_ingest/pipeline`.
//!
//! A pipeline is compiled once and run over one document at a time. It reads nothing else, and no I/O happens here. A
//! processor or an option that this crate does not know is an error that names it; nothing is guessed. What a run may use
//! is bounded (`limits`).
//!
//! ```text
//!   JSON ─▶ options ─▶ pipeline ─▶ processors ─┬─▶ fields, texts, dates, parts, control
//!                          │                   ├─▶ grok, dissect, java_dates
//!                          ▼                   └─▶ snippet, painless
//!                      engine ─▶ document: paths, metadata
//! ```

mod error;
mod limits;

mod document;
mod engine;
mod grok;
mod java_dates;
mod options;
mod pipeline;
mod processors;
mod snippet;

pub use document::{Document, Metadata};
pub use engine::{Outcome, Pipeline, Pipelines, Step, StepStatus};
pub use error::{ConfigError, Failure};
pub use grok::builtin_patterns;

#[cfg(test)]
mod tests;

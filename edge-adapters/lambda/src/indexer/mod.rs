//! Indexer function: converts objects that arrive in a bucket to splits of an index.
//!
//! ```text
//!   event.rs ──▶ object.rs ──▶ ingest (build, upload, publish) ──▶ report
//!   which objects  their bytes
//! ```
//!
//! Each object is a separate ingest, so that a repeated event finds its splits published: a split
//! is named by its bytes, and the same object results in the same bytes. Several instances can
//! publish to one index concurrently by compare-and-swap.

mod config;
mod event;
mod function;
mod object;

pub use config::IndexerConfig;
#[cfg(test)]
pub(crate) use config::VARIABLES;
pub use function::IndexerFunction;

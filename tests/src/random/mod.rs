//! Random requests against a plain scan over the documents.
//!
//! The scan is written from the documentation of the query language, of the tokenizers and of the
//! aggregations. It has no tantivy in it and nothing of the guest, so that a mistake is not made twice.
//!
//! ```text
//!   seed ─┬─ setup, documents ──┬── index builder ── splits ── engine ── answer ─┐
//!         │                     └── table (JSON values by field) ──┐             ├── the same?
//!         └─ requests ────────────────────────────────────────── scan ── truth ──┘
//! ```

mod aggregations;
mod bench;
mod dates;
mod documents;
mod dsl;
mod generate;
mod judge;
mod known;
mod order;
mod query;
mod request;
mod scan;
mod schema;
mod smaller;
mod stored;
mod table;
mod tokens;

pub use bench::{Engines, Finding, RandomBench, Tally};

//! Random requests compared with a plain scan of the documents.
//!
//! The scan follows the documentation of the query language, of the tokenizers and of the
//! aggregations. It uses neither tantivy nor the guest's code, so that it cannot repeat their
//! mistakes.
//!
//! ```text
//!   seed ─┬─ setup, documents ──┬── index builder ── splits ── engine ── answer ─┐
//!         │                     └── table (JSON values by field) ──┐             ├── the same?
//!         └─ requests ────────────────────────────────────────── scan ── truth ──┘
//! ```

mod aggregations;
mod asked;
mod bench;
mod dates;
mod documents;
mod extent;
mod findings;
mod schema;
mod stored;
mod truth;

pub use bench::{Engines, RandomBench};
pub use extent::{is_full, usual_or_full};
pub use findings::{Finding, Tally};

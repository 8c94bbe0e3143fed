//! Drawn mappings, documents and requests, compared with a plain scan that knows only what Elasticsearch's documentation
//! says of its field types.
//!
//! ```text
//!   seed ──▶ fields ──▶ mapping ───▶ index_config, Lane ──▶ splits ──▶ requests ──▶ answers
//!              │                        │ refused or not                              │ equal?
//!              └─────▶ documents ───────┴──▶ values of each field (truth) ────────────┘
//! ```
//!
//! `CANTER_MAPPINGS` is the number of indexes that are drawn, and `CANTER_MAPPINGS_SEED` the first seed.

mod documents;
mod fields;
mod hidden;
mod index;
mod requests;
mod run;
mod shown;
mod truth;

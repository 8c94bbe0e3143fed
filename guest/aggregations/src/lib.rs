//! Aggregations with Elasticsearch's JSON as input and output, computed over the columns of splits.
//!
//! This crate reads the columns of one split at a time, merges partial results, and writes the
//! answer. It performs no I/O and runs no queries: filters are given as sets of documents.
//!
//! ```text
//!   JSON ──▶ request ──▶ check ──▶ collect (a split) ──▶ partial ──▶ merge ──▶ respond ──▶ JSON
//!                                                                              └ pipeline, over finished buckets
//! ```
//!
//! Answers depend neither on the host nor on the order of documents or their division into splits:
//! keys and counts are integers, sums are exact and rounded once, sketches are functions of the set
//! of values, and every order has a final tie-breaker.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod calendar;
mod collect;
mod columns;
mod error;
mod key;
mod numbers;
mod partial;
mod pipeline;
mod request;
mod respond;
mod rollup;

pub use calendar::{format_date, resolve_date};
pub use collect::{
    BitSet, Collector, Columns, Objects, ObjectsWriter, Origin, Ranked, Split, column_handles,
};
pub use columns::FullColumn;
pub use error::{Error, Result};
pub use partial::{Merger, Partial};
pub use request::{
    Aggregations, Bounds, ListOf, ObjectList, PlacedFilter, WORDS, check_name, resolve_now,
};
pub use respond::{
    Answer, BackgroundAsk, Backgrounds, Dialect, HitValue, ShownHit, fill_hits, marked,
};
pub use rollup::FromHead;

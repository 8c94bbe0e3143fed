//! Canter's search engine: term queries, full text, sorting and aggregations over splits.
//!
//! This crate performs no I/O, reads no clock, starts no thread and draws no randomness. It names
//! the byte ranges that it needs and is resumed with them; the same request and the same bytes give
//! the same steps and the same response on every host, in whatever order the bytes arrive.
//!
//! Read in this order: [`session`] (how a host drives it), then the phases of a query: plan, split
//! (opening one), leaf, root; `api` is the entry point over HTTP.

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

mod api;
mod exchange;
mod leaf;
mod limits;
mod plan;
mod query;
mod request;
mod root;
mod search;
pub mod session;
mod split;

pub use api::{http_error, http_refusal};
pub use canter_protocol::{ErrorKind, SearchError};
pub use session::Session;
pub use split::partial_cache::version;

//! Elasticsearch's REST API, at the root and under `/api/v1/_elastic`.
//!
//! ```text
//!   path ──routes──▶ what is asked for ──body, sort──▶ the same search as any other ──▶ Elasticsearch's JSON
//! ```
//!
//! What a request may say is what is known here: a key or parameter that is not is refused by name, in
//! Elasticsearch's form of an error.

mod about;
mod body;
mod call;
mod errors;
mod names;
mod params;
mod read;
mod routes;
mod search;

pub(super) use call::ElasticCall;
pub(crate) use errors::to_elastic;
pub(super) use read::read_elastic;

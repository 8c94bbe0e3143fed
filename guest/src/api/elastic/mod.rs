//! Elasticsearch's REST API, at the root and under `/api/v1/_elastic`.
//!
//! ```text
//!   path ──routes──▶ what is asked for ──body, sort──▶ the same search as any other ──▶ Elasticsearch's JSON
//! ```
//!
//! Requests may only use what is known here: an unknown key or parameter is refused by name, in
//! Elasticsearch's error format.

mod about;
mod aggs;
mod call;
mod composed;
mod documents;
mod errors;
mod given;
mod listed;
mod read;
mod routes;
mod search;

pub(super) use call::ElasticCall;
pub(crate) use errors::to_elastic;
pub(super) use read::read_elastic;

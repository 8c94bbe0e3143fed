//! Elasticsearch's REST API, at the root and under `/api/v1/_elastic`.
//!
//! ```text
//!   path ──routes──▶ what is asked for ──body, sort──▶ the same search as any other ──▶ Elasticsearch's JSON
//! ```
//!
//! What a request may say is what is known here: a key or parameter that is not is refused by name, in
//! Elasticsearch's form of an error.

mod body;
mod call;
mod cluster;
mod dynamic;
mod errors;
mod fields;
mod many;
mod named;
mod params;
mod pit;
mod routes;
mod scroll;
mod shown;
mod sort;
mod table;

pub(super) use call::ElasticCall;
pub(crate) use errors::to_elastic;
pub(super) use routes::read_elastic;

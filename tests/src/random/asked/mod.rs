//! Requests: the queries, orders and aggregations that are drawn, their text, and smaller ones that fail alike.

pub(crate) mod dsl;
pub(crate) mod generate;
pub(crate) mod query;
pub(crate) mod request;
pub(crate) mod smaller;

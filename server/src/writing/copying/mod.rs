//! Elasticsearch's `_update_by_query`, and `_reindex` within a server: documents that a search finds are written again, page
//! by page, as a script and pipelines make them.

mod page;
mod request;
mod run;
mod what;

pub(super) use request::{max_docs, reindex, update_by_query};

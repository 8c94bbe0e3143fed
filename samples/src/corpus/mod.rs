//! Deterministic sample data: logs of any size from a seed, streamed, with no clock and no file.
//!
//! [`HdfsLogs`] has the shape of the classic log-search benchmark, [`HttpLogs`] that of web server
//! access logs. The same seed and number of documents give the same bytes on every machine: all
//! arithmetic uses integers and the random numbers come from this crate. A hash in the tests
//! ensures this, because benches and range budgets depend on it.
//!
//! This is not part of the data path: nothing that indexes depends on it.

mod hdfs_bodies;
mod hdfs_logs;
mod http_logs;
mod line;
mod rhythm;
mod stream;
#[cfg(test)]
mod tests;

pub use hdfs_logs::HdfsLogs;
pub use http_logs::HttpLogs;
pub use stream::{Corpus, CorpusReader, Lines};

/// Index config (YAML) for [`HdfsLogs`]: the shape of Quickwit's tutorial, with `severity_text`
/// and `tenant_id` as fast fields and the `resource` and `attributes` objects mapped.
pub const HDFS_LOGS_YAML: &str = include_str!("hdfs-logs.yaml");

/// Index config (YAML) for [`HttpLogs`].
pub const HTTP_LOGS_YAML: &str = include_str!("http-logs.yaml");

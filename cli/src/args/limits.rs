//! Limits of one search.

use canter_runtime::{Budget, Limits};
use clap::Args;

use super::amounts::parse_bytes;

/// Limits of one search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Time limit of the search in milliseconds. Shortly before it, the search stops reading and returns its results
    /// so far [default: 30000].
    #[arg(long, value_name = "MS")]
    deadline_ms: Option<u64>,

    /// Maximum number of requests to the store, including retries and hedges. When this, --max-bytes or --max-waves
    /// is used up, the search returns its results so far [default: no limit].
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,

    /// Maximum number of bytes read from the store, such as 50MB [default: no limit].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_bytes: Option<u64>,

    /// Maximum number of waves, which are successive rounds of requests to the store [default: no limit].
    #[arg(long, value_name = "N")]
    max_waves: Option<u64>,

    /// Maximum of start_offset + max_hits (`max_hits` in messages) [default: 10000].
    #[arg(long, value_name = "N")]
    max_result_window: Option<u64>,

    /// Maximum number of splits to open [default: 10000].
    #[arg(long, value_name = "N")]
    max_splits: Option<u64>,

    /// Maximum number of buckets that aggregations return [default: 65000].
    #[arg(long, value_name = "N")]
    max_buckets: Option<u64>,

    /// Maximum memory of aggregations [default: 500 MB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_aggregation_bytes: Option<u64>,

    /// Maximum number of documents to scan for fields without an index (strategy: none) [default: 1000000].
    #[arg(long, value_name = "N")]
    max_docs_scanned: Option<u64>,

    /// Maximum number of documents whose objects nested queries look at [default: 1000000].
    #[arg(long, value_name = "N")]
    max_docs_verified: Option<u64>,

    /// Maximum nesting depth of the query [default: 50].
    #[arg(long, value_name = "N")]
    max_query_depth: Option<u64>,

    /// Maximum number of terms and clauses in the query [default: 16384].
    #[arg(long, value_name = "N")]
    max_query_clauses: Option<u64>,

    /// Maximum length of the query [default: 1 MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_query_bytes: Option<u64>,

    /// Maximum size of the manifest [default: 64 MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_manifest_bytes: Option<u64>,

    /// Maximum number of requests in flight [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) max_concurrent_requests: Option<u16>,

    /// Maximum WebAssembly memory of one guest [default: 512 MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_memory_bytes: Option<u64>,
}

impl LimitArgs {
    /// Returns the maximum memory of one guest, if a limit was given.
    pub(crate) fn max_memory_bytes(&self) -> Option<usize> {
        let limit = self.max_memory_bytes?;
        Some(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// Returns the given limits; the guest has defaults for the others.
    pub(crate) fn of_search(&self) -> Limits {
        let given = [
            ("max_hits", self.max_result_window),
            ("max_splits", self.max_splits),
            ("max_buckets", self.max_buckets),
            ("max_aggregation_bytes", self.max_aggregation_bytes),
            ("max_docs_scanned", self.max_docs_scanned),
            ("max_docs_verified", self.max_docs_verified),
            ("max_query_depth", self.max_query_depth),
            ("max_query_clauses", self.max_query_clauses),
            ("max_query_bytes", self.max_query_bytes),
            ("max_manifest_bytes", self.max_manifest_bytes),
        ];
        let mut limits = Limits::default();
        limits.budget = Budget {
            max_requests: self.max_requests,
            max_bytes: self.max_bytes,
            max_waves: self.max_waves,
            deadline_ms: self.deadline_ms.or(limits.budget.deadline_ms),
        };
        limits.guest = given
            .into_iter()
            .filter_map(|(name, limit)| Some((name.to_owned(), limit?.into())))
            .collect();
        limits
    }
}

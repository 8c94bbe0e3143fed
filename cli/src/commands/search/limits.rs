//! What one search may take.

use canter_runtime::{Budget, Limits};
use clap::Args;

use crate::amounts::parse_bytes;

/// What one search may take.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Most milliseconds that the search takes. A little before, it stops reading and answers with what
    /// it has [default: 30000].
    #[arg(long, value_name = "MS")]
    deadline_ms: Option<u64>,

    /// Most requests to the store, repetitions and hedges included. When this or one of the next two is
    /// used up, the search answers with what it has [default: no limit].
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,

    /// Most bytes from the store, such as 50MB [default: no limit].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_bytes: Option<u64>,

    /// Most waves, which are rounds to the store one after the other [default: no limit].
    #[arg(long, value_name = "N")]
    max_waves: Option<u64>,

    /// Largest start_offset + max_hits (`max_hits` in messages) [default: 10000].
    #[arg(long, value_name = "N")]
    max_result_window: Option<u64>,

    /// Most splits that are opened [default: 10000].
    #[arg(long, value_name = "N")]
    max_splits: Option<u64>,

    /// Most buckets that aggregations return [default: 65000].
    #[arg(long, value_name = "N")]
    max_buckets: Option<u64>,

    /// Most memory that aggregations take [default: 500 MB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_aggregation_bytes: Option<u64>,

    /// Most documents that are looked at for fields that are not indexed (strategy: none) [default: 1000000].
    #[arg(long, value_name = "N")]
    max_docs_scanned: Option<u64>,

    /// Deepest nesting of the query [default: 50].
    #[arg(long, value_name = "N")]
    max_query_depth: Option<u64>,

    /// Most terms and clauses of the query [default: 1024].
    #[arg(long, value_name = "N")]
    max_query_clauses: Option<u64>,

    /// Longest query [default: 64 KiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_query_bytes: Option<u64>,

    /// Largest manifest [default: 64 MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_manifest_bytes: Option<u64>,

    /// Most requests in flight at once [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_concurrent_requests: Option<u16>,

    /// Most memory of one guest in WebAssembly [default: 512 MiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_memory_bytes: Option<u64>,
}

impl LimitArgs {
    /// Most memory of one guest, if a limit was given.
    pub(crate) fn max_memory_bytes(&self) -> Option<usize> {
        let limit = self.max_memory_bytes?;
        Some(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// The limits that were given; the guest knows the others' defaults.
    pub(crate) fn of_search(&self) -> Limits {
        let given = [
            ("max_hits", self.max_result_window),
            ("max_splits", self.max_splits),
            ("max_buckets", self.max_buckets),
            ("max_aggregation_bytes", self.max_aggregation_bytes),
            ("max_docs_scanned", self.max_docs_scanned),
            ("max_query_depth", self.max_query_depth),
            ("max_query_clauses", self.max_query_clauses),
            ("max_query_bytes", self.max_query_bytes),
            ("max_manifest_bytes", self.max_manifest_bytes),
        ];
        let mut limits = Limits::default();
        limits.deadline_ms = self.deadline_ms.unwrap_or(limits.deadline_ms);
        limits.budget = Budget {
            max_requests: self.max_requests,
            max_bytes: self.max_bytes,
            max_waves: self.max_waves,
        };
        limits.guest = given
            .into_iter()
            .filter_map(|(name, limit)| Some((name.to_owned(), limit?.into())))
            .collect();
        limits
    }
}

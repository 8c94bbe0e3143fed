//! The limits of one search, each with a default.

use canter_split_format::{MAX_MANIFEST_BYTES, MAX_SPLITS};
use serde::{Deserialize, Serialize};

/// Limits of one search. Unknown keys are refused by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// Maximum of `start_offset + max_hits`.
    pub(crate) max_hits: u64,
    /// Maximum number of splits that one search opens.
    pub(crate) max_splits: u64,
    /// Maximum number of buckets that aggregations return.
    pub(crate) max_buckets: u32,
    /// Maximum memory of aggregations, in bytes.
    pub(crate) max_aggregation_bytes: u64,
    /// Maximum nesting depth of a query.
    pub(crate) max_query_depth: usize,
    /// Maximum number of terms and clauses of a query.
    pub(crate) max_query_clauses: usize,
    /// Maximum length of a query string, in bytes.
    pub(crate) max_query_bytes: usize,
    /// Maximum number of bytes of splits that a leaf holds at once, as estimated before they are read: it opens and
    /// searches further splits after it has released the first ones.
    pub(crate) max_resident_bytes: u64,
    /// Maximum size of the manifest, in bytes.
    pub(crate) max_manifest_bytes: u64,
    /// Maximum number of documents that a leaf scans for fields that are not indexed.
    pub(crate) max_docs_scanned: u64,
    /// Maximum number of documents of which a leaf looks at the objects for nested queries.
    pub(crate) max_docs_verified: u64,
    /// Minimum number of documents of each leaf in a divided search: fewer are not worth an instance.
    pub(crate) min_docs_per_leaf: u64,
    /// True if the host stores partial results: it is asked for them before splits are read, and
    /// offered new ones afterwards.
    pub(crate) partial_result_cache: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_hits: 10_000,
            max_splits: MAX_SPLITS,
            max_buckets: 65_000,
            max_aggregation_bytes: 500_000_000,
            max_query_depth: 50,
            max_query_clauses: 16_384,
            max_query_bytes: 1 << 20,
            // Together with the other memory of a guest, it stays within the 128 MB of edge platforms.
            max_resident_bytes: 80 << 20,
            max_manifest_bytes: MAX_MANIFEST_BYTES,
            max_docs_scanned: 1_000_000,
            max_docs_verified: 1_000_000,
            min_docs_per_leaf: 500_000,
            partial_result_cache: false,
        }
    }
}

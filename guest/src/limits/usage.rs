//! The limits of one search, each with a default.

use canter_split_format::{MAX_MANIFEST_BYTES, MAX_SPLITS};
use serde::{Deserialize, Serialize};

use crate::SearchError;

/// Most of what one search may use. Unknown keys are refused by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// Largest `start_offset + max_hits`.
    pub(crate) max_hits: u64,
    /// Most splits that one search opens.
    pub(crate) max_splits: u64,
    /// Most buckets that aggregations return.
    pub(crate) max_buckets: u32,
    /// Most memory that aggregations take, in bytes.
    pub(crate) max_aggregation_bytes: u64,
    /// Deepest nesting of a query.
    pub(crate) max_query_depth: usize,
    /// Most terms and clauses of a query.
    pub(crate) max_query_clauses: usize,
    /// Longest query string, in bytes.
    pub(crate) max_query_bytes: usize,
    /// Most bytes of splits that a leaf holds at once, as far as can be told before they are read: what is more, it
    /// opens and searches when it has let go of the first.
    pub(crate) max_resident_bytes: u64,
    /// Largest manifest, in bytes.
    pub(crate) max_manifest_bytes: u64,
    /// Most documents that a leaf looks at for fields that are not indexed.
    pub(crate) max_docs_scanned: u64,
    /// A divided search gives each leaf at least so many documents: less is not worth an instance.
    pub(crate) min_docs_per_leaf: u64,
    /// Whether the host keeps what the guest computed: it is asked before splits are read, and offered
    /// the results afterwards.
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
            max_query_clauses: 1_024,
            max_query_bytes: 64 * 1024,
            // With what a guest needs besides, it stays within the 128 MB that edge platforms give.
            max_resident_bytes: 80 << 20,
            max_manifest_bytes: MAX_MANIFEST_BYTES,
            max_docs_scanned: 1_000_000,
            min_docs_per_leaf: 500_000,
            partial_result_cache: false,
        }
    }
}

impl Limits {
    /// Reads limits; an empty string stands for the defaults.
    ///
    /// # Errors
    /// If the text is no JSON object of known limits.
    pub(crate) fn parse(json: &str) -> Result<Self, SearchError> {
        if json.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(json).map_err(|error| SearchError::invalid(format!("limits: {error}")))
    }
}

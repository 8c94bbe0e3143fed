//! Limits of a request. Each is checked before anything is allocated, so that no number or list in
//! a request can exhaust the process.

use serde::{Deserialize, Serialize};

/// Maximum length of the name of a field or an aggregation, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 1_024;
/// Maximum number of aggregations in a request, including nested ones.
pub(crate) const MAX_AGGREGATIONS: usize = 100;
/// Maximum nesting depth of aggregations.
pub(crate) const MAX_DEPTH: usize = 10;
/// Maximum number of entries of a list in an aggregation: ranges, percentiles, terms to include.
pub(crate) const MAX_LIST_LEN: usize = 1_024;
/// Maximum number of filters of an `adjacency_matrix`, as in Elasticsearch.
pub(crate) const MAX_ADJACENT: usize = 100;
/// Maximum length of a regular expression in an aggregation, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 1_000;
/// Maximum number of hits that a `top_hits` shows in each bucket.
pub(crate) const MAX_TOP_HITS: u64 = 100;
/// Maximum number of buckets of an `auto_date_histogram`: a split keeps up to a few hundred times
/// as many.
pub(crate) const MAX_AUTO_BUCKETS: u64 = 1_000;
/// Maximum number of fields in the keys of a `composite` or a `multi_terms`.
pub(crate) const MAX_KEY_FIELDS: usize = 8;
/// Maximum `precision_threshold` of a `cardinality`, as in Elasticsearch.
pub(crate) const MAX_PRECISION_THRESHOLD: u64 = 40_000;
/// Maximum `max_doc_count` of a `rare_terms`, as in Elasticsearch.
pub(crate) const MAX_RARE_DOC_COUNT: u64 = 100;
/// Maximum absolute index of a histogram's bucket: beyond it, floating-point numbers cannot
/// distinguish neighbours.
pub(crate) const MAX_BUCKET_PLACE: f64 = 9_007_199_254_740_992.0;

/// Limits set by the host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Bounds {
    /// Maximum number of buckets in an answer.
    pub max_buckets: u32,
    /// Maximum memory in bytes of the aggregations of one split, or of their merge.
    pub max_bytes: u64,
    /// True if documents are hidden from the caller, so that nothing may be revealed about them.
    pub is_filtered: bool,
}

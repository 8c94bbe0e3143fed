//! Bounds of what a request may ask for: each is checked before anything is made for it, so that no number
//! and no list in a request can use up a process.

/// Longest name of a field or of an aggregation, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 1_024;
/// Most aggregations of a request, those inside others counted.
pub(crate) const MAX_AGGREGATIONS: usize = 100;
/// Deepest nesting of aggregations.
pub(crate) const MAX_DEPTH: usize = 10;
/// Most entries of a list in an aggregation: ranges, percentiles, terms to include.
pub(crate) const MAX_LIST_LEN: usize = 1_024;
/// Longest regular expression in an aggregation, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 1_000;
/// Most hits that a `top_hits` shows in each bucket.
pub(crate) const MAX_TOP_HITS: u64 = 100;
/// Most buckets that an `auto_date_histogram` is asked for: a split keeps up to a few hundred times as many.
pub(crate) const MAX_AUTO_BUCKETS: u64 = 1_000;
/// Most fields that the keys of a `composite` or a `multi_terms` are made of.
pub(crate) const MAX_KEY_FIELDS: usize = 8;
/// Largest `precision_threshold` of a `cardinality`, as in Elasticsearch.
pub(crate) const MAX_PRECISION_THRESHOLD: u64 = 40_000;
/// Largest `max_doc_count` of a `rare_terms`, as in Elasticsearch.
pub(crate) const MAX_RARE_DOC_COUNT: u64 = 100;
/// A place in the row of a histogram's buckets lies between this and its negative: beyond it, floating point
/// numbers no longer tell neighbours apart.
pub(crate) const MAX_BUCKET_PLACE: f64 = 9_007_199_254_740_992.0;

/// What the one who answers the request allows.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most buckets of an answer.
    pub max_buckets: u32,
    /// Most memory that the aggregations of one split, or their merge, take, in bytes.
    pub max_bytes: u64,
    /// Whether documents are hidden from the caller, of which nothing may be told.
    pub is_filtered: bool,
}

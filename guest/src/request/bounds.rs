//! Bounds of what a request may ask for, besides those that a host sets ([`super::Limits`]): each is checked
//! before anything is made for it, so that no number and no list in a request can use up a process.

/// Most names in `search_field`, and most in `snippet_fields`.
pub(crate) const MAX_FIELDS: usize = 100;
/// Longest name of a field or of an aggregation, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 1_024;
/// Most aggregations of a request, those inside others counted.
pub(crate) const MAX_AGGREGATIONS: usize = 100;
/// Deepest nesting of aggregations.
pub(crate) const MAX_AGGREGATION_DEPTH: usize = 10;
/// Most entries of a list in an aggregation: ranges, percentiles, terms to include.
pub(crate) const MAX_LIST_LEN: usize = 1_024;
/// Longest regular expression in an aggregation, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 1_000;
/// Most hits that a `top_hits` shows in each bucket.
pub(crate) const MAX_TOP_HITS: u64 = 100;
/// Most fields that the keys of a `composite` or a `multi_terms` are made of.
pub(crate) const MAX_KEY_FIELDS: usize = 8;
/// Largest `precision_threshold` of a `cardinality`, as in Elasticsearch.
pub(crate) const MAX_PRECISION_THRESHOLD: u64 = 40_000;
/// A place in the row of a histogram's buckets lies between this and its negative: beyond it, floating point
/// numbers no longer tell neighbours apart.
pub(crate) const MAX_BUCKET_PLACE: f64 = 9_007_199_254_740_992.0;

//! Pipeline aggregations: computed from the finished buckets of other aggregations, not from
//! documents.
//!
//! ```text
//!   request:   read ──▶ paths (targets of their paths) ──▶ order (dependencies)
//!   respond:   the buckets of an aggregation, with their sub-aggregations finished
//!                ──▶ apply: parent ones, over the row of buckets   derivative, bucket_script, bucket_sort, …
//!                           sibling ones, in each bucket           max_bucket, stats_bucket, …
//! ```
//! They read no columns and add nothing to partial results, so splits, leaves and merges ignore
//! them. Rows have the order in which they are shown: in descending order, a derivative runs from
//! the last bucket. Pipelines that remove buckets (`bucket_selector`, then `bucket_sort`) follow
//! all others of their level, so that a series does not depend on the order of keys in a request.

mod apply;
mod format;
mod lookup;
mod order;
mod paths;
mod read;
mod script;
mod series;
mod sibling;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use apply::{apply, apply_top};
pub(crate) use format::Format;
pub(crate) use order::check_place;
pub(crate) use paths::has_one_bucket;
pub(crate) use read::{Draft, read_level};
pub(crate) use types::{KINDS, Pipeline, is_kind};

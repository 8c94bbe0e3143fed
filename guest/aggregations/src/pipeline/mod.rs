//! Pipeline aggregations: computed from the finished buckets of others, not from documents.
//!
//! ```text
//!   request:   read ──▶ paths (what their paths lead to) ──▶ order (who waits for whom)
//!   respond:   the buckets of an aggregation, all that is inside of them made
//!                ──▶ apply: parent ones, over the row of buckets   derivative, bucket_script, bucket_sort, …
//!                           sibling ones, in each bucket           max_bucket, stats_bucket, …
//! ```
//!
//! They read no column and have no part in partial results: a split, a leaf and a merge do not know of them.
//! Rows are taken as they are shown: a histogram in descending order has its derivative from above. Those
//! that cut buckets (`bucket_selector`, then `bucket_sort`) come after all others of their level, so that
//! what a series is made of does not depend on the order of keys in a request.

mod apply;
mod format;
mod inputs;
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
pub(crate) use order::check_place;
pub(crate) use read::{Draft, KINDS, is_kind, read_level};
pub(crate) use types::Pipeline;

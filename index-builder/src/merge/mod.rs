//! Several splits into one.
//!
//! ```text
//!   split ─ fetch, verify ─┐
//!   split ─ fetch, verify ─┼─ order of documents ─ segment ─ packager ─▶ one split
//!   split ─ fetch, verify ─┘
//! ```
//!
//! [`merge_splits`] reads splits and gives the one that holds their documents; [`plan_merges`] says which to
//! merge. Neither writes to storage, and neither knows the manifest.

mod directory;
mod fields;
mod former;
mod input;
mod local_copy;
mod order;
mod policy;
mod run;
mod segment;

pub(crate) use former::num_fields_it_may_get;
pub use input::MergeInput;
pub use policy::{MergeCandidate, MergeLimits, MergeOperation, plan_merges};
pub use run::{MergeOptions, merge_splits};

//! Maintenance of an index: merges, deletions, garbage collection and verification.

pub(super) mod merge;
pub(super) mod upkeep;

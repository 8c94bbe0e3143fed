//! Keeping an index in order: splits are merged, what nothing refers to is removed, and what is
//! referred to is checked.

mod gc;
mod merge;
mod references;
mod verify;

pub use gc::{GcOptions, GcReport, collect_garbage};
pub use merge::{MergeDone, MergeIndexOptions, MergeReport, merge_index};
pub use verify::{Problem, VerifyOptions, VerifyReport, verify_index};

#[cfg(test)]
mod schedules;
#[cfg(test)]
mod tests;

//! Keeping an index in order: what nothing refers to is removed, and what is referred to is checked.

mod gc;
mod references;
mod verify;

pub use gc::{GcOptions, GcReport, collect_garbage};
pub use verify::{Problem, VerifyOptions, VerifyReport, verify_index};

#[cfg(test)]
mod tests;

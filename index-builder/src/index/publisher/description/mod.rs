//! What is said of a whole index: its statistics, and its documents over time.

mod histogram;
mod of_index;

pub use histogram::TimeHistogram;
pub use of_index::IndexDescription;

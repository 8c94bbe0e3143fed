//! The vectors of splits that are nearest to a query: which bytes to read, and what they say.
//!
//! ```text
//!   head          ranked clusters of each split ──▶ choice: the best of all splits
//!   first wave    clusters                      ──▶ scan: candidates, by what their codes say
//!   second wave   exact vectors                 ──▶ score: the candidates that are nearest
//! ```
//!
//! The crate performs no I/O: a caller asks where bytes are, and hands them in. Which documents count (a
//! filter, or deleted ones) is the caller's, and is asked before anything is ranked. Whatever the
//! division into splits, clusters and candidates are compared with those of all others.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod candidates;
mod choice;
mod search;

pub use candidates::{Candidate, Candidates};
pub use choice::{Choice, Effort, RankedCluster};
pub use search::{Nearest, Search};

#[cfg(test)]
mod tests;

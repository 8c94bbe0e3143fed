//! From the vectors of a field to the clusters that a split stores.
//!
//! ```text
//!   sample ──▶ k-means ──▶ every vector to its closest centroid ──▶ too large: divided    ──▶ order ──▶ codes
//!                                                                  too small: dissolved
//! ```
//!
//! The result is the same to the byte whatever the number of threads: starts are drawn from a seed, a
//! vector's cluster depends on that vector alone, and sums run in the order of vectors. Few vectors
//! are one cluster (a **flat** field), and very few have no codes.
//!
//! Merging keeps the clusters of the largest source, and assigns the vectors of others to them.
//!
//! The crate reads and writes no files, and answers no queries.

mod balance;
mod build;
mod centroids;
mod encode;
mod merge;
mod order;
mod parallel;
mod prepared;
mod random;
mod refine;

pub use build::{Options, Vectors, build};
pub use merge::{Source, merge};

#[cfg(test)]
mod tests;

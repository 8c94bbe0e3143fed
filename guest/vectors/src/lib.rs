//! Vectors: how alike two are, and codes of a few bits a dimension that estimate it.
//!
//! ```text
//!   vector ──▶ rotation ──▶ minus its centroid ──▶ code: 1, 2 or 4 bits a dimension, and two corrections
//!                                                    │
//!   query  ──▶ rotation ──▶ minus that centroid ──▶ whole numbers ──▶ inner product ──▶ closeness
//! ```
//!
//! The rotation is random but derives from a seed. It makes the coordinates of any vector look alike,
//! so that one grid fits all of them, and it makes the estimate **unbiased**: its mean over all
//! seeds is the true inner product. These are the codes of RaBitQ (Gao and Long, 2024, and its
//! extension to several bits).
//!
//! Every function gives the same bits natively and in WebAssembly: sums of floating-point numbers
//! have a fixed order ([`dot`]), nothing is fused, and only operations that IEEE 754 defines exactly
//! are used. The crate performs no I/O and knows neither splits nor queries.

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

mod kernels;
mod rotation;

mod codes;

mod element;
mod similarity;

#[cfg(test)]
mod tests;

pub use codes::{ClusterQuery, CodeWidth, Codes, Corrections, Encoder, Space};
pub use element::{Element, Problem};
pub use kernels::{closest, distance, dot, dot_bytes, hamming, squared_distance_bytes};
pub use rotation::Rotation;
pub use similarity::{ExactQuery, Similarity};

//! Blocks of 32 or 128 numbers, packed at the width of the largest.
//!
//! This crate implements the format of the crate of the same name, which tantivy uses for postings
//! and positions, and replaces it (`[patch.crates-io]`). The original has vectors on x86-64 and ARM
//! only, and a function for each width and kind of block: in WebAssembly it is either slow or 70
//! KB. This crate has vectors in WebAssembly too, unrolls only where it pays, and never panics on
//! damaged bytes: missing bytes count as zeros.
//!
//! Number `i` of a block is in lane `i % L` and round `i / L`, where `L` is 4 or 1. Each lane is a
//! bit stream of its own, lowest bits first, split into words of 32 bits:
//!
//! ```text
//!  word 0 of lane 0 │ word 0 of lane 1 │ … │ word 1 of lane 0 │ …        all little-endian
//!  └ round 0, 1, 2, … of the lane, at `width` bits each, from the lowest bit on
//! ```
//!
//! Sorted blocks are packed as differences from the previous number, strictly sorted ones as these
//! differences minus one. The meaning of the numbers does not matter here.

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

mod bit_packer;
mod deltas;
mod lanes;
mod pack;
mod packers;
mod unpack;

#[cfg(test)]
mod tests;

pub use bit_packer::BitPacker;
pub use packers::{BitPacker1x, BitPacker4x};

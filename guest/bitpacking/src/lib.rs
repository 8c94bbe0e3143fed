//! Blocks of 32 or 128 numbers, packed at the width of the greatest.
//!
//! This is the format of the crate of that name, which tantivy packs postings and positions with, and in whose place
//! this one stands (`[patch.crates-io]`). That one has vectors on x86-64 and ARM only, and a function for each width
//! and kind of block: in WebAssembly it is either slow or 70 KB. This one has vectors in WebAssembly too, unrolls what
//! pays alone, and reads bytes that do not fit without a panic: what is missing is zeros.
//!
//! Of a block, number `i` is in lane `i % L` and round `i / L`, where `L` is 4 or 1. Each lane is a stream of bits of
//! its own, lowest first, cut into words of 32 bits:
//!
//! ```text
//!  word 0 of lane 0 │ word 0 of lane 1 │ … │ word 1 of lane 0 │ …        all little-endian
//!  └ round 0, 1, 2, … of the lane, at `width` bits each, from the lowest bit on
//! ```
//!
//! Sorted blocks are packed as differences from the number before, strictly sorted ones as one less than that.
//! It knows nothing of what the numbers mean.

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

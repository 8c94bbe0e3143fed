//! HyperLogLog: the number of distinct values, in 2 KB.
//!
//! ```text
//!   value ── hash ──► coupon: 26 bits of slot, 6 bits of rank
//!
//!   few distinct coupons    stored individually, and counted
//!   more                    2^lg_k registers; register (slot mod 2^lg_k) keeps its highest rank
//! ```
//!
//! A rank of r is as rare as r - 1 leading zeros, 2^-r, so the highest ranks tell the number of
//! values. Both forms depend only on the set of coupons: any order of updates and merges gives the
//! same sketch.

mod estimate;
mod hash;
mod sketch;
mod wire;

use std::fmt;
use std::hash::Hash;

pub use sketch::{HllSketch, HllUnion, MAX_COUPONS};

/// Number of bits of a hash that select a slot, and the maximum of `lg_k`.
const SLOT_BITS: u32 = 26;
/// Number of bits of a hash whose leading zeros are counted.
const RANK_BITS: u32 = u64::BITS - SLOT_BITS;
/// Rank of a hash in which all these bits are zero.
const MAX_RANK: u8 = RANK_BITS as u8 + 1;

/// Storage of registers. Only one byte for each is supported; tantivy's calls require the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HllType {
    /// One byte for each register.
    Hll8,
}

/// Part of a value's hash that a sketch keeps: the slot in the low 26 bits, the rank (1 to 39)
/// above. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coupon(u32);

impl Coupon {
    /// Returns the coupon of a value. Equal values have equal coupons on every machine.
    pub fn from_value<T: Hash>(value: T) -> Self {
        let hash = hash::hash(value);
        let zeros = (hash >> SLOT_BITS << SLOT_BITS)
            .leading_zeros()
            .min(RANK_BITS);
        let slot = hash as u32 & ((1 << SLOT_BITS) - 1);
        Self((zeros + 1) << SLOT_BITS | slot)
    }

    fn slot(self, lg_k: u8) -> usize {
        self.0 as usize & ((1 << lg_k) - 1)
    }

    fn rank(self) -> u8 {
        (self.0 >> SLOT_BITS) as u8
    }

    /// Returns the coupon with these bits, if they are valid.
    fn from_bits(bits: u32) -> Option<Self> {
        let coupon = Self(bits);
        (1..=MAX_RANK).contains(&coupon.rank()).then_some(coupon)
    }
}

/// Error of creating or decoding a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// `lg_k` is not in 4 to 21.
    Size(u8),
    /// The bytes are no valid sketch.
    Damaged,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(lg_k) => write!(f, "a sketch has 2^4 to 2^21 registers, not 2^{lg_k}"),
            Self::Damaged => f.write_str("these bytes are no HyperLogLog sketch"),
        }
    }
}

impl std::error::Error for Error {}

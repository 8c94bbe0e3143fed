//! What codes are made of, and what they estimate.

use crate::kernels::{distance, dot};

/// Number of bits that a code has for each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeWidth {
    /// Signs.
    One,
    /// Two bits.
    Two,
    /// Four bits.
    Four,
}

impl CodeWidth {
    /// All widths.
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Four];

    /// Returns the width of a number of bits.
    pub fn of_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bits() == bits)
    }

    /// Returns the number of bits: 1, 2 or 4.
    pub fn bits(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// Returns the length of a code of a rotated vector in bytes.
    pub fn code_len(self, num_dims: usize) -> usize {
        let per_byte = match self {
            Self::One => 8,
            Self::Two => 4,
            Self::Four => 2,
        };
        num_dims / per_byte
    }

    /// Returns the greatest number of a dimension.
    pub(super) fn greatest(self) -> i16 {
        (1 << self.bits()) - 1
    }
}

/// What makes a vector close to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A small Euclidean distance.
    Distance,
    /// A large inner product; of vectors of length 1 that is the cosine.
    Product,
}

impl Space {
    /// Returns how close two vectors are: the negative square of their distance, or their inner product. What is not a
    /// number, as damaged vectors may have it, is as far away as can be: its sign would depend on the processor.
    pub fn closeness(self, one: &[f32], other: &[f32]) -> f32 {
        let closeness = match self {
            Self::Distance => -distance(one, other),
            Self::Product => dot(one, other),
        };
        match closeness.is_nan() {
            true => f32::NEG_INFINITY,
            false => closeness,
        }
    }
}

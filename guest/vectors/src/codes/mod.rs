//! Codes of vectors, and what they say of the closeness of a query.
//!
//! A code has a whole number `u` of 1, 2 or 4 bits for each dimension of a rotated residual `r`, the
//! vector minus its centroid `c`. It stands for the direction `x = u - (2^bits - 1) / 2`. For a query
//! `q`, `⟨r, q - c⟩` is estimated as `⟨x, q - c⟩ · ‖r‖² / ⟨x, r⟩`, which is unbiased because `x` is
//! projected onto `r`: the error is a component at right angles to `r`, in a random direction.
//!
//! ```text
//!   closeness   = base + offset + factor · ⟨x, q - c⟩
//!
//!                 base of the query   offset of the code   factor of the code
//!   distance      -‖q - c‖²           -‖r‖²                2 ‖r‖² / ⟨x, r⟩          the negative square of the distance
//!   product       ⟨q, c⟩              ⟨r, c⟩               ‖r‖² / ⟨x, r⟩            the inner product
//! ```
//!
//! A code is stored as its numbers, one after the other, lowest bits first.

mod encoder;
mod query;
mod width;

pub use encoder::{Corrections, Encoder};
pub use query::{ClusterQuery, Codes};
pub use width::{CodeWidth, Space};

/// Added to a number of up to 2^22 and subtracted again, it rounds the number to a whole one, ties to even.
const ROUNDING: f32 = 12_582_912.0;

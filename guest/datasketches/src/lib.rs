//! The sketch behind the `cardinality` aggregation, which replaces the crate of the same name.
//!
//! It has the part of that crate's interface that tantivy needs to compile, with a format of its
//! own. Answers must be the same bytes on every host, however documents are divided into splits:
//!
//! - A value has the same hash on processors of every width. The original hashes the length of a
//!   text as `usize`, so that a text gets another register on wasm32 than on a 64-bit machine.
//! - The estimate is a function of the values alone. The original estimates by the order of arrival
//!   if it saw every value, and by the registers after a merge, which gives two answers for one
//!   question.
//! - Up to [`hll::MAX_COUPONS`] distinct values are counted rather than estimated. The estimate
//!   beyond needs no tables, which do not compress and made up 4 % of the guest component.

pub mod hll;

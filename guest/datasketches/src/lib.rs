//! The sketch behind the `cardinality` aggregation, also in the place of the crate of this name.
//!
//! It has the part of that crate's interface that tantivy needs to compile, and not its format. It is here
//! because of what an answer must be: the same bytes on every host, however the documents are divided into
//! splits.
//!
//! - A value is hashed alike on processors of every width. The other crate hashes the length of a text as
//!   `usize`, so that a text lands in another register on wasm32 than on a 64-bit machine.
//! - The estimate is a function of the values alone. The other crate estimates by the order of arrival
//!   where it saw every value, and by the registers where sketches were merged: two answers for one question.
//! - Up to [`hll::MAX_COUPONS`] distinct values are counted rather than estimated, and the estimate beyond
//!   needs no tables, which do not compress and were 4 % of the guest component.

pub mod hll;

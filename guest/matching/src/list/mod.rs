//! Posting list: blocks of 128 documents, and a skip list with the end of each.

mod blocks;
mod check;
mod open;
mod walk;

#[cfg(test)]
mod tests;

pub use blocks::PostingList;
pub(crate) use blocks::{PositionStarts, Vints};
pub use check::check_postings;
pub use open::Recorded;
pub(crate) use open::read_vint;

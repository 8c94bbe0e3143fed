//! Searches: parsing of bodies and parameters, and running them.

mod highlight;
pub(super) mod many;
mod named;
pub(super) mod of_indexes;
mod order;
pub(super) mod pit;
pub(super) mod read;
pub(super) mod run;
pub(super) mod scroll;
mod shown;
mod sort;

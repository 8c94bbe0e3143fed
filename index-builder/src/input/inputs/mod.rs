//! Inputs: files, globs, folders, and objects of buckets → sources, ordered by name.
//!
//! It lists inputs without reading them. Paths are parsed here (dates, fields); contents are not.

mod bucket;
mod find;
mod folder;
mod path_date;
mod path_fields;
mod pattern;
#[cfg(test)]
mod tests;

pub use find::{FindOptions, FoundInputs, LeftOut, find_inputs};
pub use pattern::may_be_several;

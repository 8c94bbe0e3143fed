//! Which inputs there are: files, globs, folders, and what lies in buckets → sources, in the order of their names.
//!
//! It lists, and reads no input. What a path says (a day, fields) is read here; what an object holds is not.

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

//! What guest and hosts must understand alike: patterns of names (which indexes, fields and parts of an answer a text with
//! `*` in it means), which API a path belongs to, with the form of its errors, and how the JSON of a request is read.

mod api;
mod filter_path;
mod json;
mod list;
mod pattern;

pub use api::Api;
pub use filter_path::FilterPath;
pub use json::{JsonError, read_json};
pub use list::{Listed, MayBeAbsent, listed_names};
pub use pattern::{matches_any, matches_pattern};

//! What guest and hosts must understand alike: patterns of names (which indexes, fields and parts of an answer a text with
//! `*` in it means), and which API a path belongs to, with the form of its errors.

mod api;
mod filter_path;
mod list;
mod pattern;

pub use api::Api;
pub use filter_path::FilterPath;
pub use list::{MayBeAbsent, listed_names};
pub use pattern::{matches_any, matches_pattern};

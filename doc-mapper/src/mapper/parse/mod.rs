//! From a JSON line, or the members of a document, to an encoded document.

mod completions;
mod convert;
pub(super) mod json_value;
pub(super) mod leaf;
pub(super) mod members;
mod object;
pub(super) mod parse_json;
pub(super) mod parse_leaf;
mod places;
pub(super) mod presence;
pub(super) mod walk;

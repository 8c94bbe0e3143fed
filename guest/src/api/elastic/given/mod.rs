//! Parts of a request: its body, the parameters of its URL, and names of indexes.

pub(super) mod body;
pub(super) mod names;
pub(super) mod params;

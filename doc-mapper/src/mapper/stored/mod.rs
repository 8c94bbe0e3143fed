//! From stored documents back to JSON, and to terms.

pub(super) mod kept;
pub(super) mod objects;
pub(super) mod stored_terms;
pub(super) mod to_json;
pub(super) mod verbatim;

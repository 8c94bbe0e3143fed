//! Fields of a mapping, and dynamic templates, as fields of an index config.

pub(super) mod aliases;
pub(super) mod analysis;
pub(super) mod completion;
pub(super) mod copies;
pub(super) mod dates;
pub(super) mod detection;
pub(super) mod dynamic;
pub(super) mod field;
pub(super) mod multi_fields;
pub(super) mod properties;
pub(super) mod vectors;

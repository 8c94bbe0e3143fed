//! The format of a stream: the names of formats, their dialects, how they are recognised, and presets of index configs.

pub(super) mod dialect;
pub(super) mod format;
pub mod presets;
pub(super) mod recognise;
pub(super) mod tables;

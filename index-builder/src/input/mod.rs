//! Inputs: how they are found, read, and looked at before an index exists.

pub(super) mod inputs;
pub(super) mod preview;
pub(super) mod source;

//! The index in storage: its objects, its manifest, and the catalog of several indexes.

pub(super) mod catalog;
pub(super) mod publisher;
pub(super) mod storage;

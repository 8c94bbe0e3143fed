//! Answers about indexes, their fields and the cluster.

pub(super) mod cluster;
pub(super) mod dynamic;
pub(super) mod fields;
pub(super) mod table;

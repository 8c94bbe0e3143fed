//! Answers about indexes, their fields and the cluster.

pub(super) mod analyze;
pub(super) mod caps;
pub(super) mod cluster;
pub(super) mod dynamic;
pub(super) mod explained;
pub(super) mod fields;
pub(super) mod indexes;
pub(super) mod table;

//! From documents of many requests to one split: a lane for each index, whose thread publishes waiting documents.

mod arrival;
pub(crate) mod batch;
pub(crate) mod commit;
pub(crate) mod ids;
pub(crate) mod lane;
pub(crate) mod queue;
pub(crate) mod room;
mod sources;

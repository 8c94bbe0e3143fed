//! From documents of many requests to one split: a lane for each index, whose thread publishes waiting documents.

pub(crate) mod batch;
pub(crate) mod commit;
pub(crate) mod lane;
pub(crate) mod queue;
pub(crate) mod room;

//! `canter index …`: commands for an index.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod describe;
pub(crate) mod gc;
pub(crate) mod ingest;
pub(crate) mod merge;
pub(crate) mod reading;
pub(crate) mod suggest;
pub(crate) mod update;
pub(crate) mod verify;

#[cfg(feature = "serve")]
pub(crate) use delete::Lister;

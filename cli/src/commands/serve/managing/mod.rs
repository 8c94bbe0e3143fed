//! Indexes that come and go while the server runs, and the templates that they are made of: `--indexes-in`.
//!
//! The guest only searches, so these paths are this host's own. What a mapping means is known in `canter-intake`, and how
//! indexes lie under a root in the index builder's catalog; here is who may do it, and how it is answered.

mod answer;
mod args;
mod data_streams;
mod indexes;
mod names;
mod quickwit;
mod root;
mod routes;
mod templates;

pub(super) use answer::{MAX_MAPPING_BYTES, answer};
pub(super) use args::ManagingArgs;
pub(super) use root::Root;
pub(super) use routes::Manage;

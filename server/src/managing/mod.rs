//! Indexes that come and go while the server runs, and the templates that they are made of: `--indexes-in`.
//!
//! The guest only searches, so these paths are this host's own. What a mapping means is known in `canter-intake`, and how
//! indexes lie under a root in the index builder's catalog; here is who may do it, and how it is answered.

mod answer;
mod answered;
mod data_streams;
mod indexes;
mod quickwit;
mod routes;
mod templates;

pub(crate) use answer::{MAX_MAPPING_BYTES, answer};
pub(crate) use routes::Manage;

//! Indexes that are created and deleted while the server runs, and their templates: `--indexes-in`.
//!
//! The guest only searches, so this host implements these paths itself. `canter-intake` interprets mappings, and the
//! index builder's catalog stores the indexes under a root; this module checks permissions and answers. `tools` answers
//! what programs ask about a cluster of indexes, on servers that only search, too.

mod aliases;
mod answer;
mod answered;
mod cluster;
mod data_streams;
mod indexes;
mod pipelines;
mod quickwit;
mod routes;
mod templates;
mod tools;

pub(crate) use aliases::shown;
pub(crate) use answer::{MAX_MAPPING_BYTES, answer};
pub(crate) use routes::Manage;
pub(crate) use tools::{Asking, told};

//! `--writable`: documents come in over HTTP, and go out by a query.
//!
//! The guest only searches, so these paths are this host's own. What it takes it hands to `canter-intake`, which says
//! when it is safe and when it can be found.

mod adding;
mod bulk;
mod delete;
mod lines;
mod logs;
mod params;
mod problem;
mod routes;
mod writers;

pub(super) use params::Params;
pub(super) use problem::{Problem, fail, respond};
pub(super) use routes::Write;
pub(super) use writers::{Request, Writers, WritingArgs};

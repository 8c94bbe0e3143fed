//! `--writable`: documents come in over HTTP, and go out by a query.
//!
//! The guest only searches, so these paths are this host's own. What it takes it hands to `canter-intake`, which says
//! when it is safe and when it can be found.

mod adding;
mod answer;
mod bulk;
mod delete;
mod lines;
mod logs;
mod routes;

pub(crate) use answer::answer;
pub(crate) use routes::Write;

//! `--writable`: documents are added over HTTP, and deleted by a query.
//!
//! The guest only searches, so this host implements these paths itself. It passes documents to `canter-intake`, which
//! reports when they are durable and when they can be found.

mod adding;
mod answer;
mod bulk;
mod copying;
mod declaring;
mod delete;
mod lines;
mod logs;
mod routes;
mod scripts;

pub(crate) use answer::answer;
pub(crate) use routes::Write;
pub(crate) use scripts::check_script;

//! What tools ask a cluster for at their start, beyond searches: its state, nodes, tasks and policies, and tables for
//! people.
//!
//! ```text
//!   method and path ──asked──▶ Asked ──answers, tables──▶ JSON, or lines of text
//!                                          └── figures of indexes: the guest's `_stats`
//! ```
//!
//! There is one node, no task and no policy. Answers say only what is so: figures that are not known here are `-` or
//! absent, and a request that would claim a change that does not happen is refused by name.

mod answers;
mod asked;
mod figures;
mod nodes;
mod stored;
mod table;
mod tables;

pub(crate) use answers::{Asking, told};
pub(super) use table::shown_columns;

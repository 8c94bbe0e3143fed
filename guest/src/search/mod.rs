//! A search: manifests, plan, leaf, root, in one session or divided among several.
//!
//! ```text
//!   whole:    plan ──▶ leaf ──▶ root ──▶ answer
//!   divided:  plan ─┬▶ leaf ─┐
//!                   ├▶ leaf ─┼▶ root ──▶ answer
//!                   └▶ leaf ─┘
//! ```
//!
//! It is independent of HTTP and of the form of a request.

mod alike;
mod background;
mod divided;
mod errors;
mod explain;
mod nearest;
mod planning;
mod whole;
mod wire;

pub(crate) use divided::{Searched, run_leaf, run_plan, run_root};
pub(crate) use planning::no_index;
pub(crate) use whole::run_search;
pub(crate) use wire::{LeafRequest, RootRequest, partial_from_bytes};

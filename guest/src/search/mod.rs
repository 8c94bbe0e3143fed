//! A search: manifests, plan, leaf, root, in one session or divided among several.
//!
//! ```text
//!   whole:    plan ──▶ leaf ──▶ root ──▶ answer
//!   divided:  plan ─┬▶ leaf ─┐
//!                   ├▶ leaf ─┼▶ root ──▶ answer
//!                   └▶ leaf ─┘
//! ```
//!
//! It knows neither HTTP nor how a question came in.

mod explain;
mod run;
mod wire;

pub(crate) use run::{
    leaf as run_leaf, no_index, plan as run_plan, root as run_root, search as run_search,
};
pub(crate) use wire::{LeafRequest, RootRequest, partial_from_bytes};

//! The plan: the splits that a search must read, and the reasons for skipping the others.
//!
//! ```text
//!   manifest ──▶ newest splits ─────────────┐
//!            ──▶ pages ──prune──▶ splits ───┴─prune──▶ (count) ──▶ splits to look at
//!                      ──sums──▶ answered
//! ```

mod check;
mod count;
mod filters;
mod manifest;
mod pages;
mod prune;
mod search_plan;
mod several;

pub(crate) use check::check_query;
pub(crate) use manifest::{
    keep_manifest, pin_manifest, read_manifest, read_manifest_if_there, read_pinned,
};
pub(crate) use pages::newest_in_pages;
pub(crate) use prune::PruneReason;
pub(crate) use search_plan::{PlannedSplit, SearchPlan, Unopened, plan_search};

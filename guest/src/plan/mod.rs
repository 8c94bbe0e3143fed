//! The plan: which splits a search must look at, and why it need not look at the others.

mod manifest;
mod prune;

pub(crate) use manifest::read_manifest;
pub(crate) use prune::{PlannedSplit, PruneReason, SearchPlan, plan_search};

//! The traffic of one search: from a demand to its supplies.
//!
//! ```text
//!   demand ─┬─ stores ───→ cache
//!           ├─ lookups ──→ cache ──────────────────────────────────────────────→ supply
//!           ├─ manifest ─→ manifest keeper (cached, revalidated by ETag) ──────→ supply
//!           └─ reads ────→ cache ─ missing ─→ align ─→ join flights of others
//!                                             └─ rest ─→ coalesce ─→ cut ─→ fetch ─→ supply
//!
//!   fetch:  retry ─→ hedge ─→ gate (budget) ─→ permit ─→ store
//! ```
//!
//! `canter-waves` plans a demand; this folder executes the plan.
//!
//! The gate is the innermost layer, so that retries and hedges cost budget like any request. Flights
//! are shared by all searches of one searcher: a range that is on its way is waited for, not requested
//! again.

mod flights;
mod gate;
mod manifest;
mod namespaces;
mod observed;
mod search_io;
mod session_io;

pub use canter_waves::ManifestOptions;
pub(crate) use gate::{Gate, Gated};
pub(crate) use manifest::ManifestKeeper;
pub(crate) use namespaces::Namespaces;
pub(crate) use search_io::{SearchIo, SharedIo};
pub(crate) use session_io::{Answer, PlannedRequest, SessionIo};

#[cfg(test)]
mod tests;

//! The contract between guest and host, as plain Rust data: the demands of a session, the supplies of its host, and
//! the end of a session.
//!
//! ```text
//!   host ── step(supplies, report) ──▶ guest
//!   host ◀── demand, or the outcome ── guest
//! ```
//!
//! `wit/canter-search.wit` has the same types for a guest in WebAssembly; the two change together. Only the WIT boundary
//! translates between them. This crate performs no I/O and does not know what a split is.

mod budget;
mod class;
mod demand;
mod error;
mod http;
mod outcome;
mod supply;

pub use budget::Budget;
pub use class::ByteClass;
pub use demand::{CacheLookup, CacheStore, Demand, ReadRequest};
pub use error::{ErrorKind, SearchError};
pub use http::{HttpRequest, HttpResponse};
pub use outcome::{Outcome, Progress, QueryPlan};
pub use supply::{FetchErrorKind, HostReport, Supply, SupplyResult};

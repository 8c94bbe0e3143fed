//! Tables of routes: changes, with which requests are matched, and reads, which the guest answers. Both form
//! `/openapi.json`.
//!
//! A request that is not in the table of changes reads, and goes to the guest. `writing` and `managing` implement the
//! changes.
//!
//! ```text
//!   verb and path ─→ table ─→ rights, pages of other origins, longest body ─→ writing or managing
//!                      └────→ /openapi.json, tests, tests/golden/write_routes.txt (what other hosts refuse)
//! ```

mod documents;
mod indexes;
mod matching;
mod openapi;
mod param;
mod params;
mod pipelines;
mod reads;
mod table;
mod tools;

pub(crate) use matching::{Change, Matched, matching};
pub(crate) use openapi::document;
pub(crate) use table::CrossSite;

#[cfg(test)]
mod tests;

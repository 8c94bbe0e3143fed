//! Tables of routes: what may be changed, by which requests are matched, and what is read, which the guest answers. Both make
//! `/openapi.json`.
//!
//! What is not in the table of changes reads, and is the guest's. What a change does is in `writing` and `managing`.
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
mod reads;
mod table;

pub(crate) use matching::{Change, Matched, matching};
pub(crate) use openapi::document;
pub(crate) use table::CrossSite;

#[cfg(test)]
mod tests;

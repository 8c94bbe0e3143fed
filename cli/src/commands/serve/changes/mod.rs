//! What a request may change: one table of routes, from which requests are matched, `/openapi.json` is written, and tests are made.
//!
//! What is not in the table reads, and is the guest's. What a route does is in `writing` and `managing`.
//!
//! ```text
//!   verb and path ─→ table ─→ rights, pages of other origins, longest body ─→ writing or managing
//!                      └────→ /openapi.json, tests, tests/golden/write_routes.txt (what other hosts refuse)
//! ```

mod documents;
mod indexes;
mod table;

pub(super) use table::{ApiOf, Change, ChangeRoute, CrossSite, Matched, matching, rows};

#[cfg(test)]
mod tests;

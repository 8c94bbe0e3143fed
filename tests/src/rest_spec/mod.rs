//! The YAML tests of OpenSearch and Elasticsearch 7.10 against `canter serve`.
//!
//! ```text
//!   rest-api-spec (Maven) ─▶ suite ─▶ run ── api: a call as HTTP ──▶ server of one test
//!                                      └──── check: what came, against what the file expects
//! ```
//!
//! The files come from the artefacts `org.opensearch:rest-api-spec` and `org.elasticsearch:rest-api-spec`,
//! which `cargo xtask yaml-tests` unpacks below the target folder. Nothing of them is in this repository but
//! the names of the tests that fail, each with a reason (`tests/rest-spec`).

mod api;
mod check;
mod known;
mod run;
mod server;
mod suite;
mod yaml;

pub use api::Apis;
pub use known::Known;
pub use run::{Outcome, run_test};
pub use suite::{SUITES, Suite, Test, read_tests};

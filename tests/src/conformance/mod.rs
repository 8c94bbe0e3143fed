//! The conformance test: one list of requests, sent to every host over one store; every answer must be
//! the same bytes.
//!
//! ```text
//!   requests/*.toml ──▶ native engine ──▶ answers ◀── plain tantivy in RAM (the oracle)
//!          │                                 │
//!          ├──▶ host ──▶ answers ── equal? ──┤        every host reads the same loopback store,
//!          └──▶ host ──▶ answers ── equal? ──┘        which counts what it is asked for
//! ```
//!
//! Whether an answer is *right* is asked once, of the native engine. Of every other host it is asked
//! whether its answer is the *same*, byte for byte, but for the time taken and the profile. No test of
//! speed: times are shown and never judged.
//!
//! What an answer costs is compared too: with its caches off, a host asks the store exactly as often as
//! the native engine.

mod answers;
mod call;
mod check;
mod compare;
mod faults;
pub mod hosts;
mod living;
mod machine;
mod report;
mod requests;
mod run;
mod site;

pub use answers::{Answer, COMMAND_FAILED, HEADERS, comparable_bytes};
pub use call::{Call, encoded};
pub use check::Checker;
pub use machine::Machine;
pub use report::{HostReport, Measured, Verdict, markdown_table};
pub use requests::{Expectation, Request, read_requests};
pub use run::{Reference, classic_term_query, run_host, run_reference};
pub use site::{Layout, Reads, Site};

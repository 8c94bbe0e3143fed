//! Conformance test: one list of requests, sent to every host over one store; every answer must be
//! the same bytes.
//!
//! ```text
//!   requests/*.toml ──▶ native engine ──▶ answers ◀── plain tantivy in RAM (the oracle)
//!          │                                 │
//!          ├──▶ host ──▶ answers ── equal? ──┤        every host reads the same loopback store,
//!          └──▶ host ──▶ answers ── equal? ──┘        which counts the requests to it
//! ```
//!
//! Only the native engine's answers are checked for correctness. Every other host must give the
//! same answers byte for byte, except for the elapsed time and the profile. Speed is not tested:
//! times are shown and never judged.
//!
//! The cost of answers is compared too: with caches off, a host makes exactly the same requests to
//! the store as the native engine.

mod call;
mod faults;
pub mod hosts;
mod judge;
mod living;
mod machine;
mod report;
mod requests;
mod run;
mod site;

pub use call::{Call, encoded};
pub use judge::answers::{Answer, COMMAND_FAILED, HEADERS, comparable_bytes};
pub use judge::check::Checker;
pub use machine::Machine;
pub use report::{HostReport, Measured, Verdict, markdown_table};
pub use requests::{Expectation, Request, read_requests};
pub use run::{Extent, Reference, classic_term_query, run_host, run_host_to, run_reference};
pub use site::{Layout, Reads, Site};

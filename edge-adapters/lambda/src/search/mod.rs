//! Search function: converts events to requests of the search API, and answers to the form of the
//! events.
//!
//! ```text
//!   event.rs ──▶ access.rs ──▶ body.rs ──▶ Searcher::http ──▶ answer.rs
//!   its kind     permission    decoding    search             in the form of the event
//!            │                 of gzip                        ▲
//!            └──▶ page.rs ────────────────────────────────────┘
//! ```

mod access;
mod answer;
mod body;
mod config;
mod cors;
mod event;
mod function;
mod leaves;
mod page;

pub use config::SearchConfig;
#[cfg(test)]
pub(crate) use config::VARIABLES;
pub use function::SearchFunction;

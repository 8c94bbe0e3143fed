//! A session: one query, resumed step by step.
//!
//! ```text
//!              ┌───────────────────────── search ─────────────────────────┐
//!              │ plan ──▶ leaf ──▶ merge ──▶ fetch documents ──▶ response │
//!              └──────────────────────────────────────────────────────────┘
//!   fan-out:    plan ─┬▶ leaf ─┐
//!                     ├▶ leaf ─┼▶ root (merge, fetch documents) ──▶ response
//!                     └▶ leaf ─┘
//! ```
//!
//! An HTTP session is a request to the search API: it is parsed, and then becomes one of the above. Inside
//! it is ordinary `async` code. A step polls it once: everything that it then waits for is one wave.

mod door;

pub use crate::exchange::Interrupt;
pub use door::Session;

#[cfg(test)]
mod tests;

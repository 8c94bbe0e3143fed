//! `canter mcp`: a server of the Model Context Protocol on standard input and output, for programs that let a model
//! search.
//!
//! ```text
//!   client ──line──▶ transport ──▶ server ──▶ tools ─────────────▶ app ──▶ the search API, or a plan
//!          ◀──line──           ◀──        ◀── answer: notes, what was found, what it cost; of a bounded length
//! ```
//!
//! It only reads. Standard output carries nothing but the protocol.

mod answer;
mod app;
mod args;
mod lines;
mod run;
mod server;
mod shorten;
mod tools;
mod transport;

pub(crate) use args::McpArgs;
pub(crate) use run::run;

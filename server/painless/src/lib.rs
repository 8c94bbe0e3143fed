//! Scripts that change documents: the part of Elasticsearch's language Painless that updates are written in.
//!
//! A script sees `ctx` and `params`, and changes `ctx`. It reads nothing else, and the same input gives the same output.
//! Whatever this crate does not know is an error that names it and its place; nothing is guessed. What a script may use is
//! bounded (`limits`): it ends, and it takes little memory.
//!
//! ```text
//!   text ─▶ lexer ─▶ parse: names, types ─▶ ast ─▶ run ─┬─▶ numbers, convert
//!                                                       ├─▶ calls: texts, lists, maps, streams, statics
//!                                            ctx as JSON ┴─▶ heap ─▶ json ─▶ ctx as JSON
//! ```
//!
//! It is no complete Painless: there are no functions, classes, arrays, characters, dates, regular expressions or
//! exceptions. Types are checked when a script runs, and not before.

mod error;
mod limits;

mod ast;
mod calls;
mod json;
mod lexer;
mod parse;
mod run;
mod script;
mod values;

pub use error::ScriptError;
pub use limits::{MAX_SCRIPT_BYTES, MAX_STEPS};
pub use script::Script;

//! Patterns of log messages: what the statement of a program says, without the values that it writes.
//!
//! ```text
//!   Received block blk_38 of size 9 from /10.0.0.1  ──pattern_of──▶  Received block <*> of size <*> from <*>
//!
//!   session opened for root by cron ┐
//!   session opened for eve by cron  ├──merged──▶  session opened for <*> by cron
//!   … three more names              ┘
//! ```
//!
//! A pattern is a function of one text, so that a text has the same pattern in every split. What patterns have in
//! common is judged when all of them are known. Both are chosen by the measure of the log-parsing benchmark
//! (`https://github.com/logpai/loghub`): the share of lines whose group has exactly the lines of their statement.

mod merged;
mod pattern;

pub use merged::merged;
pub use pattern::{SLOT, pattern_of, words_of};

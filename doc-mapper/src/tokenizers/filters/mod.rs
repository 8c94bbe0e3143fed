//! Filters of tokens that a config names, and the grams that a tokenizer cuts. Those that change letters are in
//! `custom.rs`, since they apply to patterns, too.

mod porter;
mod step;

pub(super) use step::Step;

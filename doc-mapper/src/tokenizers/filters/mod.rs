//! Filters of tokens that a config names, and the grams that a tokenizer cuts. Those that change letters are in
//! `custom.rs`, since they apply to patterns, too.

mod porter;
mod step;
mod stop_words;

pub(super) use step::Step;
pub(super) use stop_words::WithoutStopWords;

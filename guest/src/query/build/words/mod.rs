//! Texts that a tokenizer splits into words: in any number and order, or at positions that have a relation.

mod alike;
mod analyzers;
mod matching;
mod positional;

pub(crate) use alike::{no_words, word_term, words_in};
pub(super) use analyzers::of_grams;
pub(crate) use analyzers::{named_in, tokenizer_named};
pub(super) use matching::so_many_of;
pub(super) use positional::text_term;

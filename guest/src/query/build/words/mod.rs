//! Texts that a tokenizer splits into words: in any number and order, or at positions that have a relation.

mod alike;
mod analyzers;
mod edges;
mod matching;
mod positional;
mod ways;

pub(crate) use alike::{no_words, word_term, words_in};
pub(crate) use analyzers::{named_in, tokenizer_named};
pub(super) use edges::{edges_of, terms_of};
pub(super) use matching::so_many_of;
pub(super) use positional::text_term;

//! Filters of characters before a text is cut, and of the tokens behind it. Those that change letters are in `custom.rs`,
//! since they apply to patterns, too.

mod chars;
mod delimiter;
mod english;
mod html;
mod several;
mod stems;
mod step;
mod synonyms;
#[cfg(test)]
mod tests;

pub(super) use chars::{Changer, ChangingTokenizer, Replacement};
pub(super) use english::EnglishStemmer;
pub(super) use several::folded;
pub(super) use step::{Ready, Step};
pub(super) use synonyms::Synonyms;

//! Definitions of tokenizers and normalizers in an index config.

mod chars;
mod cut;
mod filters;
mod normalizer;
mod written;

pub use chars::CharFilter;
pub(crate) use cut::CHAR_KINDS;
pub use cut::{CharKind, CustomTokenizer, TokenizerCut};
pub use filters::{
    Delimiter, Grams, Paths, Shingles, Stem, StemBut, SynonymRules, TokenizerFilter,
};
pub(crate) use filters::{FILTERS, STEMS, STOP_WORDS};
pub(crate) use normalizer::NORMALIZERS;
pub use normalizer::Normalizer;

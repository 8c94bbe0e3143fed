//! Normalizers in an index config: what they make of the text of a fast field.

use super::filters::TokenizerFilter;

/// Conversion of text for a fast field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalizer {
    /// Unchanged.
    Raw,
    /// Lowercased.
    Lowercase,
    /// Letters folded to ASCII.
    AsciiFolding,
    /// Lowercased, and folded to ASCII.
    Folded,
    /// The pattern of a log message: its values are left out.
    Pattern,
}

/// Normalizers, by name.
pub(crate) const NORMALIZERS: [(&str, Normalizer); 5] = [
    ("raw", Normalizer::Raw),
    ("lowercase", Normalizer::Lowercase),
    ("ascii_folding", Normalizer::AsciiFolding),
    ("folded", Normalizer::Folded),
    ("pattern", Normalizer::Pattern),
];

impl Normalizer {
    /// Returns the name in an index config. Splits use another name: see `super::of_column`.
    pub fn name(self) -> &'static str {
        let found = NORMALIZERS
            .iter()
            .find(|(_, normalizer)| *normalizer == self);
        found.map_or("", |(name, _)| *name)
    }

    pub(crate) fn filters(self) -> &'static [TokenizerFilter] {
        match self {
            Normalizer::Raw => &[],
            Normalizer::Lowercase => &[TokenizerFilter::LowerCaser],
            Normalizer::AsciiFolding => &[TokenizerFilter::AsciiFolding],
            Normalizer::Folded => &[TokenizerFilter::LowerCaser, TokenizerFilter::AsciiFolding],
            Normalizer::Pattern => &[TokenizerFilter::Pattern],
        }
    }
}

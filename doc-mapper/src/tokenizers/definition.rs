//! Definitions of tokenizers and normalizers in an index config.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub(crate) const FILTERS: [(&str, TokenizerFilter); 3] = [
    ("remove_long", TokenizerFilter::RemoveLong),
    ("lower_caser", TokenizerFilter::LowerCaser),
    ("ascii_folding", TokenizerFilter::AsciiFolding),
];

/// Tokenizer defined in a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomTokenizer {
    /// Name for use in fields.
    pub name: String,
    /// Splitting of text.
    pub cut: TokenizerCut,
    /// Filters of tokens, in order.
    pub filters: Vec<TokenizerFilter>,
}

/// Splitting of text into tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenizerCut {
    /// `simple`: splits at white space and punctuation.
    Simple,
    /// `source_code`: splits there, between letters and digits, and before capitals that start a
    /// word.
    SourceCode,
    /// `ngram`: every run of a number of characters.
    Ngram {
        /// Minimum number of characters in a token.
        min_gram: usize,
        /// Maximum number of characters in a token.
        max_gram: usize,
        /// True if only runs at the start of the text count.
        prefix_only: bool,
    },
    /// `regex`: the matches of a pattern, from left to right.
    Regex {
        /// Pattern, in the syntax of the `regex` crate.
        pattern: String,
    },
}

/// Filter of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerFilter {
    /// `remove_long`: drops tokens of more than 255 bytes.
    RemoveLong,
    /// `lower_caser`.
    LowerCaser,
    /// `ascii_folding`: `é` becomes `e`.
    AsciiFolding,
}

/// Conversion of text for a fast field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalizer {
    /// Unchanged.
    Raw,
    /// Lowercased.
    Lowercase,
}

impl Normalizer {
    /// Returns the name in an index config. Splits use another name: see `super::of_column`.
    pub fn name(self) -> &'static str {
        match self {
            Normalizer::Raw => "raw",
            Normalizer::Lowercase => "lowercase",
        }
    }
}

impl TokenizerFilter {
    /// Returns the name in a config.
    pub fn name(self) -> &'static str {
        let found = FILTERS.iter().find(|(_, filter)| *filter == self);
        found.map_or("", |(name, _)| *name)
    }
}

impl Serialize for CustomTokenizer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        let type_name = match &self.cut {
            TokenizerCut::Simple => "simple",
            TokenizerCut::SourceCode => "source_code",
            TokenizerCut::Ngram { .. } => "ngram",
            TokenizerCut::Regex { .. } => "regex",
        };
        map.serialize_entry("type", type_name)?;
        match &self.cut {
            TokenizerCut::Simple | TokenizerCut::SourceCode => {}
            TokenizerCut::Ngram {
                min_gram,
                max_gram,
                prefix_only,
            } => {
                map.serialize_entry("min_gram", min_gram)?;
                map.serialize_entry("max_gram", max_gram)?;
                map.serialize_entry("prefix_only", prefix_only)?;
            }
            TokenizerCut::Regex { pattern } => map.serialize_entry("pattern", pattern)?,
        }
        let filters: Vec<&str> = self.filters.iter().map(|filter| filter.name()).collect();
        map.serialize_entry("filters", &filters)?;
        map.end()
    }
}

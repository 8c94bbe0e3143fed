//! Definitions of tokenizers and normalizers in an index config.

use std::ops::Range;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Words that Lucene leaves out of English text, sorted.
pub(crate) const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// Filters without options, by name. Of several names the first is written.
pub(crate) const FILTERS: [(&str, TokenizerFilter); 10] = [
    ("remove_long", TokenizerFilter::RemoveLong),
    ("lower_caser", TokenizerFilter::LowerCaser),
    ("ascii_folding", TokenizerFilter::AsciiFolding),
    // Elasticsearch's names of both.
    ("lowercase", TokenizerFilter::LowerCaser),
    ("asciifolding", TokenizerFilter::AsciiFolding),
    ("trim", TokenizerFilter::Trim),
    ("unique", TokenizerFilter::Unique),
    ("log_pattern", TokenizerFilter::Pattern),
    ("porter_stem", TokenizerFilter::Stem(Stem::Porter)),
    ("snowball", TokenizerFilter::Stem(Stem::English)),
];

/// Languages of the filter `stemmer`. Of several names the first is written.
pub(crate) const STEMS: [(&str, Stem); 4] = [
    ("english", Stem::Porter),
    ("porter", Stem::Porter),
    ("porter2", Stem::English),
    ("possessive_english", Stem::Possessive),
];

/// Kinds of characters in `token_chars`.
pub(crate) const CHAR_KINDS: [(&str, CharKind); 5] = [
    ("letter", CharKind::Letter),
    ("digit", CharKind::Digit),
    ("whitespace", CharKind::Whitespace),
    ("punctuation", CharKind::Punctuation),
    ("symbol", CharKind::Symbol),
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
    /// `whitespace`: splits at white space.
    Whitespace,
    /// `keyword`: does not split.
    Whole,
    /// `standard`: splits between the words of Unicode.
    Standard,
    /// `letter`: splits at everything but letters.
    Letters,
    /// `grams`: grams of runs of characters, each with a position of its own.
    Grams {
        /// Grams of a run.
        grams: Grams,
        /// Kinds of characters of a run; the whole text is one without any.
        token_chars: Vec<CharKind>,
    },
}

/// Grams of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grams {
    /// Minimum number of characters.
    pub min_gram: usize,
    /// Maximum number of characters.
    pub max_gram: usize,
    /// True if only grams at the start count.
    pub prefix_only: bool,
    /// True if a token that is shorter or longer than a gram is kept beside them.
    pub preserve_original: bool,
    /// True if each gram has a position; they have that of their token otherwise.
    pub has_positions: bool,
}

impl Grams {
    /// Returns the places of the grams of a token, in reverse.
    pub(crate) fn places_in(&self, token: &str) -> Vec<Range<usize>> {
        let ends = token.char_indices().map(|(at, _)| at).skip(1);
        let ends: Vec<usize> = [0].into_iter().chain(ends).chain([token.len()]).collect();
        // The empty token has a start and an end, too.
        let num_chars = match token.is_empty() {
            true => 0,
            false => ends.len() - 1,
        };
        let num_starts = match self.prefix_only {
            true => num_chars.min(1),
            false => num_chars,
        };
        let mut places = Vec::new();
        for start in 0..num_starts {
            for len in self.min_gram..=self.max_gram {
                let end = start.checked_add(len).and_then(|end| ends.get(end));
                let (Some(from), Some(to)) = (ends.get(start), end) else {
                    break;
                };
                places.push(*from..*to);
            }
        }
        let has_itself = (self.min_gram..=self.max_gram).contains(&num_chars);
        if self.preserve_original && !has_itself && num_chars > 0 {
            places.push(0..token.len());
        }
        places.reverse();
        places
    }
}

/// Kind of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharKind {
    /// Letters of all scripts.
    Letter,
    /// Digits of all scripts.
    Digit,
    /// White space.
    Whitespace,
    /// Punctuation of ASCII but for symbols, and general punctuation.
    Punctuation,
    /// Symbols such as `$` and `√`.
    Symbol,
}

impl CharKind {
    /// Returns whether a character is of this kind.
    pub(crate) fn has(self, char: char) -> bool {
        let is_symbol = matches!(char, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
            || matches!(char, '\u{a2}'..='\u{a6}' | '\u{a8}' | '\u{a9}' | '\u{ac}' | '\u{ae}'..='\u{b1}')
            || matches!(
                char,
                '\u{b4}' | '\u{b8}' | '\u{d7}' | '\u{f7}' | '\u{20a0}'..='\u{2bff}'
            );
        match self {
            Self::Letter => char.is_alphabetic(),
            Self::Digit => char.is_numeric(),
            Self::Whitespace => char.is_whitespace(),
            Self::Symbol => is_symbol,
            Self::Punctuation => {
                let is_general = matches!(
                    char,
                    '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
                ) || matches!(char, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}');
                (char.is_ascii_punctuation() && !is_symbol) || is_general
            }
        }
    }

    pub(crate) fn name(self) -> &'static str {
        let found = CHAR_KINDS.iter().find(|(_, kind)| *kind == self);
        found.map_or("", |(name, _)| *name)
    }
}

/// Reduction of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stem {
    /// Porter's stemmer.
    Porter,
    /// Snowball's English stemmer, which is Porter's second.
    English,
    /// Drops `'s` at the end.
    Possessive,
}

/// Filter of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenizerFilter {
    /// `remove_long`: drops tokens of more than 255 bytes.
    RemoveLong,
    /// `lower_caser`.
    LowerCaser,
    /// `ascii_folding`: `é` becomes `e`.
    AsciiFolding,
    /// `trim`: drops white space at both ends.
    Trim,
    /// `unique`: drops tokens that came before.
    Unique,
    /// `stemmer`.
    Stem(Stem),
    /// `stop`: drops words.
    Stop {
        /// Words, sorted; lowercase if case is ignored.
        words: Vec<String>,
        /// True if words are dropped in any case.
        ignores_case: bool,
    },
    /// `length`: drops tokens with another number of UTF-16 code units.
    Length {
        /// Minimum.
        min: usize,
        /// Maximum.
        max: usize,
    },
    /// `ngram` and `edge_ngram`: grams of each token, at its position.
    Grams(Grams),
    /// `log_pattern`: a message becomes the pattern of its statement.
    Pattern,
}

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

impl Serialize for TokenizerFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let named = FILTERS.iter().find(|(_, filter)| filter == self);
        if let Some((name, _)) = named {
            return serializer.serialize_str(name);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Stem(stem) => {
                let language = STEMS.iter().find(|(_, own)| own == stem);
                map.serialize_entry("type", "stemmer")?;
                map.serialize_entry("language", language.map_or("", |(name, _)| *name))?;
            }
            Self::Stop {
                words,
                ignores_case,
            } => {
                map.serialize_entry("type", "stop")?;
                map.serialize_entry("stopwords", words)?;
                map.serialize_entry("ignore_case", ignores_case)?;
            }
            Self::Length { min, max } => {
                map.serialize_entry("type", "length")?;
                map.serialize_entry("min", min)?;
                map.serialize_entry("max", max)?;
            }
            Self::Grams(grams) => {
                map.serialize_entry("type", grams.type_name())?;
                grams.serialize_options(&mut map)?;
                map.serialize_entry("preserve_original", &grams.preserve_original)?;
            }
            // Those without options are among the named ones.
            _ => {}
        }
        map.end()
    }
}

impl Grams {
    fn type_name(&self) -> &'static str {
        match self.prefix_only {
            true => "edge_ngram",
            false => "ngram",
        }
    }

    fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        map.serialize_entry("min_gram", &self.min_gram)?;
        map.serialize_entry("max_gram", &self.max_gram)
    }
}

impl TokenizerCut {
    /// Returns the type in a config.
    fn type_name(&self) -> &'static str {
        match self {
            TokenizerCut::Simple => "simple",
            TokenizerCut::SourceCode => "source_code",
            TokenizerCut::Ngram { .. } => "ngram",
            TokenizerCut::Regex { .. } => "regex",
            TokenizerCut::Whitespace => "whitespace",
            TokenizerCut::Whole => "keyword",
            TokenizerCut::Standard => "standard",
            TokenizerCut::Letters => "letter",
            TokenizerCut::Grams { .. } => "grams",
        }
    }
}

impl Serialize for CustomTokenizer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("type", self.cut.type_name())?;
        match &self.cut {
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
            TokenizerCut::Grams { grams, token_chars } => {
                grams.serialize_options(&mut map)?;
                map.serialize_entry("prefix_only", &grams.prefix_only)?;
                let kinds: Vec<&str> = token_chars.iter().map(|kind| kind.name()).collect();
                map.serialize_entry("token_chars", &kinds)?;
            }
            TokenizerCut::Simple
            | TokenizerCut::SourceCode
            | TokenizerCut::Whitespace
            | TokenizerCut::Whole
            | TokenizerCut::Standard
            | TokenizerCut::Letters => {}
        }
        map.serialize_entry("filters", &self.filters)?;
        map.end()
    }
}

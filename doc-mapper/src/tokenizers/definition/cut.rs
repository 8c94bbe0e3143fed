//! Tokenizers in an index config: how they split text.

use super::chars::CharFilter;
use super::filters::{Grams, Paths, TokenizerFilter};

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
    /// What a text becomes before it is split, in order.
    pub char_filters: Vec<CharFilter>,
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
    /// `path_hierarchy`: a path and its parents.
    Paths(Paths),
    /// `grams`: grams of runs of characters, each with a position of its own.
    Grams {
        /// Grams of a run.
        grams: Grams,
        /// Kinds of characters of a run; the whole text is one without any.
        token_chars: Vec<CharKind>,
    },
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

//! Filters of tokens in an index config.

use std::ops::Range;

/// Words that Lucene leaves out of English text, sorted.
pub(crate) const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// Filters without options, by name. Of several names the first is written.
pub(crate) const FILTERS: [(&str, TokenizerFilter); 15] = [
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
    ("reverse", TokenizerFilter::Reverse),
    ("folded_beside", TokenizerFilter::FoldedBeside),
    ("uppercase", TokenizerFilter::Uppercase),
    ("apostrophe", TokenizerFilter::Apostrophe),
    ("remove_duplicates", TokenizerFilter::Distinct),
];

/// Languages of the filter `stemmer`. Of several names the first is written.
pub(crate) const STEMS: [(&str, Stem); 15] = [
    ("english", Stem::Porter),
    ("porter", Stem::Porter),
    ("porter2", Stem::English),
    ("possessive_english", Stem::Possessive),
    ("german_normalization", Stem::GermanLetters),
    ("light_german", Stem::LightGerman),
    ("light_french", Stem::LightFrench),
    ("light_spanish", Stem::LightSpanish),
    ("light_italian", Stem::LightItalian),
    ("light_portuguese", Stem::LightPortuguese),
    ("russian", Stem::Russian),
    ("swedish", Stem::Swedish),
    ("danish", Stem::Danish),
    ("norwegian", Stem::Norwegian),
    ("dutch", Stem::Dutch),
];

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

/// Reduction of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stem {
    /// Porter's stemmer.
    Porter,
    /// Snowball's English stemmer, which is Porter's second.
    English,
    /// Drops `'s` at the end.
    Possessive,
    /// Writes `ä` and `ae` as `a`, and the like.
    GermanLetters,
    /// The light stemmer of German.
    LightGerman,
    /// The light stemmer of French.
    LightFrench,
    /// The light stemmer of Spanish.
    LightSpanish,
    /// The light stemmer of Italian.
    LightItalian,
    /// The light stemmer of Portuguese.
    LightPortuguese,
    /// Snowball's stemmer of Russian.
    Russian,
    /// Snowball's stemmer of Swedish.
    Swedish,
    /// Snowball's stemmer of Danish.
    Danish,
    /// Snowball's stemmer of Norwegian.
    Norwegian,
    /// Snowball's stemmer of Dutch after Porter.
    Dutch,
}

/// Reduction of words with exceptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StemBut {
    /// Reduction of all other words.
    pub stem: Stem,
    /// Words with a stem of their own, sorted, and these.
    pub overrides: Vec<(String, String)>,
    /// True if a word stays at the position of its stem.
    pub is_beside: bool,
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
    /// `stemmer` with `overrides` or `preserve_original`.
    StemBut(StemBut),
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
    /// `reverse`: the characters from the last to the first.
    Reverse,
    /// `uppercase`.
    Uppercase,
    /// `apostrophe`: drops an apostrophe and all behind it.
    Apostrophe,
    /// `remove_duplicates`: drops tokens that came before at their position.
    Distinct,
    /// `keep`: drops all words but these.
    Keep {
        /// Words, sorted; lowercase if case is ignored.
        words: Vec<String>,
        /// True if words are kept in any case.
        ignores_case: bool,
    },
    /// `elision`: drops articles with an apostrophe, in any case.
    Elision {
        /// Articles, lowercase and sorted.
        articles: Vec<String>,
    },
    /// `pattern_replace`.
    Replace {
        /// Pattern, as of a filter of characters.
        pattern: String,
        /// Replacement, as there.
        replacement: String,
    },
    /// `truncate`: no more than a number of characters.
    Truncate {
        /// Maximum length.
        length: usize,
    },
    /// `limit`: drops all tokens behind a number of them.
    Limit {
        /// Number of tokens that stay.
        count: usize,
    },
    /// `folded_beside`: as `ascii_folding`, and the token as it is at the same position.
    FoldedBeside,
    /// `synonym` and `synonym_graph`.
    Synonyms(SynonymRules),
    /// `shingle`.
    Shingles(Shingles),
    /// `word_delimiter_graph`.
    Delimiter(Delimiter),
    /// The parents of a path, at its position.
    Paths(Paths),
}

impl TokenizerFilter {
    /// Returns whether it makes several tokens at one position.
    pub(crate) fn has_alternatives(&self) -> bool {
        match self {
            Self::Grams(_) | Self::Synonyms(_) | Self::FoldedBeside | Self::Paths(_) => true,
            Self::StemBut(stems) => stems.is_beside,
            Self::Shingles(shingles) => shingles.has_words || shingles.min < shingles.max,
            Self::Delimiter(options) => {
                options.joins_words
                    || options.joins_numbers
                    || options.joins_all
                    || options.preserve_original
            }
            _ => false,
        }
    }
}

/// Rules of synonyms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynonymRules {
    /// Rules in Solr's format.
    pub rules: Vec<String>,
    /// True if each of several words becomes all of them; the first of them otherwise.
    pub expands: bool,
    /// True if words of several have positions of their own.
    pub is_graph: bool,
    /// True if rules that cannot be used are left out.
    pub is_lenient: bool,
}

/// Neighbouring tokens, joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingles {
    /// Minimum number of tokens.
    pub min: usize,
    /// Maximum number of tokens.
    pub max: usize,
    /// True if the tokens themselves stay.
    pub has_words: bool,
    /// True if a token stays that has no neighbour.
    pub has_words_alone: bool,
    /// What stands between two.
    pub separator: String,
    /// What stands for a token that was dropped.
    pub filler: String,
}

/// Division of tokens such as `Wi-Fi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiter {
    /// `generate_word_parts`.
    pub has_words: bool,
    /// `generate_number_parts`.
    pub has_numbers: bool,
    /// `catenate_words`.
    pub joins_words: bool,
    /// `catenate_numbers`.
    pub joins_numbers: bool,
    /// `catenate_all`.
    pub joins_all: bool,
    /// `preserve_original`.
    pub preserve_original: bool,
    /// `split_on_case_change`.
    pub splits_on_case: bool,
    /// `split_on_numerics`.
    pub splits_on_numerics: bool,
    /// `stem_english_possessive`.
    pub drops_possessive: bool,
    /// `protected_words`, sorted.
    pub protected: Vec<String>,
}

/// Parents of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paths {
    /// What stands between its parts.
    pub delimiter: char,
    /// What stands between them in tokens.
    pub replacement: char,
    /// Number of parts that are left out.
    pub skip: usize,
    /// True if the ends of the path are its tokens.
    pub is_reverse: bool,
}

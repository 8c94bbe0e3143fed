//! Tokenizers according to their documentation: split a text into words with their positions.

/// Tokenizer of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokenizer {
    /// Keeps the whole value.
    Raw,
    /// Keeps the whole value, lowercased.
    Lowercase,
    /// Splits at everything but letters and digits, and lowercases.
    Default,
    /// Splits at white space.
    Whitespace,
}

/// Maximum length of a word in bytes; `whitespace` keeps longer ones.
const LONGEST: usize = 255;
/// Maximum length in bytes of a whole value that is a term.
const LONGEST_VALUE: usize = 32_766;
/// Maximum length in bytes of a term of any kind.
pub(crate) const LONGEST_TERM: usize = 65_526;

/// Lowercases character by character: the result for a letter does not depend on its neighbours.
pub(crate) fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Maximum length in bytes of a text in a column.
const LONGEST_IN_COLUMN: usize = 65_535;

/// Returns the prefix of a text that a column keeps, cut between characters.
pub(crate) fn in_column(text: &str) -> String {
    let mut kept = String::new();
    for letter in text.chars() {
        if kept.len() + letter.len_utf8() > LONGEST_IN_COLUMN {
            break;
        }
        kept.push(letter);
    }
    kept
}

impl Tokenizer {
    pub(crate) fn lowercases(self) -> bool {
        matches!(self, Self::Lowercase | Self::Default)
    }

    /// Normalizes a word of a query that is not tokenized.
    pub(crate) fn fold(self, text: &str) -> String {
        match self.lowercases() {
            true => lower(text),
            false => text.to_owned(),
        }
    }

    /// Returns the number of positions between the values of a list.
    pub(crate) fn gap(self) -> u32 {
        match self {
            Self::Raw | Self::Lowercase => 1,
            Self::Default | Self::Whitespace => 100,
        }
    }

    /// Returns the tokens and their positions. The position of a dropped token stays unused.
    pub(crate) fn cut(self, text: &str) -> Vec<(u32, String)> {
        let words: Vec<&str> = match self {
            Self::Raw | Self::Lowercase => vec![text],
            Self::Default => text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect(),
            Self::Whitespace => text.split_ascii_whitespace().collect(),
        };
        (0..)
            .zip(words)
            .filter_map(|(position, word)| {
                let folded = self.fold(word);
                let is_kept = match self {
                    Self::Whitespace => true,
                    Self::Default => word.len() <= LONGEST,
                    Self::Raw | Self::Lowercase => word.len() <= LONGEST_VALUE,
                };
                is_kept.then_some((position, folded))
            })
            .collect()
    }
}

//! The tokenizers, from their documentation: text → words with their positions.

/// How a field cuts text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tokenizer {
    /// The whole value.
    Raw,
    /// The whole value, lowercased.
    Lowercase,
    /// At whatever is no letter or digit, lowercased.
    Default,
    /// At white space.
    Whitespace,
}

/// Tokens of more bytes are dropped by all but `whitespace`.
const LONGEST: usize = 255;
/// No term of any kind is longer.
pub(super) const LONGEST_TERM: usize = 65_526;

/// Letter by letter: what a letter becomes does not depend on its neighbours.
pub(super) fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// A column keeps this much of a text.
const LONGEST_IN_COLUMN: usize = 65_535;

/// What a column keeps of a text: whole characters.
pub(super) fn in_column(text: &str) -> String {
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
    pub(super) fn lowercases(self) -> bool {
        matches!(self, Self::Lowercase | Self::Default)
    }

    /// What a word of a query becomes if it is no text to be cut.
    pub(super) fn fold(self, text: &str) -> String {
        match self.lowercases() {
            true => lower(text),
            false => text.to_owned(),
        }
    }

    /// Returns the tokens and their positions. A dropped token leaves its position empty.
    pub(super) fn cut(self, text: &str) -> Vec<(u32, String)> {
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
                // The whole value is measured as it is indexed, words as they stand in the text.
                let len = match self {
                    Self::Whitespace => 0,
                    Self::Default => word.len(),
                    Self::Raw | Self::Lowercase => folded.len(),
                };
                (len <= LONGEST).then_some((position, folded))
            })
            .collect()
    }
}

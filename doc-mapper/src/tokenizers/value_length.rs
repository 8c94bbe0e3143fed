//! Maximum length of whole values: `ignore_above` of a field.
//!
//! A longer value is dropped rather than truncated, so that it is neither a term nor in a column. Where words are looked for
//! in whole values, a value that is too long for a term is several instead, so that each of its words is in one.

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

use super::{MAX_COLUMN_TEXT_BYTES, MAX_VALUE_BYTES};

/// Returns whether a value is too long for a field with this limit, in UTF-16 code units as in
/// Elasticsearch.
pub(crate) fn is_too_long(value: &str, limit: u32) -> bool {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // A character has at least as many bytes as code units.
    value.len() > limit && value.encode_utf16().nth(limit).is_some()
}

/// Filter that drops tokens of more than this number of UTF-16 code units.
#[derive(Clone, Copy)]
pub(super) struct AtMost(pub(super) u32);

impl TokenFilter for AtMost {
    type Tokenizer<T: Tokenizer> = AtMostTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> AtMostTokenizer<T> {
        AtMostTokenizer {
            inner: tokenizer,
            limit: self.0,
        }
    }
}

#[derive(Clone)]
pub(super) struct AtMostTokenizer<T> {
    inner: T,
    limit: u32,
}

impl<T: Tokenizer> Tokenizer for AtMostTokenizer<T> {
    type TokenStream<'a> = AtMostTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        AtMostTokens {
            inner: self.inner.token_stream(text),
            limit: self.limit,
        }
    }
}

pub(super) struct AtMostTokens<T> {
    inner: T,
    limit: u32,
}

impl<T: TokenStream> TokenStream for AtMostTokens<T> {
    fn advance(&mut self) -> bool {
        while self.inner.advance() {
            if !is_too_long(&self.inner.token().text, self.limit) {
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.inner.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.inner.token_mut()
    }
}

/// Tokenizer that keeps a value whole, or cuts it between words into pieces that may be terms.
#[derive(Clone, Default)]
pub(super) struct PieceTokenizer {
    token: Token,
    /// Values of up to this number of bytes have no terms, if it is set.
    longer_than: Option<usize>,
}

impl PieceTokenizer {
    /// Creates a tokenizer of values that are too long for a column.
    pub(super) fn of_long() -> Self {
        Self {
            token: Token::default(),
            longer_than: Some(MAX_COLUMN_TEXT_BYTES),
        }
    }
}

pub(super) struct Pieces<'a> {
    text: &'a str,
    token: &'a mut Token,
    is_first: bool,
}

impl Tokenizer for PieceTokenizer {
    type TokenStream<'a> = Pieces<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Pieces<'a> {
        self.token.reset();
        let is_left_out = self.longer_than.is_some_and(|most| text.len() <= most);
        Pieces {
            text: if is_left_out { "" } else { text },
            token: &mut self.token,
            is_first: !is_left_out,
        }
    }
}

impl TokenStream for Pieces<'_> {
    fn advance(&mut self) -> bool {
        let start = match self.is_first {
            true => 0,
            false => self.token.offset_to,
        };
        // An empty value is a term, too.
        if !self.is_first && start >= self.text.len() {
            return false;
        }
        self.is_first = false;
        let rest = self.text.get(start..).unwrap_or_default();
        let piece = rest.get(..end_of_piece(rest)).unwrap_or(rest);
        self.token.offset_from = start;
        self.token.offset_to = start + piece.len();
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        self.token.text.push_str(piece);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Returns the length of the longest piece at the beginning of a text that ends between two words, or else between two
/// characters of a word that is too long for any dictionary.
fn end_of_piece(text: &str) -> usize {
    if text.len() <= MAX_VALUE_BYTES {
        return text.len();
    }
    let longest = text.floor_char_boundary(MAX_VALUE_BYTES);
    let within = text.get(..longest).unwrap_or_default();
    let last_gap = within.rfind(|c: char| !c.is_alphanumeric());
    last_gap.filter(|end| *end > 0).unwrap_or(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        pieces_by(PieceTokenizer::default(), text)
    }

    fn pieces_by(mut tokenizer: PieceTokenizer, text: &str) -> Vec<String> {
        let mut stream = tokenizer.token_stream(text);
        let mut pieces = Vec::new();
        stream.process(&mut |token| pieces.push(token.text.clone()));
        pieces
    }

    #[test]
    fn long_values_are_cut_between_words_and_nothing_is_lost() {
        for text in ["", "a", "two words", " ", "ä"] {
            assert_eq!(pieces(text), [text]);
        }
        let long = "Some wörds ".repeat(10_000);
        let cut = pieces(&long);
        assert_eq!(cut.concat(), long);
        assert!(cut.iter().all(|piece| piece.len() <= MAX_VALUE_BYTES));
        let words = cut.iter().flat_map(|piece| piece.split_whitespace());
        assert!(words.eq(long.split_whitespace()));
        // One word that no dictionary has.
        let word = "ü".repeat(40_000);
        assert_eq!(pieces(&word).concat(), word);
    }

    #[test]
    fn a_column_has_what_is_not_long() {
        let of_long = |text: &str| pieces_by(PieceTokenizer::of_long(), text);
        for text in ["", "a", &"b ".repeat(MAX_COLUMN_TEXT_BYTES / 2)] {
            assert!(of_long(text).is_empty());
        }
        let long = "b ".repeat(MAX_COLUMN_TEXT_BYTES / 2 + 1);
        assert_eq!(of_long(&long).concat(), long);
    }

    #[test]
    fn values_are_measured_in_code_units() {
        for (value, limit, expect) in [
            ("", 0, false),
            ("a", 0, true),
            ("abc", 3, false),
            ("abcd", 3, true),
            ("äöü", 3, false),
            ("😀😀", 4, false),
            ("😀😀", 3, true),
        ] {
            assert_eq!(is_too_long(value, limit), expect, "{value} {limit}");
        }
    }
}

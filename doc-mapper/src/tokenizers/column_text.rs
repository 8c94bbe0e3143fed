//! How much of a text a column keeps.
//!
//! tantivy collects the texts of a column in pages that give a text 16 bits for its length, and cuts a longer one
//! where that ends, in the middle of a character if need be: the split then cannot be sorted or aggregated by the
//! column. So it is cut here first, where a character ends.

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

/// Of a longer text, a column keeps the beginning.
pub const MAX_COLUMN_TEXT_BYTES: usize = 65_535;

/// What a column keeps of a text: what ranges, orders and aggregations see.
pub fn column_text(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_COLUMN_TEXT_BYTES);
    text.get(..end).unwrap_or(text)
}

/// Cuts tokens to what a column keeps.
#[derive(Clone, Copy)]
pub(super) struct Shorten;

impl TokenFilter for Shorten {
    type Tokenizer<T: Tokenizer> = ShortenedTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> ShortenedTokenizer<T> {
        ShortenedTokenizer(tokenizer)
    }
}

#[derive(Clone)]
pub(super) struct ShortenedTokenizer<T>(T);

impl<T: Tokenizer> Tokenizer for ShortenedTokenizer<T> {
    type TokenStream<'a> = ShortenedTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        ShortenedTokens(self.0.token_stream(text))
    }
}

pub(super) struct ShortenedTokens<T>(T);

impl<T: TokenStream> TokenStream for ShortenedTokens<T> {
    fn advance(&mut self) -> bool {
        if !self.0.advance() {
            return false;
        }
        let token = self.0.token_mut();
        let len = column_text(&token.text).len();
        token.text.truncate(len);
        true
    }

    fn token(&self) -> &Token {
        self.0.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.0.token_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_where_a_character_ends() {
        let check = |text: String, expect: usize| assert_eq!(column_text(&text).len(), expect);
        check("x".repeat(65_535), 65_535);
        check("x".repeat(65_536), 65_535);
        check("\u{e9}".repeat(40_000), 65_534);
        check(String::new(), 0);
    }
}

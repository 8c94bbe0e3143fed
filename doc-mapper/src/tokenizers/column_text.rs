//! Maximum length of text in a column.
//!
//! tantivy collects a column's texts in pages with 16-bit lengths, and truncates longer ones even
//! inside a character. Such a split can no longer be sorted or aggregated by the column. Texts are
//! therefore truncated here first, at a character boundary.

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

/// Maximum length of a text in a column, in bytes; longer ones are truncated.
pub const MAX_COLUMN_TEXT_BYTES: usize = 65_535;

/// Returns the part of a text that a column contains, for ranges, sorting and aggregations.
pub fn column_text(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_COLUMN_TEXT_BYTES);
    text.get(..end).unwrap_or(text)
}

/// Filter that truncates tokens to the maximum length in a column.
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

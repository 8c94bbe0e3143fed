//! Maximum length of whole values: `ignore_above` of a field.
//!
//! A longer value is dropped rather than truncated, so that it is neither a term nor in a column.

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

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

#[cfg(test)]
mod tests {
    use super::*;

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

//! Distance between the values of a list, so that phrases do not reach from one into the next: that of
//! Elasticsearch's `position_increment_gap`.
//!
//! tantivy begins a value one position behind the end of the one before. The last word of a value is therefore
//! said to be as long as the distance.

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

/// Number of positions between the last word of a value and the first of the next.
pub(super) const GAP: usize = 100;

/// Returns the number of positions of a word, of which the last word of a value says more.
pub fn length_of(token: &Token) -> usize {
    (token.position_length + 1).saturating_sub(GAP).max(1)
}

/// Filter that keeps values apart.
#[derive(Clone, Copy)]
pub(super) struct Apart;

impl TokenFilter for Apart {
    type Tokenizer<T: Tokenizer> = ApartTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> ApartTokenizer<T> {
        ApartTokenizer(tokenizer)
    }
}

#[derive(Clone)]
pub(super) struct ApartTokenizer<T>(T);

impl<T: Tokenizer> Tokenizer for ApartTokenizer<T> {
    type TokenStream<'a> = ApartTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        ApartTokens(self.0.token_stream(text))
    }
}

pub(super) struct ApartTokens<T>(T);

impl<T: TokenStream> TokenStream for ApartTokens<T> {
    fn advance(&mut self) -> bool {
        if !self.0.advance() {
            return false;
        }
        // A word of synonyms may be longer than one; other tokenizers leave what was written here.
        let token = self.0.token_mut();
        if token.position_length < GAP {
            token.position_length += GAP - 1;
        }
        true
    }

    fn token(&self) -> &Token {
        self.0.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.0.token_mut()
    }
}

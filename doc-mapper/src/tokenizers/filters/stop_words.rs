//! Drops frequent English words, as Elasticsearch's `stop` and `english` analyzers do.

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

use crate::tokenizers::definition::STOP_WORDS;

/// Filter that drops frequent English words, which must be lowercase. The others keep their positions.
#[derive(Clone, Copy)]
pub(in crate::tokenizers) struct WithoutStopWords;

impl TokenFilter for WithoutStopWords {
    type Tokenizer<T: Tokenizer> = StoppedTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> StoppedTokenizer<T> {
        StoppedTokenizer(tokenizer)
    }
}

#[derive(Clone)]
pub(in crate::tokenizers) struct StoppedTokenizer<T>(T);

impl<T: Tokenizer> Tokenizer for StoppedTokenizer<T> {
    type TokenStream<'a> = StoppedTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StoppedTokens(self.0.token_stream(text))
    }
}

pub(in crate::tokenizers) struct StoppedTokens<T>(T);

impl<T: TokenStream> TokenStream for StoppedTokens<T> {
    fn advance(&mut self) -> bool {
        while self.0.advance() {
            if STOP_WORDS
                .binary_search(&self.0.token().text.as_str())
                .is_err()
            {
                return true;
            }
        }
        false
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
    use crate::tokenizers::runs::RunTokenizer;

    #[test]
    fn frequent_words_are_sorted_and_leave_their_places() {
        assert!(STOP_WORDS.is_sorted());
        let mut tokenizer = WithoutStopWords.transform(RunTokenizer::letters());
        let mut tokens = Vec::new();
        tokenizer
            .token_stream("the disk_is2full of logs")
            .process(&mut |token| tokens.push((token.position, token.text.clone())));
        let expect = [(1, "disk"), (3, "full"), (5, "logs")];
        assert_eq!(tokens, expect.map(|(at, word)| (at, word.to_owned())));
    }
}

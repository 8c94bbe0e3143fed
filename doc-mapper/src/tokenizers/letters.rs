//! Cuts text at everything that is no letter, and drops frequent English words: Elasticsearch's `simple` and
//! `stop` analyzers.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

use super::definition::STOP_WORDS;

#[derive(Clone, Default)]
pub(super) struct LetterTokenizer(Token);

impl Tokenizer for LetterTokenizer {
    type TokenStream<'a> = Letters<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Letters<'a> {
        self.0.reset();
        Letters {
            text,
            chars: text.char_indices().peekable(),
            token: &mut self.0,
        }
    }
}

pub(super) struct Letters<'a> {
    text: &'a str,
    /// What stands behind the token.
    chars: Peekable<CharIndices<'a>>,
    token: &'a mut Token,
}

impl TokenStream for Letters<'_> {
    fn advance(&mut self) -> bool {
        let Some((start, _)) = self.chars.find(|(_, char)| char.is_alphabetic()) else {
            return false;
        };
        let is_letter = |(_, char): &(usize, char)| char.is_alphabetic();
        while self.chars.next_if(is_letter).is_some() {}
        let end = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        set_next(self.token, self.text, start..end);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Filter that drops frequent English words, which must be lowercase. The others keep their positions.
#[derive(Clone, Copy)]
pub(super) struct WithoutStopWords;

impl TokenFilter for WithoutStopWords {
    type Tokenizer<T: Tokenizer> = StoppedTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> StoppedTokenizer<T> {
        StoppedTokenizer(tokenizer)
    }
}

#[derive(Clone)]
pub(super) struct StoppedTokenizer<T>(T);

impl<T: Tokenizer> Tokenizer for StoppedTokenizer<T> {
    type TokenStream<'a> = StoppedTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StoppedTokens(self.0.token_stream(text))
    }
}

pub(super) struct StoppedTokens<T>(T);

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

/// Replaces a token by the next one: the bytes of this range of `text`.
pub(in crate::tokenizers) fn set_next(token: &mut Token, text: &str, range: Range<usize>) {
    token.position = token.position.wrapping_add(1);
    (token.offset_from, token.offset_to) = (range.start, range.end);
    token.text.clear();
    token.text.push_str(text.get(range).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_are_sorted_and_leave_their_places() {
        assert!(STOP_WORDS.is_sorted());
        let mut tokenizer = WithoutStopWords.transform(LetterTokenizer::default());
        let mut tokens = Vec::new();
        tokenizer
            .token_stream("the disk_is2full of logs")
            .process(&mut |token| tokens.push((token.position, token.text.clone())));
        let expect = [(1, "disk"), (3, "full"), (5, "logs")];
        assert_eq!(tokens, expect.map(|(at, word)| (at, word.to_owned())));
    }
}

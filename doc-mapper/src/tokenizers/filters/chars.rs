//! Runs of characters of some kinds, from which a tokenizer cuts grams: Elasticsearch's `token_chars`.

use std::iter::Peekable;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::tokenizers::definition::CharKind;
use crate::tokenizers::letters::set_next;

/// Tokenizer that yields runs of characters of some kinds. Without a kind, the whole text is one.
#[derive(Clone)]
pub(in crate::tokenizers) struct CharsTokenizer {
    pub(in crate::tokenizers) kinds: Vec<CharKind>,
    pub(in crate::tokenizers) token: Token,
}

impl Tokenizer for CharsTokenizer {
    type TokenStream<'a> = Runs<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Runs<'a> {
        self.token.reset();
        Runs {
            text,
            kinds: &self.kinds,
            chars: text.char_indices().peekable(),
            token: &mut self.token,
        }
    }
}

pub(in crate::tokenizers) struct Runs<'a> {
    text: &'a str,
    kinds: &'a [CharKind],
    chars: Peekable<CharIndices<'a>>,
    token: &'a mut Token,
}

impl TokenStream for Runs<'_> {
    fn advance(&mut self) -> bool {
        let kinds = self.kinds;
        let is_in = |(_, char): &(usize, char)| {
            kinds.is_empty() || kinds.iter().any(|kind| kind.has(*char))
        };
        let Some((start, _)) = self.chars.find(is_in) else {
            return false;
        };
        while self.chars.next_if(is_in).is_some() {}
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

//! Runs of characters of some kinds: letters as tokens of Elasticsearch's `simple` analyzer, and what a tokenizer cuts
//! grams from, its `token_chars`.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::definition::CharKind;

/// Tokenizer that yields runs of characters of some kinds. Without a kind, the whole text is one.
#[derive(Clone)]
pub(super) struct RunTokenizer {
    kinds: Vec<CharKind>,
    token: Token,
}

impl RunTokenizer {
    pub(super) fn new(kinds: Vec<CharKind>) -> Self {
        Self {
            kinds,
            token: Token::default(),
        }
    }

    /// Creates the tokenizer whose tokens are runs of letters.
    pub(super) fn letters() -> Self {
        Self::new(vec![CharKind::Letter])
    }
}

impl Tokenizer for RunTokenizer {
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

pub(super) struct Runs<'a> {
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

/// Replaces a token by the next one: the bytes of this range of `text`.
pub(super) fn set_next(token: &mut Token, text: &str, range: Range<usize>) {
    token.position = token.position.wrapping_add(1);
    (token.offset_from, token.offset_to) = (range.start, range.end);
    token.text.clear();
    token.text.push_str(text.get(range).unwrap_or_default());
}

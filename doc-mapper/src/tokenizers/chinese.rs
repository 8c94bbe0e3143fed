//! Cuts text at white space and punctuation, and each Han character into a token of its own. As Quickwit's
//! `chinese_compatible` does.

use std::iter::Peekable;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::runs::set_next;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Han,
    /// A letter or digit of any other script.
    Word,
    Other,
}

impl Kind {
    fn of(character: char) -> Kind {
        match character {
            _ if !character.is_alphanumeric() => Kind::Other,
            // Unified ideographs and their extensions A, B and C to E. The hexagrams between A and the first block
            // are not alphanumeric.
            '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{2A6DF}' | '\u{2A700}'..='\u{2CEAF}' => {
                Kind::Han
            }
            _ => Kind::Word,
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct ChineseTokenizer(Token);

impl Tokenizer for ChineseTokenizer {
    type TokenStream<'a> = ChineseTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ChineseTokens<'a> {
        self.0.reset();
        ChineseTokens {
            text,
            chars: text.char_indices().peekable(),
            token: &mut self.0,
        }
    }
}

pub(super) struct ChineseTokens<'a> {
    text: &'a str,
    /// Characters after the token.
    chars: Peekable<CharIndices<'a>>,
    token: &'a mut Token,
}

impl TokenStream for ChineseTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some((start, first)) = self.chars.find(|(_, c)| Kind::of(*c) != Kind::Other) else {
            return false;
        };
        if Kind::of(first) == Kind::Word {
            while self
                .chars
                .next_if(|(_, c)| Kind::of(*c) == Kind::Word)
                .is_some()
            {}
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn han_characters_are_tokens_with_their_places() {
        let text = "Go去北京, 𠀀x";
        let mut tokens = Vec::new();
        let mut tokenizer = ChineseTokenizer::default();
        tokenizer.token_stream(text).process(&mut |token| {
            assert_eq!(&text[token.offset_from..token.offset_to], token.text);
            assert_eq!(token.position, tokens.len());
            tokens.push(token.text.clone());
        });
        assert_eq!(tokens, ["Go", "去", "北", "京", "𠀀", "x"]);
    }
}

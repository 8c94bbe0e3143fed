//! Splits identifiers into words, like Quickwit's `source_code`: `parseHTTPRequest2` becomes
//! `parse`, `HTTP`, `Request`, `2`.

use std::iter::Peekable;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::runs::set_next;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Capital,
    Letter,
    Digit,
    Other,
}

impl Kind {
    fn of(character: char) -> Kind {
        if character.is_alphabetic() {
            match character.is_uppercase() {
                true => Kind::Capital,
                false => Kind::Letter,
            }
        } else if character.is_numeric() {
            Kind::Digit
        } else {
            Kind::Other
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct SourceCodeTokenizer(Token);

impl Tokenizer for SourceCodeTokenizer {
    type TokenStream<'a> = SourceCodeTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> SourceCodeTokens<'a> {
        self.0.reset();
        SourceCodeTokens {
            text,
            chars: text.char_indices().peekable(),
            token: &mut self.0,
        }
    }
}

pub(super) struct SourceCodeTokens<'a> {
    text: &'a str,
    /// Characters after the token.
    chars: Peekable<CharIndices<'a>>,
    token: &'a mut Token,
}

impl SourceCodeTokens<'_> {
    /// Returns the offset of the next character, and skips it, if it is of this kind.
    fn next_of(&mut self, kind: Kind) -> Option<usize> {
        let next = self.chars.next_if(|(_, c)| Kind::of(*c) == kind)?;
        Some(next.0)
    }

    /// Skips a run of one kind, and returns the offset of its last character.
    fn pass(&mut self, kind: Kind) -> Option<usize> {
        let mut last = None;
        while let Some(at) = self.next_of(kind) {
            last = Some(at);
        }
        last
    }

    fn place(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }
}

impl TokenStream for SourceCodeTokens<'_> {
    fn advance(&mut self) -> bool {
        self.pass(Kind::Other);
        let Some((start, first)) = self.chars.next() else {
            return false;
        };
        let kind = Kind::of(first);
        let before_run = self.chars.clone();
        let last = self.pass(kind);
        if kind == Kind::Capital {
            match (last, self.chars.peek().map(|(_, c)| Kind::of(*c))) {
                // `Ab…`
                (None, Some(Kind::Letter)) => drop(self.pass(Kind::Letter)),
                // In `ABc`, the B belongs to the next token.
                (Some(last), Some(Kind::Letter)) => {
                    self.chars = before_run;
                    while self.chars.next_if(|(at, _)| *at < last).is_some() {}
                }
                _ => {}
            }
        }
        let end = self.place();
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
    fn identifiers_are_cut_into_their_words() {
        let check = |text: &str, expect: &[&str]| {
            let mut tokens = Vec::new();
            let mut tokenizer = SourceCodeTokenizer::default();
            tokenizer.token_stream(text).process(&mut |token| {
                assert_eq!(&text[token.offset_from..token.offset_to], token.text);
                assert_eq!(token.position, tokens.len());
                tokens.push(token.text.clone());
            });
            assert_eq!(tokens, expect, "{text}");
        };
        check("parseHTTPRequest2", &["parse", "HTTP", "Request", "2"]);
        check("PigCaféFactory2", &["Pig", "Café", "Factory", "2"]);
        check("PIG_CAFE", &["PIG", "CAFE"]);
        check("TPigA", &["T", "Pig", "A"]);
        check(
            "x86_64-linux#A1b",
            &["x", "86", "64", "linux", "A", "1", "b"],
        );
        check("  ", &[]);
        check("ABc", &["A", "Bc"]);
        check("aB", &["a", "B"]);
    }
}

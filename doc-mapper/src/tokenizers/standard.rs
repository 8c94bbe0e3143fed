//! Cuts text into words as Unicode does (UAX #29): `foo_bar`, `10.1.2.3` and `3.14` are words, and each
//! ideograph is one. As Elasticsearch's `standard` tokenizer, except that symbols such as emoji are no words.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation as _};

use super::set_next;

/// Maximum number of characters of a word: a longer one is cut into several.
const MAX_CHARS: usize = 255;

#[derive(Clone, Default)]
pub(super) struct StandardTokenizer(Token);

impl Tokenizer for StandardTokenizer {
    type TokenStream<'a> = StandardTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> StandardTokens<'a> {
        self.0.reset();
        StandardTokens {
            text,
            segments: text.split_word_bound_indices(),
            rest: (0, 0),
            token: &mut self.0,
        }
    }
}

pub(super) struct StandardTokens<'a> {
    text: &'a str,
    segments: UWordBoundIndices<'a>,
    /// Start and end of what is left of a word that is too long.
    rest: (usize, usize),
    token: &'a mut Token,
}

impl TokenStream for StandardTokens<'_> {
    fn advance(&mut self) -> bool {
        let (start, end) = self.rest;
        let (start, end) = match start < end {
            true => (start, end),
            false => {
                let is_word =
                    |(_, segment): &(usize, &str)| segment.contains(char::is_alphanumeric);
                let Some((start, word)) = self.segments.find(is_word) else {
                    return false;
                };
                (start, start + word.len())
            }
        };
        let word = self.text.get(start..end).unwrap_or_default();
        let cut = word.char_indices().nth(MAX_CHARS);
        let cut = cut.map_or(end, |(at, _)| start + at);
        self.rest = (cut, end);
        set_next(self.token, self.text, start..cut);
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
    fn words_are_those_of_unicode() {
        let check = |text: &str, expect: &[&str]| {
            let mut tokens = Vec::new();
            StandardTokenizer::default()
                .token_stream(text)
                .process(&mut |token| {
                    assert_eq!(&text[token.offset_from..token.offset_to], token.text);
                    assert_eq!(token.position, tokens.len());
                    tokens.push(token.text.clone());
                });
            assert_eq!(tokens, expect, "{text}");
        };
        check("foo_bar, x-y a.b", &["foo_bar", "x", "y", "a.b"]);
        check(
            "10.1.2.3:80 3.14 1,000",
            &["10.1.2.3", "80", "3.14", "1,000"],
        );
        check("can't O'Neil 'quoted'", &["can't", "O'Neil", "quoted"]);
        check(
            "user@example.com /var/log",
            &["user", "example.com", "var", "log"],
        );
        check("北京 ひら カタカナ", &["北", "京", "ひ", "ら", "カタカナ"]);
        check("cafe\u{301} ___ …", &["cafe\u{301}"]);
        let long = "x".repeat(300);
        check(&long, &[&long[..255], &long[255..]]);
        check("", &[]);
    }
}

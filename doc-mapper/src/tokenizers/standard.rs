//! Cuts text into words as Unicode does (UAX #29): `foo_bar`, `10.1.2.3` and `3.14` are words, and each
//! ideograph is one. As in Elasticsearch's `standard` tokenizer, an emoji is a word, and so is a run of letters of Thai, Lao, Khmer
//! or Burmese, which are written without spaces.

use std::iter::Peekable;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation as _};

use super::runs::set_next;

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
            segments: text.split_word_bound_indices().peekable(),
            rest: (0, 0),
            token: &mut self.0,
        }
    }
}

pub(super) struct StandardTokens<'a> {
    text: &'a str,
    segments: Peekable<UWordBoundIndices<'a>>,
    /// Start and end of what is left of a word that is too long.
    rest: (usize, usize),
    token: &'a mut Token,
}

fn is_word(segment: &str) -> bool {
    segment.contains(char::is_alphanumeric) || segment.starts_with(is_emoji)
}

/// Returns whether a character is in the blocks of pictographs and symbols that emoji begin with. Some symbols elsewhere, such as
/// the sign for copyright, are emoji for Unicode, too.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}')
}

/// Returns whether a segment is a letter of a script without spaces, whose letters Unicode leaves apart.
fn is_unspaced(segment: &str) -> bool {
    // Thai and Lao, Burmese and its like, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet.
    segment.starts_with(|c: char| {
        c.is_alphabetic()
            && matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
                | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}'
                | '\u{aa60}'..='\u{aadf}')
    })
}

impl TokenStream for StandardTokens<'_> {
    fn advance(&mut self) -> bool {
        let (start, end) = self.rest;
        let (start, end) = match start < end {
            true => (start, end),
            false => {
                let Some((start, word)) = self.segments.find(|(_, segment)| is_word(segment))
                else {
                    return false;
                };
                let mut end = start + word.len();
                if is_unspaced(word) {
                    while let Some((at, more)) =
                        self.segments.next_if(|(_, segment)| is_unspaced(segment))
                    {
                        end = at + more.len();
                    }
                }
                (start, end)
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
        check("เมืองกรุงเทพ ນ້ຳ 5บาท", &["เมืองกรุงเทพ", "ນ້ຳ", "5", "บาท"]);
        check("ok 🚀👩‍👩‍👧 ☎.", &["ok", "🚀", "👩‍👩‍👧", "☎"]);
        let long = "x".repeat(300);
        check(&long, &[&long[..255], &long[255..]]);
        check("", &[]);
    }
}

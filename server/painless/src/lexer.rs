//! Cuts a script into tokens.

use std::sync::Arc;

use crate::error::ScriptError;

/// Symbols, of which the first that fits counts.
const SYMBOLS: [&str; 57] = [
    ">>>=", "===", "!==", "==~", ">>>", "<<=", ">>=", "->", "?.", "?:", "=~", "::", "++", "--",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>",
    "{", "}", "[", "]", "(", ")", ".", ",", ";", ":", "?", "=", "<", ">", "!", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "$", "@", "#",
];

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(Number),
    Text(Arc<str>),
    Name(Arc<str>),
    Symbol(&'static str),
    End,
}

/// A number as it is written, without a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) digits: Arc<str>,
    pub(crate) radix: u32,
    pub(crate) is_fraction: bool,
    /// `l`, `f` or `d`, if there is one.
    pub(crate) suffix: Option<char>,
}

/// Returns the tokens of a script with their places; the last is [`Token::End`].
pub(crate) fn tokens_of(source: &str) -> Result<Vec<(usize, Token)>, ScriptError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (token, len) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/");
                let open = || ScriptError::compiling(at, "a comment does not end");
                (None, end.ok_or_else(open)? + 2)
            }
            '\'' | '"' => text(rest, first, at).map(|(text, len)| (Some(text), len))?,
            '0'..='9' => {
                let (number, len) = number(rest);
                (Some(number), len)
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
                let len = rest.find(|char| !is_of_name(char)).unwrap_or(rest.len());
                (Some(Token::Name(rest[..len].into())), len)
            }
            _ => {
                let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
                let unknown =
                    || ScriptError::compiling(at, format!("unexpected character [{first}]"));
                let symbol = symbol.ok_or_else(unknown)?;
                (Some(Token::Symbol(symbol)), symbol.len())
            }
        };
        tokens.extend(token.map(|token| (at, token)));
        at += len;
    }
    tokens.push((source.len(), Token::End));
    Ok(tokens)
}

/// Reads a text in quotes, in which only the quote and the backslash can be escaped.
fn text(rest: &str, quote: char, at: usize) -> Result<(Token, usize), ScriptError> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((place, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, escaped)) if escaped == quote || escaped == '\\' => text.push(escaped),
                _ => {
                    let reason = format!(
                        "unexpected character: the only valid escape sequences in strings starting with [{quote}] are [\\\\] \
                         and [\\{quote}]"
                    );
                    return Err(ScriptError::compiling(at + place, reason));
                }
            },
            _ if char == quote => return Ok((Token::Text(text.into()), place + 1)),
            _ => text.push(char),
        }
    }
    Err(ScriptError::compiling(at, "a text does not end"))
}

/// Reads a number. What is wrong with it is found where its value is needed.
fn number(rest: &str) -> (Token, usize) {
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits_from = |mut at: usize| {
        while is_digit(at) {
            at += 1;
        }
        at
    };
    let (start, radix) = match bytes {
        [b'0', b'x' | b'X', ..] => (2, 16),
        [b'0', b'0'..=b'7', ..] => (1, 8),
        _ => (0, 10),
    };
    let is_of_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    let mut end = start;
    while radix == 16 && is_of_hex(end) {
        end += 1;
    }
    let mut is_fraction = false;
    if radix != 16 {
        end = digits_from(start);
        if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
            is_fraction = true;
            end = digits_from(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if is_digit(end + 1 + sign) {
                is_fraction = true;
                end = digits_from(end + 1 + sign);
            }
        }
    }
    let suffix = rest[end..]
        .chars()
        .next()
        .map(|char| char.to_ascii_lowercase());
    let suffix = suffix.filter(|char| matches!(char, 'l' | 'f' | 'd'));
    let number = Number {
        digits: rest[start..end].into(),
        radix,
        is_fraction,
        suffix,
    };
    (Token::Number(number), end + usize::from(suffix.is_some()))
}

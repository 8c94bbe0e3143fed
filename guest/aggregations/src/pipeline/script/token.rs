//! Tokenizer of scripts.

/// Token of a script, with its offset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) at: usize,
    pub(super) what: Word<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word<'a> {
    Number(f64),
    Name(&'a str),
    Text(&'a str),
    Sign(&'static str),
}

/// Operators; longer ones precede their prefixes.
const SIGNS: [&str; 22] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")",
    "[", "]", ",", ".",
];

/// Splits a script into tokens.
///
/// # Errors
/// Returns the offset and a description of text that is no token.
pub(super) fn tokens(script: &str) -> Result<Vec<Token<'_>>, (usize, String)> {
    let mut tokens = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start();
        let at = script.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        let is_fraction = || {
            let mut chars = rest.chars();
            chars.next() == Some('.') && chars.next().is_some_and(|next| next.is_ascii_digit())
        };
        let (what, len) = if first.is_ascii_digit() || is_fraction() {
            number(rest).ok_or_else(|| (at, "this is no number".to_owned()))?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let len = len_while(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            (Word::Name(rest.get(..len).unwrap_or_default()), len)
        } else if first == '\'' || first == '"' {
            let inner = rest.get(1..).unwrap_or_default();
            let Some(end) = inner.find(first) else {
                return Err((at, "this text has no end".to_owned()));
            };
            (Word::Text(inner.get(..end).unwrap_or_default()), end + 2)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Word::Sign(sign), sign.len())
        } else {
            return Err((at, format!("{first:?} is not known here")));
        };
        tokens.push(Token { at, what });
        rest = rest.get(len..).unwrap_or_default();
    }
}

fn len_while(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !is_part(c)).unwrap_or(text.len())
}

/// Parses a decimal number with the suffixes of Painless.
fn number(text: &str) -> Option<(Word<'static>, usize)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + len_while(rest, |c| c.is_ascii_digit())
    };
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let mut end = digits(0);
    if byte(end) == Some(b'.') {
        end = digits(end + 1);
    }
    if matches!(byte(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign);
    }
    let number: f64 = text.get(..end)?.parse().ok()?;
    if matches!(byte(end), Some(b'd' | b'D' | b'f' | b'F' | b'l' | b'L')) {
        end += 1;
    }
    let is_over = byte(end).is_none_or(|next| !next.is_ascii_alphanumeric() && next != b'_');
    (is_over && number.is_finite()).then_some((Word::Number(number), end))
}

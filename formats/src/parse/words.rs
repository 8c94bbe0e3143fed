//! Words separated by single spaces, some in quotes or brackets: the logs of web servers and ALB.

use std::borrow::Cow;

use crate::failure::Failure;

/// A cursor over a line.
#[derive(Debug)]
pub(super) struct Words<'t> {
    line: &'t str,
    rest: &'t str,
}

impl<'t> Words<'t> {
    pub(super) fn new(line: &'t str) -> Words<'t> {
        Words { line, rest: line }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn failure(&self, expected: &str) -> Failure {
        let place = self.line.len() - self.rest.len();
        match self.rest.chars().next() {
            Some(found) => Failure::format(format!(
                "expected {expected} at byte {place}, found {found:?}"
            )),
            None => Failure::format(format!("the record ends where {expected} is expected")),
        }
    }

    fn pass_space(&mut self) -> bool {
        match self.rest.strip_prefix(' ') {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => self.rest.is_empty(),
        }
    }

    /// Reads up to the next space.
    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, Failure> {
        let (word, rest) = match memchr::memchr(b' ', self.rest.as_bytes()) {
            Some(at) => self.rest.split_at_checked(at).unwrap_or((self.rest, "")),
            None => (self.rest, ""),
        };
        if word.is_empty() {
            return Err(self.failure(what));
        }
        self.rest = rest;
        self.pass_space();
        Ok(word)
    }

    /// Reads the text between brackets.
    pub(super) fn bracketed(&mut self, what: &str) -> Result<&'t str, Failure> {
        let found = self
            .rest
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        let Some((inside, rest)) = found else {
            return Err(self.failure(what));
        };
        self.rest = rest;
        match self.pass_space() {
            true => Ok(inside),
            false => Err(self.failure("a space")),
        }
    }

    /// Reads the text between quotes, with escaped `\"` and `\\` (and `\xhh`, which stays unchanged).
    pub(super) fn quoted(&mut self, what: &str) -> Result<Cow<'t, str>, Failure> {
        let Some(inside) = self.rest.strip_prefix('"') else {
            return Err(self.failure(what));
        };
        let bytes = inside.as_bytes();
        let mut place = 0;
        let mut has_escapes = false;
        loop {
            let from = bytes.get(place..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', from) {
                Some(at) if from.get(at) == Some(&b'"') => {
                    place += at;
                    // An unescaped quote is the end if a space or nothing follows.
                    if matches!(bytes.get(place + 1), None | Some(b' ')) {
                        break;
                    }
                    place += 1;
                }
                Some(at) => {
                    has_escapes = true;
                    place += at + 2;
                }
                None => return Err(self.failure(&format!("{what} with a closing quote"))),
            }
        }
        let (inside, rest) = inside.split_at_checked(place).unwrap_or((inside, ""));
        self.rest = rest.get(1..).unwrap_or_default();
        self.pass_space();
        Ok(match has_escapes {
            true => Cow::Owned(unescaped(inside)),
            false => Cow::Borrowed(inside),
        })
    }

    /// Reads a word, or the text between quotes.
    pub(super) fn any(&mut self, what: &str) -> Result<Cow<'t, str>, Failure> {
        match self.rest.starts_with('"') {
            true => self.quoted(what),
            false => self.word(what).map(Cow::Borrowed),
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('"' | '\\')) => out.push(next),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}

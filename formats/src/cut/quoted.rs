//! Records with quoted values, which may contain line breaks.
//!
//! A quote opens only at the beginning of a value, and two of them within quotes are one: the rules of RFC 4180, and
//! those of the crate `csv` in all other cases (`parse/tables/csv.rs` parses values by the same rules). With backslashes, the
//! character after one within quotes is part of the value. A comment ends with its line.

use super::Cut;
use crate::recognition::dialect::Dialect;

#[derive(Clone, Debug)]
pub(super) struct Quoted {
    dialect: Dialect,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning of a record.
    BeginRecord,
    /// At the beginning of a value.
    Begin,
    /// Within a comment.
    Comment,
    /// Within a value that is not quoted, or after its closing quote.
    Plain,
    InQuotes,
    /// After a quote within quotes: it closes them, or is the first of two.
    AfterQuote,
    /// After a backslash within quotes.
    Escaped,
}

impl Quoted {
    pub(super) fn new(dialect: Dialect) -> Quoted {
        Quoted {
            dialect,
            state: State::BeginRecord,
        }
    }

    pub(super) fn is_in_quotes(&self) -> bool {
        matches!(self.state, State::InQuotes | State::Escaped)
    }

    pub(super) fn begin_again(&mut self) {
        self.state = State::BeginRecord;
    }

    pub(super) fn cut(&mut self, bytes: &[u8]) -> Cut {
        let mut place = 0;
        while let Some(byte) = bytes.get(place).copied() {
            let rest = bytes.get(place..).unwrap_or_default();
            match self.state {
                State::InQuotes => {
                    let found = match self.dialect.has_backslashes {
                        true => memchr::memchr2(b'"', b'\\', rest),
                        false => memchr::memchr(b'"', rest),
                    };
                    let Some(at) = found else {
                        return Cut::More;
                    };
                    place += at + 1;
                    self.state = match rest.get(at) {
                        Some(b'"') => State::AfterQuote,
                        _ => State::Escaped,
                    };
                }
                State::Escaped => {
                    place += 1;
                    self.state = State::InQuotes;
                }
                State::BeginRecord if byte == b'#' && self.dialect.has_comments => {
                    self.state = State::Comment;
                }
                State::Comment => {
                    let Some(at) = memchr::memchr(b'\n', rest) else {
                        return Cut::More;
                    };
                    self.state = State::BeginRecord;
                    return Cut::End(place + at + 1);
                }
                State::AfterQuote | State::Begin | State::BeginRecord if byte == b'"' => {
                    place += 1;
                    self.state = State::InQuotes;
                }
                State::Begin | State::BeginRecord | State::AfterQuote | State::Plain => {
                    let Some(at) = memchr::memchr2(b'\n', self.dialect.delimiter, rest) else {
                        self.state = State::Plain;
                        return Cut::More;
                    };
                    place += at + 1;
                    self.state = State::Begin;
                    if rest.get(at) == Some(&b'\n') {
                        self.state = State::BeginRecord;
                        return Cut::End(place);
                    }
                }
            }
        }
        Cut::More
    }
}

//! Records of values that may be quoted, and then hold ends of lines.
//!
//! A quote opens at the beginning of a value only, and two of them within quotes are one: RFC 4180, and
//! what the crate `csv` does with everything else (`parse/csv.rs` reads the values by the same rules).

use super::Cut;

#[derive(Clone, Debug)]
pub(super) struct Quoted {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A value begins here.
    Begin,
    /// Within a value that is not quoted, or after its closing quote.
    Plain,
    InQuotes,
    /// After a quote within quotes: it closes them, or is the first of two.
    AfterQuote,
}

impl Quoted {
    pub(super) fn new(delimiter: u8) -> Quoted {
        Quoted {
            delimiter,
            state: State::Begin,
        }
    }

    pub(super) fn is_in_quotes(&self) -> bool {
        self.state == State::InQuotes
    }

    pub(super) fn begin_again(&mut self) {
        self.state = State::Begin;
    }

    pub(super) fn cut(&mut self, bytes: &[u8]) -> Cut {
        let mut place = 0;
        while let Some(byte) = bytes.get(place).copied() {
            let rest = bytes.get(place..).unwrap_or_default();
            match self.state {
                State::InQuotes => match memchr::memchr(b'"', rest) {
                    Some(at) => {
                        place += at + 1;
                        self.state = State::AfterQuote;
                    }
                    None => return Cut::More,
                },
                State::AfterQuote if byte == b'"' => {
                    place += 1;
                    self.state = State::InQuotes;
                }
                State::Begin if byte == b'"' => {
                    place += 1;
                    self.state = State::InQuotes;
                }
                State::Begin | State::AfterQuote | State::Plain => {
                    let Some(at) = memchr::memchr2(b'\n', self.delimiter, rest) else {
                        self.state = State::Plain;
                        return Cut::More;
                    };
                    place += at + 1;
                    self.state = State::Begin;
                    if rest.get(at) == Some(&b'\n') {
                        return Cut::End(place);
                    }
                }
            }
        }
        Cut::More
    }
}

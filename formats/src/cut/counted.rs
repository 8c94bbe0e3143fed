//! Records behind their lengths: syslog over a stream, and files of what was received (RFC 6587, section 3.4.1; RFC 5425).
//!
//! ```text
//! 61 <13>1 2023-05-01T10:00:01.123Z host app 12 - - text
//! └┬┘└─────────────── number of bytes ─────────────────┘
//! ```
//!
//! A record includes its length. What does not begin with one is a line.

use super::Cut;

/// A place in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counted {
    #[default]
    Between,
    /// In a number.
    Length {
        number: usize,
        num_digits: u8,
    },
    /// In a record of which this number of bytes is missing.
    Inside(usize),
    Line,
}

/// A larger number is none of bytes.
const MAX_DIGITS: u8 = 7;

impl Counted {
    pub(super) fn begin_again(&mut self) {
        *self = Counted::Between;
    }

    pub(super) fn cut(&mut self, bytes: &[u8]) -> Cut {
        if *self == Counted::Between {
            let num_blank = bytes
                .iter()
                .take_while(|byte| matches!(byte, b'\n' | b'\r'))
                .count();
            if num_blank > 0 {
                return Cut::Drop(num_blank);
            }
            *self = Counted::Length {
                number: 0,
                num_digits: 0,
            };
        }
        let mut place = 0;
        while let Counted::Length { number, num_digits } = *self {
            let Some(byte) = bytes.get(place).copied() else {
                return Cut::More;
            };
            *self = match byte {
                b'0'..=b'9' if num_digits < MAX_DIGITS => Counted::Length {
                    number: number * 10 + usize::from(byte - b'0'),
                    num_digits: num_digits + 1,
                },
                b' ' if number > 0 => {
                    place += 1;
                    Counted::Inside(number)
                }
                _ => Counted::Line,
            };
            place += usize::from(matches!(self, Counted::Length { .. }));
        }
        let rest = bytes.get(place..).unwrap_or_default();
        let end = match self {
            Counted::Inside(missing) if *missing > rest.len() => {
                *missing -= rest.len();
                None
            }
            Counted::Inside(missing) => Some(place + *missing),
            _ => memchr::memchr(b'\n', rest).map(|at| place + at + 1),
        };
        match end {
            Some(end) => {
                self.begin_again();
                Cut::End(end)
            }
            None => Cut::More,
        }
    }
}

/// Returns whether a stream with this beginning has a length before each record.
pub(crate) fn is_counted(beginning: &[u8]) -> bool {
    let mut rest = beginning.trim_ascii_start();
    let mut num_records = 0;
    loop {
        let num_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, after) = rest.split_at_checked(num_digits).unwrap_or_default();
        let number = std::str::from_utf8(digits).ok();
        let number: Option<usize> = number.and_then(|digits| digits.parse().ok());
        let is_one = (1..=usize::from(MAX_DIGITS)).contains(&num_digits)
            && after.starts_with(b" <")
            && after.get(2).is_some_and(u8::is_ascii_digit)
            && number.is_some();
        // The last one may be cut off, in its length too.
        if after.len() < 3 {
            return num_records > 0;
        }
        if !is_one {
            return false;
        }
        num_records += 1;
        match after.get(1 + number.unwrap_or_default()..) {
            Some(next) => rest = next.trim_ascii_start(),
            None => return num_records > 1,
        }
    }
}

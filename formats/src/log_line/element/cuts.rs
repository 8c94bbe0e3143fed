//! Words of several parts that no space divides: where the first of them ends.

use std::ops::Range;

use super::compound::named_level;
use super::part::is_space;
use crate::log_line::level::{self, Sureness};

/// Returns whether a bracket opens with a level or a zone before a time: `[ N 2024-05-01 10:00:00.1234 …` of Passenger,
/// `[I 2024-05-01 10:00:00.123 ServerApp]` of Jupyter, `[I 240501 10:00:00 web:12]` of Tornado, `[UTC May  1 10:00:00]` of Monit.
pub(super) fn opens_before_time(text: &[u8], place: usize) -> bool {
    /// A longer word is no level and no zone.
    const LONGEST: usize = 8;
    let Some(rest) = text.get(place..).and_then(|rest| rest.strip_prefix(b"[")) else {
        return false;
    };
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let Some(len) = rest.iter().take(LONGEST + 1).position(|byte| *byte == b' ') else {
        return false;
    };
    let (word, behind) = rest.split_at_checked(len).unwrap_or_default();
    let is_zone = (3..=5).contains(&len) && word.iter().all(u8::is_ascii_uppercase);
    let is_it = match word {
        [letter] => level::of_letter(*letter).is_some(),
        _ => is_zone || level::sureness(word) == Some(Sureness::Sure),
    };
    is_it && begins_day_or_month(behind.get(1..).unwrap_or_default())
}

/// Returns whether a text begins with a year, a day without signs between its parts, or a month and a day.
fn begins_day_or_month(text: &[u8]) -> bool {
    let num_digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    match num_digits.count() {
        4 => matches!(text.get(4), Some(b'-' | b'/' | b'.')),
        6 | 8 => text
            .get(6..)
            .is_some_and(|rest| matches!(rest.trim_ascii_start().first(), Some(b'0'..=b'9'))),
        0 => matches!(
            text.get(..6),
            Some([
                b'A'..=b'Z',
                b'a'..=b'z',
                b'a'..=b'z',
                b' ',
                b' ' | b'0'..=b'9',
                b'0'..=b'9' | b' '
            ])
        ),
        _ => false,
    }
}

/// A longer word before a date is none of a head.
const LONGEST_BEFORE: usize = 48;

/// Where `INFO:` of `INFO:2024-05-01` ends, `1,` of `1,2024/05/01`, `Error,` of `Error,5/1/2024`, `4242:` of `4242:20240501:100000`,
/// and `00:0002:00012:` of `00:0002:00012:2024/05/01`.
pub(super) fn before_date(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    if let Some(end) = before_epoch(word) {
        return Some(end);
    }
    let seps = word.iter().take(LONGEST_BEFORE).enumerate();
    let mut seps = seps.filter(|(_, byte)| matches!(byte, b':' | b','));
    let first = seps.next()?.0;
    begins_date(word, first)
        .or_else(|| seps.find_map(|(sep, byte)| begins_date(word, sep).filter(|_| *byte == b':')))
}

/// Where `CreateTime:` of `CreateTime:1714557600123` ends, as Kafka's console writes the times of records.
fn before_epoch(word: &[u8]) -> Option<usize> {
    const LEN_OF_MILLIS: usize = 13;
    let sep = word.len().checked_sub(LEN_OF_MILLIS + 1)?;
    let (name, millis) = word.split_at_checked(sep)?;
    let is_it = millis.first() == Some(&b':')
        && millis.iter().skip(1).all(u8::is_ascii_digit)
        && !name.is_empty()
        && name.iter().all(u8::is_ascii_alphabetic);
    is_it.then_some(sep + 1)
}

/// Where a word ends behind whose separator a date stands.
fn begins_date(word: &[u8], sep: usize) -> Option<usize> {
    // `7,"2024-05-01 10:00:00"`: the quote is of the time.
    let quote = usize::from(word.get(sep + 1) == Some(&b'"'));
    begins_day(word, sep + quote).map(|end| end - quote)
}

fn begins_day(word: &[u8], sep: usize) -> Option<usize> {
    let are_digits = |range: Range<usize>| {
        let digits = word.get(range);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    };
    let is_divided =
        are_digits(sep + 1..sep + 5) && matches!(word.get(sep + 5), Some(b'-' | b'/' | b'.'));
    let is_compact = are_digits(sep + 1..sep + 9) && word.get(sep + 9) == Some(&b':');
    // `Error,5/1/2024`.
    let mut parts = word.get(sep + 1..)?.split(|byte| *byte == b'/');
    let mut is_part = |len: std::ops::RangeInclusive<usize>| {
        let part = parts.next();
        part.is_some_and(|part| len.contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
    };
    let is_american = is_part(1..=2) && is_part(1..=2) && is_part(4..=4);
    let is_day = is_divided || is_compact || is_american;
    (word.first()?.is_ascii_alphanumeric() && is_day).then_some(sep + 1)
}

/// Where `WARNING:root:` of `WARNING:root:text` ends, as Python's logging begins a line.
pub(super) fn level_and_name(rest: &[u8], len: usize) -> Option<usize> {
    let mut parts = rest.get(..len)?.splitn(3, |byte| *byte == b':');
    let (level, name) = (parts.next()?, parts.next()?);
    parts.next()?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_it = level.iter().all(u8::is_ascii_uppercase)
        && level::sureness(level) == Some(Sureness::Sure)
        && name
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(is_name);
    is_it.then_some(level.len() + name.len() + 2)
}

/// Where `[ns_server:info,` of `[ns_server:info,2024-05-01T10:00:00.123Z,ns_1@127.0.0.1:…]` ends, as Couchbase begins a
/// record.
pub(in crate::log_line) fn opens_before_date(text: &[u8], place: usize) -> Option<usize> {
    let rest = text.get(place..)?.strip_prefix(b"[")?;
    let is_end = |byte: &u8| is_space(*byte) || matches!(byte, b'[' | b']');
    let len = rest.iter().position(is_end).unwrap_or(rest.len());
    let word = rest.get(..len)?;
    let comma = memchr::memchr(b',', word).filter(|comma| *comma < LONGEST_BEFORE)?;
    let has_level = named_level(word.get(..comma)?).is_some();
    has_level.then_some(())?;
    begins_date(word, comma).map(|end| place + 1 + end)
}

/// Where `main.c:12]` of `main.c:12]text` ends: what closes a bracket that was opened before.
pub(super) fn behind_bracket(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    let close = word.iter().position(|byte| *byte == b']')?;
    let (inside, behind) = word.split_at_checked(close)?;
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let goes_on = behind.get(1).is_some_and(is_letter);
    (goes_on && close > 0 && !inside.contains(&b'[')).then_some(close + 1)
}

/// Where `ERROR` of `ERROR[05-01|10:00:00.123]` ends: a level before a bracket with more than a number.
pub(super) fn before_bracket(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    let open = word.iter().position(|byte| *byte == b'[')?;
    let (level, inside) = word.split_at_checked(open)?;
    let num_digits = inside
        .iter()
        .skip(1)
        .take_while(|byte| byte.is_ascii_digit());
    let num_digits = num_digits.count();
    let is_time = matches!(num_digits, 2 | 4)
        && matches!(inside.get(num_digits + 1), Some(b'-' | b'/' | b':' | b'.'));
    // `ERRO`, as logrus cuts levels.
    let is_level = match level.len() {
        // `E[2024-05-01|10:00:00.123]`, as Tendermint's libraries write it.
        1 => level
            .first()
            .is_some_and(|letter| level::of_letter(*letter).is_some()),
        4 => level.iter().all(u8::is_ascii_uppercase) && level::sureness(level).is_some(),
        _ => level::sureness(level) == Some(Sureness::Sure),
    };
    (is_time && is_level).then_some(open)
}

/// Where `INFO;` of `INFO;web01;text` ends: a field of a line whose fields semicolons divide.
pub(super) fn before_semicolon(rest: &[u8], len: usize) -> Option<usize> {
    const LONGEST: usize = 40;
    let word = rest.get(..len)?;
    let end = memchr::memchr(b';', word).filter(|end| (1..=LONGEST).contains(end))?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let is_field = word.get(..end)?.iter().all(is_name) && word.len() > end + 1;
    is_field.then_some(end + 1)
}

/// Where `INFO,` of `2024-05-01T10:00:00Z,INFO,7,text` ends: a level in a table without names.
pub(super) fn level_before_comma(rest: &[u8], len: usize) -> Option<usize> {
    let word = rest.get(..len)?;
    let end = memchr::memchr(b',', word)?;
    let is_level = level::sureness(word.get(..end)?) == Some(Sureness::Sure);
    (is_level && word.len() > end + 1).then_some(end + 1)
}

/// Where `cpu3:12345)` of `cpu3:12345)ScsiDeviceIO:` ends, as ESXi's kernel begins a line, or `cpu3:12345 opID=8f9a3c21)`.
pub(super) fn processor(rest: &[u8], len: usize) -> Option<usize> {
    let ids = rest.strip_prefix(b"cpu")?;
    let operation = rest.get(len..)?.strip_prefix(b" opID=").unwrap_or_default();
    let num_hex = operation.iter().take_while(|byte| byte.is_ascii_hexdigit());
    let (digits, close) = match num_hex.count() {
        0 => {
            let close = memchr::memchr(b')', rest.get(..len)?)?.checked_sub(3)?;
            (ids.get(..close)?, close)
        }
        num if operation.get(num) == Some(&b')') => (ids.get(..len - 3)?, len + 3 + num),
        _ => return None,
    };
    let mut numbers = digits.splitn(2, |byte| *byte == b':');
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_it = is_number(numbers.next()?) && is_number(numbers.next()?);
    is_it.then_some(close + 4)
}

//! Strict parser of RFC 3339, the format of most logs; several times faster than a general parser.
//!
//! ```text
//! 2024-05-01T10:20:30.123456789+02:00
//! └───────fixed────────┘└fraction┘└offset, or Z┘
//! ```

use super::parse::DateParseError;

/// Accepted notations for the end of a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// Those of RFC 3339.
    Rfc3339,
    /// Also `,123`, `+0200`, and no offset, which is UTC.
    AsWritten,
}

/// Parses a date into nanoseconds since the epoch. A space may replace the `T`, decimals beyond
/// nanoseconds are truncated, and the leap second `:60` is the last nanosecond before it.
pub(super) fn parse(text: &[u8]) -> Result<i128, DateParseError> {
    parse_as(text, Strictness::Rfc3339)
}

fn parse_as(text: &[u8], strictness: Strictness) -> Result<i128, DateParseError> {
    let (head, tail) = text
        .split_first_chunk::<19>()
        .ok_or(DateParseError::Format)?;
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        mo1,
        mo2,
        b'-',
        d1,
        d2,
        b'T' | b't' | b' ',
        h1,
        h2,
        b':',
        mi1,
        mi2,
        b':',
        s1,
        s2,
    ] = *head
    else {
        return Err(DateParseError::Format);
    };
    let year = i64::from(pair(y1, y2)?) * 100 + i64::from(pair(y3, y4)?);
    let (month, day) = (pair(mo1, mo2)?, pair(d1, d2)?);
    let (hour, minute, second) = (pair(h1, h2)?, pair(mi1, mi2)?, pair(s1, s2)?);
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return Err(DateParseError::Format);
    }
    if hour > 23 || minute > 59 || second > 60 {
        return Err(DateParseError::Format);
    }
    let (mut nanos, tail) = fraction(tail, strictness)?;
    let offset_secs = match (strictness, tail) {
        (Strictness::AsWritten, []) => 0,
        (Strictness::AsWritten, [sign, h1, h2, m1, m2]) => {
            offset(&[*sign, *h1, *h2, b':', *m1, *m2])?
        }
        _ => offset(tail)?,
    };
    let mut second = i64::from(second);
    if second == 60 {
        (second, nanos) = (59, 999_999_999);
    }
    let secs = days_from_civil(year, i64::from(month), i64::from(day)) * 86_400
        + i64::from(hour) * 3_600
        + i64::from(minute) * 60
        + second
        - offset_secs;
    Ok(i128::from(secs) * 1_000_000_000 + i128::from(nanos))
}

/// Parses a date in a JSON field: a day and a time of day at least to the second, in RFC 3339 or as
/// common programs write them. Without an offset, it is in UTC. Returns `None` for other text.
///
/// `2024-05-01T10:00:00Z`, `2024-05-01T10:00:00`, `2024-05-01 10:00:00,123`,
/// `2024-05-01T10:00:00.5+0200`.
pub fn infer_date(text: &str) -> Option<tantivy::DateTime> {
    let bytes = text.as_bytes();
    if !bytes.first()?.is_ascii_digit() || !matches!(bytes.get(10)?, b'T' | b' ') {
        return None;
    }
    let nanos = parse_as(bytes, Strictness::AsWritten).ok()?;
    let nanos = i64::try_from(nanos).ok()?;
    Some(tantivy::DateTime::from_timestamp_nanos(nanos))
}

/// Parses a day, such as `2024-05-01`: its start in UTC. Returns `None` for other text.
pub fn infer_day(text: &str) -> Option<tantivy::DateTime> {
    const START: &str = "T00:00:00";
    let is_day = text.len() == 10 && text.is_ascii();
    let start = is_day.then(|| format!("{text}{START}"))?;
    infer_date(&start)
}

/// Parses a date as answers write it: only the strict form with `T`.
pub fn infer_rfc3339(text: &str) -> Option<tantivy::DateTime> {
    let bytes = text.as_bytes();
    if !bytes.first()?.is_ascii_digit() || *bytes.get(10)? != b'T' {
        return None;
    }
    let nanos = i64::try_from(parse(bytes).ok()?).ok()?;
    Some(tantivy::DateTime::from_timestamp_nanos(nanos))
}

fn pair(tens: u8, ones: u8) -> Result<u32, DateParseError> {
    if tens.is_ascii_digit() && ones.is_ascii_digit() {
        Ok(u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
    } else {
        Err(DateParseError::Format)
    }
}

/// Parses a fraction such as `.123` into nanoseconds, and returns the rest.
fn fraction(tail: &[u8], strictness: Strictness) -> Result<(i64, &[u8]), DateParseError> {
    let rest = match tail.split_first() {
        Some((b'.', rest)) => rest,
        Some((b',', rest)) if strictness == Strictness::AsWritten => rest,
        _ => return Ok((0, tail)),
    };
    let num_digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = rest
        .split_at_checked(num_digits)
        .ok_or(DateParseError::Format)?;
    if digits.is_empty() {
        return Err(DateParseError::Format);
    }
    let padded = digits
        .iter()
        .map(|b| i64::from(b - b'0'))
        .chain(std::iter::repeat(0))
        .take(9);
    Ok((padded.fold(0, |nanos, digit| nanos * 10 + digit), rest))
}

fn offset(tail: &[u8]) -> Result<i64, DateParseError> {
    match *tail {
        [b'Z' | b'z'] => Ok(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (pair(h1, h2)?, pair(m1, m2)?);
            if hours > 23 || minutes > 59 {
                return Err(DateParseError::Format);
            }
            let secs = i64::from(hours * 3_600 + minutes * 60);
            Ok(if sign == b'-' { -secs } else { secs })
        }
        _ => Err(DateParseError::Format),
    }
}

fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns the days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from
/// March, so that the leap day is the last one.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Parses seconds since 1970, from a number or a date; a date without a time is its midnight in UTC.
///
/// # Errors
/// A message that says what is expected.
pub fn parse_seconds(text: &str) -> Result<i64, &'static str> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    let midnight = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>();
    text.parse::<jiff::Timestamp>()
        .or_else(|_| midnight())
        .map(jiff::Timestamp::as_second)
        .map_err(|_| "neither seconds since 1970 nor a date such as 2016-04-13T08:00:00Z")
}

//! Times in logs → RFC 3339, which every index parses. No clock and no time zones.

use std::fmt::Write;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Returns the number of a month, from 1, by the first three letters of its English name.
pub(crate) fn month(name: &str) -> Option<u8> {
    let place = MONTHS.iter().position(|month| *month == name)?;
    u8::try_from(place + 1).ok()
}

pub(crate) fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

pub(crate) fn days_in(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Converts `17/May/2015:10:05:03 +0000`, the time of access logs, to `2015-05-17T10:05:03Z`.
pub(crate) fn of_access_log(text: &str) -> Option<String> {
    let (date, rest) = text.split_once(':')?;
    let mut date = date.split('/');
    let day = number(date.next()?, 2)?;
    let month = month(date.next()?)?;
    let year = number(date.next()?, 4)?;
    if date.next().is_some() {
        return None;
    }
    let (time, zone) = rest.split_once(' ')?;
    let day = u8::try_from(day).ok()?;
    if day == 0 || day > days_in(year, month) {
        return None;
    }
    check_time(time)?;
    let zone = offset(zone)?;
    let mut out = String::with_capacity(25);
    // Writing to a string cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{time}{zone}");
    Some(out)
}

/// Checks `hh:mm:ss`, optionally with a fraction.
pub(crate) fn check_time(text: &str) -> Option<()> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = whole.split(':');
    let mut part = |below: u16| number(parts.next()?, 2).filter(|n| *n < below);
    part(24)?;
    part(60)?;
    // A leap second.
    part(61)?;
    let is_whole = parts.next().is_none();
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    (is_whole && is_fraction).then_some(())
}

/// Converts `+0200` or `+02:00` to `+02:00`; an absent offset to `Z`.
fn offset(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-'))?;
    if digits.len() != 4 || !matches!(text.len(), 5 | 6) {
        return None;
    }
    if digits == "0000" {
        return Some("Z".to_string());
    }
    let (hours, minutes) = digits.split_at_checked(2)?;
    number(hours, 2).filter(|hours| *hours < 24)?;
    number(minutes, 2).filter(|minutes| *minutes < 60)?;
    Some(format!("{sign}{hours}:{minutes}"))
}

/// Parses a number of exactly `len` digits.
pub(crate) fn number(text: &str, len: usize) -> Option<u16> {
    let all_digits = text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().ok())?
}

/// Returns whether a text begins like an RFC 3339 time: `2024-05-01T10:00:00`, with `T` or a space.
pub(crate) fn begins_as_rfc3339(text: &str) -> bool {
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    number(part(0, 4), 4).is_some()
        && part(4, 5) == "-"
        && number(part(5, 7), 2).is_some()
        && part(7, 8) == "-"
        && number(part(8, 10), 2).is_some()
        && matches!(part(10, 11), "T" | " ")
        && check_time(part(11, 19)).is_some()
}

/// Returns whether a text is a whole RFC 3339 time: `T` in the middle, and an offset or `Z` at the end.
pub(crate) fn is_rfc3339(text: &str) -> bool {
    let Some((clock, zone)) = text
        .get(11..)
        .and_then(|rest| rest.split_at_checked(rest.find(['Z', '+', '-'])?))
    else {
        return false;
    };
    begins_as_rfc3339(text)
        && text.get(10..11) == Some("T")
        && check_time(clock).is_some()
        && (zone == "Z" || offset(zone).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_access_logs_become_rfc3339() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(of_access_log(text).as_deref(), expect, "{text}");
        };
        check("17/May/2015:10:05:03 +0000", Some("2015-05-17T10:05:03Z"));
        check(
            "01/Jan/2024:23:59:59 -0730",
            Some("2024-01-01T23:59:59-07:30"),
        );
        check(
            "29/Feb/2024:00:00:00 +0100",
            Some("2024-02-29T00:00:00+01:00"),
        );
        for wrong in [
            "",
            "29/Feb/2023:00:00:00 +0100",
            "00/Feb/2023:00:00:00 +0100",
            "17/Mai/2015:10:05:03 +0000",
            "17/May/2015:24:05:03 +0000",
            "17/May/2015:10:05:03",
            "17/May/2015:10:05:03 UTC",
            "17/May/2015/1:10:05:03 +0000",
            "17/May/2015:10:05:03 +é0",
        ] {
            check(wrong, None);
        }
    }
}

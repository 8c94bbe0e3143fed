//! Times of day and their zones as logs write them.

use canter_names::zone_minutes;

use super::digits::{at, number, one_or_two, run, two};

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    /// Up to 60, which is a leap second.
    pub(crate) second: u8,
    /// Whether seconds are written at all.
    pub(crate) has_seconds: bool,
    pub(crate) nanos: u32,
    /// How many digits of the fraction count: up to 9.
    pub(crate) num_digits: u8,
}

/// Reads `10:00:00.123`, `10:00`, `8:05:09 PM`; `10.00.00` and `100000` only behind a day, with `is_dated` and
/// `is_compact`.
pub(super) fn read(
    text: &[u8],
    place: usize,
    is_dated: bool,
    is_compact: bool,
) -> Option<(Clock, usize)> {
    if is_compact && run(text, place) >= 6 {
        return compact(text, place);
    }
    let (hour, place) = one_or_two(text, place)?;
    if is_dated && at(text, place) == Some(0xe6) {
        return with_signs(text, place, hour);
    }
    let may_divide = |sep: &u8| *sep == b':' || (is_dated && matches!(sep, b'.' | b'-'));
    let sep = at(text, place).filter(may_divide)?;
    let (minute, place) = part(text, place + 1, is_dated)?;
    let second = match at(text, place) == Some(sep) {
        true => part(text, place + 1, is_dated),
        false => None,
    };
    let (second, after) = match second {
        Some((second, after)) => (Some(second), after),
        None => (None, place),
    };
    let mut clock = Clock {
        hour,
        minute,
        second: second.unwrap_or(0),
        has_seconds: second.is_some(),
        nanos: 0,
        num_digits: 0,
    };
    let mut end = place;
    if second.is_some() {
        end = match run(text, after) {
            // `10:00:07123`: milliseconds without a mark.
            3 if is_dated => digits(text, after, &mut clock),
            _ => fraction(text, after, &mut clock),
        };
    } else {
        // `10:00:` is one of `May 01, 2024 10:00: text`.
        let goes_on = at(text, place) == Some(b':') && run(text, place + 1) > 0;
        (sep == b':' && !goes_on && run(text, place) == 0).then_some(())?;
    }
    let end = half_day(text, end, &mut clock)?;
    is_clock(&clock).then_some((clock, end))
}

/// `10時00分00秒`, behind a day.
fn with_signs(text: &[u8], place: usize, hour: u8) -> Option<(Clock, usize)> {
    let after = |place: usize, sign: &str| {
        let rest = text.get(place..)?;
        rest.starts_with(sign.as_bytes())
            .then(|| place + sign.len())
    };
    let (minute, place) = one_or_two(text, after(place, "時").or_else(|| after(place, "时"))?)?;
    let (second, place) = one_or_two(text, after(place, "分")?)?;
    let clock = Clock {
        hour,
        minute,
        second,
        has_seconds: true,
        nanos: 0,
        num_digits: 0,
    };
    let end = after(place, "秒")?;
    is_clock(&clock).then_some((clock, end))
}

/// Minutes or seconds: two digits, or one behind a day, as in `20171224-0:0:1:12`.
fn part(text: &[u8], place: usize, is_dated: bool) -> Option<(u8, usize)> {
    match two(text, place) {
        Some(number) => Some((number, place + 2)),
        None if is_dated && run(text, place) == 1 => one_or_two(text, place),
        None => None,
    }
}

fn is_clock(clock: &Clock) -> bool {
    clock.hour < 24 && clock.minute < 60 && clock.second <= 60
}

/// `203615`, `203615123`, `203615.123`.
fn compact(text: &[u8], place: usize) -> Option<(Clock, usize)> {
    let mut clock = Clock {
        hour: two(text, place)?,
        minute: two(text, place + 2)?,
        second: two(text, place + 4)?,
        has_seconds: true,
        nanos: 0,
        num_digits: 0,
    };
    let end = match run(text, place) {
        6 => fraction(text, place + 6, &mut clock),
        9 | 12 => digits(text, place + 6, &mut clock),
        _ => return None,
    };
    is_clock(&clock).then_some((clock, end))
}

/// `.123`, `,123`, `:123`, ` 123 +0200`.
fn fraction(text: &[u8], place: usize, clock: &mut Clock) -> usize {
    if is_spaced_fraction(text, place) {
        return digits(text, place + 1, clock);
    }
    let mark = at(text, place).filter(|mark| matches!(mark, b'.' | b',' | b':'));
    match (mark, run(text, place + 1)) {
        (None, _) | (_, 0) => place,
        // The next value of a table.
        (Some(b','), 10..) => place,
        // Milliseconds without zeros before them: `0:0:1:12`.
        (Some(b':'), len @ (1 | 2)) => {
            let millis = number(text, place + 1, len).unwrap_or(0);
            clock.nanos = u32::try_from(millis * 1_000_000).unwrap_or(0);
            clock.num_digits = 3;
            place + 1 + len
        }
        _ => digits(text, place + 1, clock),
    }
}

/// Milliseconds behind a space, before an offset or what closes the time: elsewhere they are a number of the text.
fn is_spaced_fraction(text: &[u8], place: usize) -> bool {
    let behind = text.get(place + 4..).unwrap_or_default();
    let is_before_end = match behind {
        [b']' | b'>' | b')', ..] => true,
        [b' ', b'+' | b'-', ..] => run(text, place + 6) == 4,
        _ => false,
    };
    is_before_end && at(text, place) == Some(b' ') && run(text, place + 1) == 3
}

/// Nine digits count, the others are passed.
fn digits(text: &[u8], place: usize, clock: &mut Clock) -> usize {
    let len = run(text, place);
    let kept = len.min(9);
    let missing = u32::try_from(9 - kept).unwrap_or(0);
    let nanos = number(text, place, kept).map_or(0, |n| n * 10_u64.pow(missing));
    clock.nanos = u32::try_from(nanos).unwrap_or(0);
    clock.num_digits = u8::try_from(kept).unwrap_or(0);
    place + len
}

/// `AM`, `p.m.`, with a space before or not. Nothing if twelve hours are too few.
fn half_day(text: &[u8], place: usize, clock: &mut Clock) -> Option<usize> {
    let start = place + usize::from(at(text, place) == Some(b' '));
    let half = match at(text, start) {
        Some(b'A' | b'a') => 0,
        Some(b'P' | b'p') => 12,
        _ => return Some(place),
    };
    let dot = usize::from(at(text, start + 1) == Some(b'.'));
    if !matches!(at(text, start + 1 + dot), Some(b'M' | b'm')) {
        return Some(place);
    }
    let end = start + 2 + dot;
    let end = end + usize::from(dot == 1 && at(text, end) == Some(b'.'));
    if at(text, end).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return Some(place);
    }
    (1..=12).contains(&clock.hour).then_some(())?;
    clock.hour = clock.hour % 12 + half;
    Some(end)
}

/// Reads `Z`, `+02:00`, `+0200`, `+120`, `+02`, ` UTC`, ` +0200`, ` GMT+0200`, ` GMT -0500`, and a name in brackets behind those. Minutes east of
/// Greenwich; without a zone nothing, and the place it was.
pub(super) fn zone(text: &[u8], place: usize) -> (Option<i16>, usize) {
    let is_spaced = at(text, place) == Some(b' ');
    let start = place + usize::from(is_spaced);
    let found = match at(text, start) {
        Some(b'Z' | b'z') if !is_spaced => Some((0, start + 1)),
        Some(sign @ (b'+' | b'-')) => offset(text, start + 1, is_spaced)
            .map(|(minutes, end)| (if sign == b'-' { -minutes } else { minutes }, end)),
        Some(b'A'..=b'Z') => named(text, start),
        _ => None,
    };
    let is_end = |end: usize| !at(text, end).is_some_and(|byte| byte.is_ascii_alphanumeric());
    match found.filter(|(_, end)| is_end(*end)) {
        Some((minutes, end)) => (Some(minutes), after_name(text, end)),
        None => (None, place),
    }
}

fn offset(text: &[u8], place: usize, is_spaced: bool) -> Option<(i16, usize)> {
    // `+120`: minutes, as Db2 writes them.
    if let (3, false, Some(minutes)) = (run(text, place), is_spaced, number(text, place, 3)) {
        let minutes = i16::try_from(minutes).ok()?;
        return (minutes < 24 * 60).then_some((minutes, place + 3));
    }
    let hours = two(text, place)?;
    let colon = usize::from(at(text, place + 2) == Some(b':'));
    let (minutes, end) = match two(text, place + 2 + colon) {
        Some(minutes) => (minutes, place + 4 + colon),
        None if is_spaced || colon == 1 => return None,
        None => (0, place + 2),
    };
    let is_offset = hours < 24 && minutes < 60;
    is_offset.then_some((i16::from(hours) * 60 + i16::from(minutes), end))
}

fn named(text: &[u8], place: usize) -> Option<(i16, usize)> {
    let word = text.get(place..)?;
    let len = word.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let word = word.get(..len)?;
    let minutes = zone_minutes(word)?;
    let end = place + len;
    // `GMT+0200 (Central European Summer Time)`, as JavaScript writes a date; `GMT -0500`.
    let start = end + usize::from(at(text, end) == Some(b' '));
    if let (b"GMT" | b"UTC", Some(sign @ (b'+' | b'-'))) = (word, at(text, start))
        && let Some((minutes, end)) = offset(text, start + 1, true)
    {
        let minutes = if sign == b'-' { -minutes } else { minutes };
        return Some((minutes, after_comment(text, end)));
    }
    Some((minutes, end))
}

/// Passes the name of a zone in parentheses.
fn after_comment(text: &[u8], place: usize) -> usize {
    let inside = text.get(place..).and_then(|rest| rest.strip_prefix(b" ("));
    let inside = inside.unwrap_or_default();
    let is_name = |byte: &&u8| **byte >= 0x80 || byte.is_ascii_alphabetic() || **byte == b' ';
    let len = inside.iter().take_while(is_name).count();
    match inside.get(len) {
        Some(b')') if len > 0 => place + len + 3,
        _ => place,
    }
}

/// `2024-05-01T10:00:00+02:00[Europe/Berlin]`, as Java writes it.
fn after_name(text: &[u8], place: usize) -> usize {
    if at(text, place) != Some(b'[') {
        return place;
    }
    let inside = text.get(place + 1..).unwrap_or_default();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-');
    let len = inside.iter().take_while(is_name).count();
    let is_whole = inside.get(len) == Some(&b']');
    match is_whole && inside.first().is_some_and(u8::is_ascii_uppercase) {
        true => place + len + 2,
        false => place,
    }
}

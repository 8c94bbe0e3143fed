//! How a time is written, and reading one that is written so.

use super::calendar::MonthDay;
use super::calendar::{day_of, days_since_1970};
use super::clock::{self, Clock};
use super::date::{self, Date, DateForm};
use super::digits::{at, number, run, two};
use super::stamp::Stamp;

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimeForm {
    /// A day, and a time of day behind it.
    Dated(DateForm),
    /// `I0501 10:00:00.123456`, `I240501 …`, `I20240501 …`: glog, with the level's letter.
    Glog,
    /// Seconds, milliseconds, microseconds or nanoseconds since 1970, by the number of digits; or seconds with a
    /// fraction.
    Epoch,
    /// `663212a0.1e2f3a4b`: seconds since 1970 in hexadecimal digits, and nanoseconds or microseconds, as OpenLDAP
    /// writes them; and TAI64N, as daemontools and runit do: `@40000000663212aa12345678`.
    HexEpoch,
    /// `[    0.000000]`, `[    12.345]`, `[0.012s]`, `12.345: [GC`, `INFO[0012]`: seconds since the machine or the program
    /// was started.
    Uptime,
    /// A time of day alone.
    Clock,
    /// `{"ts":"2024-05-01T10:00:00Z","msg":"text"}`: an object between the lines of another layout, with a time among its
    /// members.
    Object,
    /// No time: `info: Microsoft.Hosting.Lifetime[14]`, as .NET's console begins a record, and other lines that begin with a
    /// level.
    Untimed,
}

/// What a time says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Time(Stamp),
    /// Seconds since the start: where their digits stand.
    Uptime {
        start: usize,
        end: usize,
    },
    /// No time.
    Nothing,
}

impl TimeForm {
    /// What is tried, likelier ones first.
    pub(crate) fn all() -> impl Iterator<Item = TimeForm> {
        let dated = DateForm::ALL.into_iter().map(TimeForm::Dated);
        dated.chain([
            TimeForm::Glog,
            TimeForm::Epoch,
            TimeForm::HexEpoch,
            TimeForm::Uptime,
            TimeForm::Object,
            TimeForm::Clock,
            TimeForm::Untimed,
        ])
    }

    /// Whether a text that begins with this byte may be of the form: spares most attempts.
    pub(crate) fn may_begin(self, first: u8) -> bool {
        match self {
            TimeForm::Dated(DateForm::NameDayYear) => first.is_ascii_alphabetic(),
            TimeForm::Dated(DateForm::DayNameYear | DateForm::NameDay) => {
                first.is_ascii_alphanumeric()
            }
            TimeForm::HexEpoch => first.is_ascii_hexdigit() || first == b'@',
            TimeForm::Glog => matches!(first, b'I' | b'W' | b'E' | b'F'),
            TimeForm::Uptime => {
                first == b'[' || first.is_ascii_digit() || first.is_ascii_uppercase()
            }
            TimeForm::Object => first == b'{',
            TimeForm::Untimed => first == b'[' || first.is_ascii_alphanumeric(),
            TimeForm::Dated(_) | TimeForm::Epoch | TimeForm::Clock => first.is_ascii_digit(),
        }
    }
}

/// Reads a time at a place, and says where it ends.
pub(crate) fn read(form: TimeForm, text: &[u8], place: usize) -> Option<(Reading, usize)> {
    let (reading, end) = match form {
        TimeForm::Dated(form) => dated(form, text, place)?,
        TimeForm::Glog => glog(text, place)?,
        TimeForm::Epoch => epoch(text, place)?,
        TimeForm::HexEpoch => hex_epoch(text, place)?,
        TimeForm::Uptime => return uptime(text, place),
        TimeForm::Object => return super::object::read_object(text, place),
        TimeForm::Untimed => {
            let (found, end) = (Reading::Nothing, place);
            let is_it = is_of_dotnet(text, place)
                || super::super::level::begins(text, place)
                // `I/Tag( 42): text`.
                || super::super::element::logcat(text, place).is_some();
            return is_it.then_some((found, end));
        }
        TimeForm::Clock => {
            let (clock, end) = clock::read(text, place, false, false)?;
            let has_half = end.checked_sub(1).and_then(|last| at(text, last));
            let is_sure = clock.has_seconds || matches!(has_half, Some(b'M' | b'm' | b'.'));
            is_sure.then_some(())?;
            let (zone, end) = clock::zone(text, end);
            let date = None;
            (Stamp { date, clock, zone }, end)
        }
    };
    // `10:00:00abc` is something else.
    let goes_on = at(text, end).is_some_and(|byte| byte.is_ascii_alphanumeric());
    (!goes_on).then_some((Reading::Time(reading), end))
}

fn dated(form: DateForm, text: &[u8], place: usize) -> Option<(Stamp, usize)> {
    let (mut date, end) = date::read(form, text, place)?;
    let place = gap(form, text, end)?;
    let (clock, end) = clock::read(text, place, true, form.is_compact())?;
    let (mut zone, mut end) = clock::zone(text, end);
    if form == DateForm::NameDay
        && let Some((year, after)) = year_behind(text, end)
    {
        date = Date::new(Some(year), date.month, date.day)?;
        end = after;
        if zone.is_none() {
            (zone, end) = clock::zone(text, end);
        }
    }
    (date.year.is_some() || clock.has_seconds || form == DateForm::NameDay).then_some(())?;
    let date = Some(date);
    Some((Stamp { date, clock, zone }, end))
}

/// Passes what stands between a day and a time of day.
fn gap(form: DateForm, text: &[u8], place: usize) -> Option<usize> {
    let one = match at(text, place)? {
        // `2024-05-01.10:00:07` of ZFS.
        b'T' | b't' | b'_' | b'-' | b';' | b'|' | b'\t' | b'.' => place + 1,
        b':' => place + 1 + usize::from(at(text, place + 1) == Some(b':')),
        b',' if at(text, place + 1) == Some(b' ') => place + 2,
        b' ' => match text.get(place + 1..place + 4) {
            // `Jan 01, 2024 at 10:00:00`.
            Some(b"at ") => place + 4,
            // `1/5/2024 -- 10:00:00`, as Suricata writes it.
            Some(b"-- ") => place + 4,
            // `May 1, 2024 @ 10:00:00.123`, as Kibana shows it.
            Some([b'@', b' ', digit]) if digit.is_ascii_digit() => place + 3,
            // `2024/05/01 - 10:00:00`.
            Some([b'-', b' ', digit]) if digit.is_ascii_digit() => place + 3,
            _ if at(text, place + 1) == Some(b' ') => {
                // A day behind a space is an hour of one digit.
                place
                    + 1
                    + usize::from(at(text, place + 2) != Some(b' ') && run(text, place + 2) != 1)
            }
            _ => place + 1,
        },
        b'0'..=b'9' if form == DateForm::Compact => place,
        _ => return None,
    };
    Some(one)
}

/// The year of `Sun Dec 04 04:47:44 2005`.
fn year_behind(text: &[u8], place: usize) -> Option<(u16, usize)> {
    let is_it = at(text, place) == Some(b' ') && run(text, place + 1) == 4;
    let year = number(text, place + 1, 4).filter(|_| is_it)?;
    let year = u16::try_from(year).ok()?;
    let ends = !matches!(at(text, place + 5), Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'.' | b'-' | b'/'));
    ((1970..2200).contains(&year) && ends).then_some((year, place + 5))
}

fn glog(text: &[u8], place: usize) -> Option<(Stamp, usize)> {
    matches!(at(text, place)?, b'I' | b'W' | b'E' | b'F').then_some(())?;
    let (date, end) = match run(text, place + 1) {
        4 => {
            let (month, day) = (two(text, place + 1)?, two(text, place + 3)?);
            (Date::new(None, month, day)?, place + 5)
        }
        6 => date::read(DateForm::ShortCompact, text, place + 1)?,
        8 => date::read(DateForm::Compact, text, place + 1)?,
        _ => return None,
    };
    (at(text, end)? == b' ').then_some(())?;
    let (clock, end) = clock::read(text, end + 1, true, false)?;
    clock.has_seconds.then_some(())?;
    let date = Some(date);
    let zone = None;
    Some((Stamp { date, clock, zone }, end))
}

/// 2001 to 2100: what is outside is no time of a log.
const EPOCH_SECONDS: std::ops::Range<u64> = 978_307_200..4_102_444_800;

fn epoch(text: &[u8], place: usize) -> Option<(Stamp, usize)> {
    let len = run(text, place);
    let (seconds, nanos, num_digits, end) = match len {
        10 => {
            let seconds = number(text, place, 10)?;
            let has_fraction = at(text, place + 10) == Some(b'.') && run(text, place + 11) > 0;
            match has_fraction {
                true => {
                    let len = run(text, place + 11);
                    let kept = len.min(9);
                    let missing = u32::try_from(9 - kept).ok()?;
                    let nanos = number(text, place + 11, kept)? * 10_u64.pow(missing);
                    (seconds, nanos, kept, place + 11 + len)
                }
                false => (seconds, 0, 0, place + 10),
            }
        }
        13 | 16 | 19 => {
            let unit = 10_u64.pow(u32::try_from(len - 10).ok()?);
            let whole = number(text, place, len)?;
            let nanos = (whole % unit) * (1_000_000_000 / unit);
            (whole / unit, nanos, len - 10, place + len)
        }
        _ => return None,
    };
    // An address, a version, a number with another unit.
    let goes_on = matches!(at(text, end), Some(b'.' | b'-' | b'/' | b'@' | b'%'));
    (!goes_on).then_some(())?;
    Some((stamp_of(seconds, nanos, num_digits)?, end))
}

fn hex_epoch(text: &[u8], place: usize) -> Option<(Stamp, usize)> {
    if at(text, place) == Some(b'@') {
        return tai64n(text, place);
    }
    let hex = |place: usize, len: usize| {
        let digits = std::str::from_utf8(text.get(place..place + len)?).ok()?;
        let is_end = !at(text, place + len).is_some_and(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).ok().filter(|_| is_end)
    };
    let seconds = hex(place, 8)?;
    let end = place + 8;
    if at(text, end) == Some(b' ') {
        return Some((stamp_of(seconds, 0, 0)?, end));
    }
    (at(text, end)? == b'.').then_some(())?;
    let (nanos, num_digits, end) = match (hex(end + 1, 8), hex(end + 1, 5)) {
        (Some(nanos), _) => (nanos, 9, end + 9),
        (None, Some(micros)) => (micros * 1_000, 6, end + 6),
        (None, None) => return None,
    };
    (nanos < 1_000_000_000 && at(text, end) == Some(b' ')).then_some(())?;
    Some((stamp_of(seconds, nanos, num_digits)?, end))
}

/// Reads a label of TAI64N: 2^62 and seconds, of which the tools that write it add ten to those since 1970, and
/// nanoseconds (`https://cr.yp.to/libtai/tai64.html`).
fn tai64n(text: &[u8], place: usize) -> Option<(Stamp, usize)> {
    const LABEL_OF_1970: u64 = (1 << 62) + 10;
    let end = place + 25;
    let is_end = !at(text, end).is_some_and(|byte| byte.is_ascii_alphanumeric());
    let digits = text.get(place + 1..end).filter(|_| is_end)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let (label, nanos) = digits.split_at_checked(16)?;
    let seconds = u64::from_str_radix(label, 16).ok()?;
    let nanos = u64::from_str_radix(nanos, 16).ok()?;
    (nanos < 1_000_000_000).then_some(())?;
    Some((
        stamp_of(seconds.checked_sub(LABEL_OF_1970)?, nanos, 9)?,
        end,
    ))
}

/// Returns the time of seconds since 1970, if they are within those of logs.
fn stamp_of(seconds: u64, nanos: u64, num_digits: usize) -> Option<Stamp> {
    EPOCH_SECONDS.contains(&seconds).then_some(())?;
    let day = day_of(i64::try_from(seconds / 86_400).ok()?)?;
    let part = |seconds: u64| u8::try_from(seconds).ok();
    let clock = Clock {
        hour: part(seconds / 3_600 % 24)?,
        minute: part(seconds / 60 % 60)?,
        second: part(seconds % 60)?,
        has_seconds: true,
        nanos: u32::try_from(nanos).ok()?,
        num_digits: u8::try_from(num_digits).ok()?,
    };
    let date = Date::new(Some(day.year), day.month, day.day);
    let zone = Some(0);
    Some(Stamp { date, clock, zone })
}

fn uptime(text: &[u8], place: usize) -> Option<(Reading, usize)> {
    match at(text, place)? {
        b'[' => {}
        b'A'..=b'Z' => return uptime_of_logrus(text, place),
        _ => return bare_uptime(text, place),
    }
    let inside = text.get(place + 1..)?;
    let num_spaces = inside.iter().take_while(|byte| **byte == b' ').count();
    let start = place + 1 + num_spaces;
    let whole = run(text, start);
    let fraction = run(text, start + whole + 1);
    let end = start + whole + 1 + fraction;
    // `[0.012s]`, as Java's garbage collector writes it.
    let close = end + usize::from(at(text, end) == Some(b's'));
    let is_it = (1..=9).contains(&whole)
        && at(text, start + whole) == Some(b'.')
        && matches!(fraction, 3 | 6)
        && at(text, close) == Some(b']');
    is_it.then_some((Reading::Uptime { start, end }, close + 1))
}

/// Reads `12.345: [GC (Allocation Failure) …`, as Java wrote its collections before version 9.
fn bare_uptime(text: &[u8], place: usize) -> Option<(Reading, usize)> {
    let whole = run(text, place);
    let end = place + whole + 4;
    let is_it = (1..=9).contains(&whole)
        && at(text, place + whole) == Some(b'.')
        && run(text, place + whole + 1) == 3
        && text.get(end..end + 3) == Some(b": [");
    is_it.then_some((Reading::Uptime { start: place, end }, end + 1))
}

/// Reads `INFO[0012] text`, as logrus begins a line (`https://github.com/sirupsen/logrus`): a level of four letters, and
/// seconds since the start in at least four digits.
fn uptime_of_logrus(text: &[u8], place: usize) -> Option<(Reading, usize)> {
    const LEVELS: [&[u8]; 7] = [
        b"TRAC", b"DEBU", b"INFO", b"WARN", b"ERRO", b"FATA", b"PANI",
    ];
    let level = text.get(place..place + 4)?;
    (LEVELS.contains(&level) && at(text, place + 4) == Some(b'[')).then_some(())?;
    let start = place + 5;
    let len = run(text, start);
    let is_seconds = len == 4 || ((5..=9).contains(&len) && at(text, start) != Some(b'0'));
    let end = start + len;
    let num_zeros = text.iter().skip(start).take_while(|byte| **byte == b'0');
    let start = start + num_zeros.count().min(len.saturating_sub(1));
    let is_it = is_seconds && text.get(end..end + 2) == Some(b"] ");
    is_it.then_some((Reading::Uptime { start, end }, end + 1))
}

/// Minutes east of Greenwich of `+02:00`, `-0730`, `UTC`, `Z`; nothing for other names.
pub(super) fn zone_minutes(text: &str) -> Option<i16> {
    let (zone, end) = clock::zone(text.as_bytes(), 0);
    zone.filter(|_| end == text.len() && !text.starts_with(' '))
}

/// A level of .NET's console, and a category with the number of an event, which nothing follows in the line.
/// `https://learn.microsoft.com/en-us/dotnet/core/extensions/console-log-formatter`
fn is_of_dotnet(text: &[u8], place: usize) -> bool {
    const LEVELS: [&[u8]; 6] = [b"trce", b"dbug", b"info", b"warn", b"fail", b"crit"];
    let line = text.get(place..).unwrap_or_default();
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some((level, rest)) = line.split_at_checked(4) else {
        return false;
    };
    let number = rest.strip_prefix(b": ").map(<[u8]>::trim_ascii_end);
    let Some(number) = number.and_then(|number| number.strip_suffix(b"]")) else {
        return false;
    };
    let Some(open) = number.iter().rposition(|byte| *byte == b'[') else {
        return false;
    };
    let (category, event) = number.split_at_checked(open).unwrap_or_default();
    let event = event.get(1..).unwrap_or_default();
    !event.is_empty()
        && event.iter().all(u8::is_ascii_digit)
        && LEVELS.contains(&level)
        && category.first().is_some_and(u8::is_ascii_alphabetic)
        && !category.iter().any(u8::is_ascii_whitespace)
}

/// The day of a time, from 1970-01-01 on: within a year that is not said, of 2000.
pub(crate) fn days_of(reading: Reading) -> Option<i64> {
    let Reading::Time(Stamp {
        date: Some(date), ..
    }) = reading
    else {
        return None;
    };
    Some(days_since_1970(MonthDay {
        year: date.year.unwrap_or(2000),
        month: date.month,
        day: date.day,
    }))
}

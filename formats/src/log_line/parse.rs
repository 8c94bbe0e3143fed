//! A record of a known layout → a JSON object.
//!
//! `head` and `message` together are the record's text, byte for byte. Where they are not, because colours were
//! taken out, `original` is.

use std::borrow::Cow;

use super::lambda;
use super::layout::{Head, LineLayout};
use super::learn::logger_at_end;
use super::step::Field;
use super::time::{Reading, Reference};
use crate::json::Object;

impl LineLayout {
    /// Writes the object of a record.
    pub(crate) fn parse(&self, record: &str, reference: &Reference, out: &mut Vec<u8>) {
        let text = without_colours(record);
        let head = self.head(text.as_bytes());
        let mut object = Object::begin(out);
        if let Some(reading) = head.as_ref().map(|head| head.reading).or(self.first) {
            add_time(&text, reading, head.is_some(), reference, &mut object);
        }
        let before = add_rest(&text, head.as_ref(), &mut object);
        match text {
            Cow::Borrowed(_) if before.is_empty() => {}
            Cow::Borrowed(_) => object.string("head", before),
            Cow::Owned(_) => object.string("original", record),
        }
        object.end();
    }

    /// Adds what a text without colours says beside its time, and gives back its head.
    pub(crate) fn add_members<'t>(&self, text: &'t str, object: &mut Object<'_>) -> &'t str {
        let head = self.head(text.as_bytes());
        add_rest(text, head.as_ref(), object)
    }
}

/// Adds the fields and the message, and gives back what stands before that.
fn add_rest<'t>(text: &'t str, head: Option<&Head>, object: &mut Object<'_>) -> &'t str {
    let end = head.map_or(0, |head| head.end);
    let (before, message) = text.split_at_checked(end).unwrap_or(("", text));
    if let Some(head) = head {
        add_found(text, head, message, object);
    }
    object.string("message", message);
    before
}

/// Adds the time of a record, or of the first one if it has none itself.
fn add_time(
    text: &str,
    reading: Reading,
    is_own: bool,
    reference: &Reference,
    object: &mut Object<'_>,
) {
    match reading {
        Reading::Time(stamp) if stamp.date.is_some() => {
            let mut time = Vec::with_capacity(36);
            if stamp.write(reference, &mut time).is_some() {
                let out = object.value("timestamp");
                out.push(b'"');
                out.extend_from_slice(&time);
                out.push(b'"');
            }
        }
        Reading::Time(stamp) if is_own => {
            let out = object.value("time_of_day");
            out.push(b'"');
            stamp.write_clock(out);
            out.push(b'"');
        }
        Reading::Uptime { start, end } if is_own => {
            object.number("uptime_seconds", text.get(start..end).unwrap_or_default());
        }
        Reading::Time(_) | Reading::Uptime { .. } => {}
    }
}

fn add_found(text: &str, head: &Head, message: &str, object: &mut Object<'_>) {
    let mut has_logger = false;
    let mut has_request = false;
    for (field, name) in Field::ALL {
        if field == Field::Level
            && let Some(level) = head.found.level
        {
            object.string(name, level);
            continue;
        }
        let Some(value) = head.found.get(field).and_then(|range| text.get(range)) else {
            continue;
        };
        has_logger |= field == Field::Logger;
        has_request |= field == Field::RequestId;
        object.string(name, value);
    }
    if head.has_logger_at_end && !has_logger {
        let line = message.split('\n').next().unwrap_or_default();
        let name = logger_at_end(line.as_bytes()).and_then(|range| line.get(range));
        if let Some(name) = name {
            object.string("logger", name);
        }
    }
    lambda::add(message, has_request, object);
}

/// Begins a sequence that colours what follows it on a terminal.
pub(super) const ESCAPE: u8 = 0x1b;

/// The text without the sequences that colour it on a terminal.
pub(crate) fn without_colours(text: &str) -> Cow<'_, str> {
    if memchr::memchr(ESCAPE, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let Some(inside) = after.strip_prefix('[') else {
            plain.push('\u{1b}');
            rest = after;
            continue;
        };
        let end = inside.find(|c: char| !matches!(c, '0'..='9' | ';' | '?' | ':'));
        let (_, from) = inside
            .split_at_checked(end.unwrap_or(inside.len()))
            .unwrap_or(("", ""));
        let mut chars = from.chars();
        match chars.next() {
            Some('@'..='~') => rest = chars.as_str(),
            _ => rest = from,
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

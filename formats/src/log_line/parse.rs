//! A record of a known layout → the members of a document.
//!
//! `head`, `message` and `tail` together are the record's text, byte for byte. Where they are not, because colours were
//! taken out, `original` is.

use std::borrow::Cow;
use std::ops::Range;

use super::known::{Around, HEAD_WORDS, lambda};
use super::layout::{Head, LineLayout};
use super::level;
use super::naming::logger_at_end;
use super::step::Field;
use super::time::{Reading, Reference};
use crate::json::Members;

impl LineLayout {
    /// Adds all members of the document of a record.
    pub(crate) fn parse(&self, record: &str, reference: &Reference<'_>, members: &mut dyn Members) {
        let text = without_colours(record);
        let around = match self.known {
            Some(known) => {
                let own = known.reading(&text);
                if let Some(reading) = own.or(self.first) {
                    add_time(&text, reading, own.is_some(), reference, members);
                }
                known.add(&text, self.wants_words, members)
            }
            None => {
                let head = self.head(text.as_bytes());
                if let Some(reading) = head.as_ref().map(|head| head.reading).or(self.first) {
                    add_time(&text, reading, head.is_some(), reference, members);
                }
                self.add_rest(&text, head.as_ref(), members)
            }
        };
        match text {
            Cow::Borrowed(_) if around.is_whole && around.head.is_empty() => {}
            Cow::Borrowed(_) if around.is_whole => members.string("head", around.head),
            _ => members.string("original", record),
        }
    }

    /// Adds what a text without colours says beside its time, and gives back what stands around its message.
    pub(crate) fn add_members<'t>(&self, text: &'t str, members: &mut dyn Members) -> Around<'t> {
        if let Some(known) = self.known {
            return known.add(text, self.wants_words, members);
        }
        let head = self.head(text.as_bytes());
        self.add_rest(text, head.as_ref(), members)
    }

    fn add_rest<'t>(
        &self,
        text: &'t str,
        head: Option<&Head>,
        members: &mut dyn Members,
    ) -> Around<'t> {
        if let Some(head) = head.filter(|_| self.wants_words) {
            add_words(text, head, members);
        }
        add_rest(text, head, members)
    }
}

/// Adds the words of a head without its time, and without the numbers of process and thread, which have fields of
/// their own with the same terms.
fn add_words(text: &str, head: &Head, members: &mut dyn Members) {
    let number = |field: Field| {
        let range = head.found.get(field)?;
        let is_number = text
            .get(range.clone())?
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        is_number.then_some(range)
    };
    let none = || head.end..head.end;
    let mut left_out = [
        head.time.clone(),
        number(Field::ProcessId).unwrap_or_else(none),
        number(Field::ThreadId).unwrap_or_else(none),
    ];
    left_out.sort_unstable_by_key(|range| range.start);
    let mut words = String::with_capacity(head.end);
    let mut from = 0;
    for range in left_out.into_iter().chain([none()]) {
        words.push_str(
            text.get(from..range.start.min(head.end))
                .unwrap_or_default(),
        );
        words.push(' ');
        from = from.max(range.end);
    }
    if words.contains(char::is_alphanumeric) {
        members.string(HEAD_WORDS, words.trim());
    }
}

/// Adds the fields and the message, and gives back what stands before that.
fn add_rest<'t>(text: &'t str, head: Option<&Head>, members: &mut dyn Members) -> Around<'t> {
    let end = head.map_or(0, |head| head.end);
    let (before, message) = text.split_at_checked(end).unwrap_or(("", text));
    let logger = head.and_then(|head| add_found(text, head, message, members));
    // ` (kafka.server.KafkaServer)` at the end of the first line is no part of what is told.
    let tail = logger.map(|range| {
        let start = message.get(..range.start).unwrap_or_default();
        start.trim_end_matches('(').trim_end().len()..range.end + 1
    });
    let mut is_whole = true;
    match tail.and_then(|tail| Some((message.get(..tail.start)?, message.get(tail)?))) {
        Some((told, tail)) => match message.get(told.len() + tail.len()..) {
            None | Some("") => {
                members.string("message", told);
                members.string("tail", tail);
            }
            Some(others) => {
                members.string("message", &[told, others].concat());
                is_whole = false;
            }
        },
        None => members.string("message", message),
    }
    Around {
        head: before,
        is_whole,
    }
}

/// Adds the time of a record, or of the first one if it has none itself.
fn add_time(
    text: &str,
    reading: Reading,
    is_own: bool,
    reference: &Reference<'_>,
    members: &mut dyn Members,
) {
    match reading {
        Reading::Time(stamp) if stamp.date.is_some() => {
            let mut time = Vec::with_capacity(36);
            if stamp.write(reference, &mut time).is_some() {
                add_ascii("timestamp", &time, members);
            }
        }
        Reading::Time(stamp) if is_own => {
            let mut time = Vec::with_capacity(18);
            stamp.write_clock(&mut time);
            add_ascii("time_of_day", &time, members);
        }
        Reading::Uptime { start, end } if is_own => {
            members.number("uptime_seconds", text.get(start..end).unwrap_or_default());
        }
        Reading::Time(_) | Reading::Uptime { .. } | Reading::Nothing => {}
    }
}

fn add_ascii(name: &str, text: &[u8], members: &mut dyn Members) {
    members.string(name, std::str::from_utf8(text).unwrap_or_default());
}

/// Adds fields; gives back where the message names the logger, if it does.
fn add_found(
    text: &str,
    head: &Head,
    message: &str,
    members: &mut dyn Members,
) -> Option<Range<usize>> {
    let mut has_logger = false;
    let mut has_request = false;
    let told = match head.found.has_level() {
        true => None,
        false if head.has_level_in_pairs => level::in_message(message),
        false => {
            let at_start = head.may_tell_level.then(|| level::at_start(message));
            // Other records may have their level where this one has pairs.
            at_start.flatten().or_else(|| level::behind_pairs(message))
        }
    };
    if let Some(level) = told {
        members.string("level", &level);
    }
    for (field, name) in Field::ALL {
        if field == Field::Level
            && let Some(level) = head.found.level
        {
            members.string(name, level);
            continue;
        }
        let Some(value) = head.found.get(field).and_then(|range| text.get(range)) else {
            continue;
        };
        if field == Field::Level {
            members.string(name, &level::normal(value));
            continue;
        }
        has_logger |= field == Field::Logger;
        has_request |= field == Field::RequestId;
        members.string(name, value);
    }
    let mut at_end = None;
    if head.has_logger_at_end && !has_logger {
        let line = message.split('\n').next().unwrap_or_default();
        at_end = logger_at_end(line.as_bytes());
        if let Some(name) = at_end.clone().and_then(|range| line.get(range)) {
            members.string("logger", name);
        }
    }
    lambda::add(message, has_request, members);
    at_end
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

//! Mailboxes: mails one after another, each behind a line with its sender and the time of its delivery
//! (`https://www.rfc-editor.org/rfc/rfc4155#appendix-A`).
//!
//! ```text
//! From alice@example.com Wed May  1 10:00:07 2024
//! Date: Wed, 01 May 2024 12:00:07 +0200
//! Subject: Meeting
//!
//! text
//! ```
//!
//! The time of a mail is that of its header `Date`, which has a zone.

use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

/// Headers that are fields.
const FIELDS: [(&str, &str); 5] = [
    ("From", "from"),
    ("To", "to"),
    ("Cc", "cc"),
    ("Subject", "subject"),
    ("Message-ID", "message_id"),
];

/// Returns the time of delivery in the first line.
fn delivery(line: &str) -> Option<Reading> {
    let (sender, time) = line.strip_prefix("From ")?.split_once(' ')?;
    let is_sender = sender.contains('@') || sender == "-" || sender == "MAILER-DAEMON";
    let form = TimeForm::Dated(DateForm::NameDay);
    // `Wed May  1 10:00:07 2024`.
    let (_, day) = time.trim_start().split_once(' ').filter(|_| is_sender)?;
    Some(read(form, day.as_bytes(), 0)?.0)
}

pub(in super::super) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"From ")
        && std::str::from_utf8(line).is_ok_and(|line| delivery(line).is_some())
}

/// Returns the value of a header on its first line.
fn header<'t>(record: &'t str, name: &str) -> Option<&'t str> {
    let lines = record.lines().skip(1).take_while(|line| !line.is_empty());
    let mut values = lines.filter_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name).then_some(value.trim())
    });
    values.next().filter(|value| !value.is_empty())
}

pub(in super::super) fn reading(record: &str) -> Option<Reading> {
    let date = header(record, "Date").and_then(|date| {
        let day = date.split_once(", ").map_or(date, |(_, day)| day);
        Some(read(TimeForm::Dated(DateForm::DayNameYear), day.as_bytes(), 0)?.0)
    });
    date.or_else(|| delivery(record.lines().next()?))
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(in super::super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    for (name, field) in FIELDS {
        if let Some(value) = header(record, name) {
            members.string(field, value);
        }
    }
    members.string("message", record);
    Some("")
}

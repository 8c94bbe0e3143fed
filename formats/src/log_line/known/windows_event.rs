//! Events of Windows as `wevtutil query-events` and PowerShell's `ToXml()` write them:
//! `https://learn.microsoft.com/en-us/windows/win32/wes/eventschema-schema`.
//!
//! ```text
//! <Event xmlns='…'><System><Provider Name='X'/><EventID>4624</EventID><Level>4</Level>
//!   <TimeCreated SystemTime='2024-05-01T10:00:00.1234567Z'/>…</System><EventData><Data Name='User'>alice</Data></EventData></Event>
//! ```
//!
//! The message is the event as it is written. This is no XML parser: it looks for the elements that the schema names.
//! Events of the Network Policy Server have an element for each value instead
//! (`https://learn.microsoft.com/en-us/windows-server/networking/technologies/nps/nps-accounting-configure`):
//!
//! ```text
//! <Event><Timestamp data_type="4">05/01/2024 10:00:07.123</Timestamp><Computer-Name data_type="1">NPS1</Computer-Name>…
//! ```

use std::borrow::Cow;

use super::blocks::Names;
use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

/// Elements of `System`, each with the attribute that has the value, and the field.
const FIELDS: [(&str, Option<&str>, &str); 10] = [
    ("Provider", Some("Name"), "logger"),
    ("EventID", None, "event_id"),
    ("Task", None, "task"),
    ("Keywords", None, "keywords"),
    ("EventRecordID", None, "event_record_id"),
    ("Execution", Some("ProcessID"), "process_id"),
    ("Execution", Some("ThreadID"), "thread_id"),
    ("Channel", None, "channel"),
    ("Computer", None, "computer"),
    ("Security", Some("UserID"), "user_id"),
];

/// Returns whether a line stands before the first event.
pub(super) fn is_prologue(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"<?xml") || line == b"<Events>"
}

pub(super) fn begins(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"<Events>").unwrap_or(line);
    line.starts_with(b"<Event ") || line.starts_with(b"<Event>")
}

/// An element: its attributes, and the text up to the next tag.
#[derive(Clone, Copy)]
struct Element<'t> {
    attributes: &'t str,
    text: &'t str,
    /// The text behind its first tag.
    rest: &'t str,
}

/// Returns the first element with a name.
fn element<'t>(text: &'t str, name: &str) -> Option<Element<'t>> {
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once('<')?;
        rest = after;
        let Some(inside) = after.strip_prefix(name) else {
            continue;
        };
        if !inside.starts_with([' ', '>', '/', '\n', '\r', '\t']) {
            continue;
        }
        let (tag, behind) = inside.split_once('>')?;
        let (attributes, text) = match tag.strip_suffix('/') {
            Some(attributes) => (attributes, ""),
            None => (tag, behind.split('<').next().unwrap_or_default()),
        };
        return Some(Element {
            attributes,
            text,
            rest: behind,
        });
    }
}

/// Returns the value of an attribute.
fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = attributes;
    loop {
        let (before, after) = rest.split_once(name)?;
        let begins = before.ends_with(char::is_whitespace);
        rest = after;
        let quoted = after.trim_start().strip_prefix('=').map(str::trim_start);
        let quote = quoted.and_then(|quoted| quoted.chars().next());
        if let (true, Some(quoted), Some(quote @ ('"' | '\''))) = (begins, quoted, quote) {
            return quoted.get(1..)?.split(quote).next();
        }
    }
}

/// Resolves the entities that XML defines.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
    ];
    let mut plain = text.to_owned();
    for (entity, c) in entities {
        plain = plain.replace(entity, c);
    }
    // The last one, since it begins the others.
    Cow::Owned(plain.replace("&amp;", "&"))
}

/// Returns whether an element says the type of its value, as those of the Network Policy Server do.
fn is_typed(element: &Element<'_>) -> bool {
    attribute(element.attributes, "data_type").is_some()
}

/// Adds the values of elements that say their types, but the time.
fn add_typed(record: &str, names: &mut Names, members: &mut dyn Members) {
    let mut rest = record;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        let Some((tag, behind)) = after.split_once('>') else {
            return;
        };
        let name_len = tag.find(' ').unwrap_or(tag.len());
        let (name, attributes) = tag.split_at_checked(name_len).unwrap_or_default();
        let value = behind.split('<').next().unwrap_or_default().trim();
        let kind = attribute(attributes, "data_type").filter(|_| !value.is_empty());
        let field = name.to_ascii_lowercase().replace('-', "_");
        match kind {
            None => {}
            Some(_) if name == "Timestamp" => {}
            Some("0") => members.number(&names.free(&field), value),
            Some(_) => members.string(&names.free(&field), &unescaped(value)),
        }
    }
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    if let Some(time) = element(record, "Timestamp").filter(|time| is_typed(time)) {
        let form = TimeForm::Dated(DateForm::MonthDayYear(b'/'));
        return Some(read(form, time.text.as_bytes(), 0)?.0);
    }
    let created = element(record, "TimeCreated")?;
    let time = attribute(created.attributes, "SystemTime")?;
    let form = TimeForm::Dated(DateForm::YearMonthDay(b'-'));
    Some(read(form, time.as_bytes(), 0)?.0)
}

fn level(record: &str) -> Option<&'static str> {
    Some(match element(record, "Level")?.text.trim() {
        "1" => "CRITICAL",
        "2" => "ERROR",
        "3" => "WARN",
        // What audits have.
        "0" | "4" => "INFO",
        "5" => "TRACE",
        _ => return None,
    })
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    element(record, "Event")?;
    let mut names = Names::default();
    if let Some(level) = level(record) {
        members.string("level", level);
    }
    for (name, of, field) in FIELDS {
        let found = element(record, name).and_then(|element| match of {
            Some(of) => attribute(element.attributes, of),
            None => Some(element.text),
        });
        if let Some(value) = found.map(str::trim).filter(|value| !value.is_empty()) {
            members.string(field, &unescaped(value));
            names.take(field);
        }
    }
    if element(record, "Timestamp").is_some_and(|time| is_typed(&time)) {
        add_typed(record, &mut names, members);
    }
    let mut rest = element(record, "EventData").map_or("", |data| data.rest);
    while let Some(data) = element(rest, "Data") {
        rest = data.rest;
        let value = data.text.trim();
        if !value.is_empty() && value != "-" {
            let key = attribute(data.attributes, "Name").unwrap_or("data");
            members.bare(&names.free(key), &unescaped(value));
        }
    }
    members.string("message", record);
    Some("")
}

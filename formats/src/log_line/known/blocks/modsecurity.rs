//! ModSecurity's audit log in its native form:
//! `https://github.com/owasp-modsecurity/ModSecurity/wiki/ModSecurity-2-Data-Formats`.
//!
//! ```text
//! --a1b2c3d4-A--
//! [01/May/2024:10:00:00 +0000] unique-id 10.0.0.1 40000 10.0.0.2 80
//! --a1b2c3d4-H--
//! Message: Access denied with code 403 (phase 2). [id "941100"] [severity "CRITICAL"]
//! --a1b2c3d4-Z--
//! ```
//!
//! The message is the whole transaction.

use crate::json::Members;
use crate::log_line::level;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

const END: &[u8] = b"-A--";

pub(in crate::log_line::known) fn begins(line: &[u8]) -> bool {
    let id = line
        .strip_prefix(b"--")
        .and_then(|line| line.strip_suffix(END));
    id.is_some_and(|id| id.len() >= 8 && id.iter().all(u8::is_ascii_alphanumeric))
}

/// Returns the line with the time and the addresses.
fn second(record: &str) -> Option<&str> {
    record.split('\n').nth(1)
}

pub(in crate::log_line::known) fn reading(record: &str) -> Option<Reading> {
    let inside = second(record)?.strip_prefix('[')?;
    let form = TimeForm::Dated(DateForm::DayNameYear);
    Some(read(form, inside.as_bytes(), 0)?.0)
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(in crate::log_line::known) fn add<'t>(
    record: &'t str,
    members: &mut dyn Members,
) -> Option<&'t str> {
    let (_, rest) = second(record)?.split_once("] ")?;
    let severity = record
        .split_once("[severity \"")
        .and_then(|(_, rest)| rest.split('"').next());
    if let Some(severity) = severity.filter(|severity| level::is_level(severity)) {
        members.string("level", &level::normal(severity));
    }
    let mut words = rest.split_ascii_whitespace();
    if let Some(id) = words.next() {
        members.string("request_id", id);
    }
    if let (Some(address), Some(port)) = (words.next(), words.next()) {
        members.string("client", &format!("{address}:{port}"));
    }
    members.string("message", record);
    Some("")
}

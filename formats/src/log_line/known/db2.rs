//! The diagnostic log of Db2, `db2diag.log`:
//! `https://www.ibm.com/docs/en/db2/11.5?topic=file-interpreting-db2diag-log-entries`.
//!
//! ```text
//! 2024-05-01-10.00.00.123456+120 I1234E456           LEVEL: Severe
//! PID     : 1234                 TID  : 139876         PROC : db2sysc
//! FUNCTION: DB2 UDB, base sys utilities, sqleDatabaseInit, probe:12
//! MESSAGE : text
//! ```
//!
//! The number behind the time is that of the minutes east of Greenwich.

use super::HEAD_WORDS;
use crate::json::Members;
use crate::log_line::level;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

const LEVEL: &str = " LEVEL: ";

pub(super) fn begins(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_digit)
        && memchr::memmem::find(line, LEVEL.as_bytes()).is_some()
        && time(line).is_some()
}

fn time(line: &[u8]) -> Option<(Reading, usize)> {
    let form = TimeForm::Dated(DateForm::YearMonthDay(b'-'));
    let (reading, end) = read(form, line, 0)?;
    (end >= 26 && line.get(10) == Some(&b'-')).then_some((reading, end))
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    Some(time(record.as_bytes())?.0)
}

/// Returns the word behind a key, such as `PID     : `.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = text;
    loop {
        let at = rest.find(key)?;
        let begins = rest.get(..at)?.chars().next_back();
        let after = rest.get(at + key.len()..)?;
        let value = after.trim_start_matches(' ').strip_prefix(": ");
        match value {
            Some(value) if begins.is_none_or(char::is_whitespace) => {
                return value.split_whitespace().next();
            }
            _ => rest = after,
        }
    }
}

/// Adds the fields and the message. Returns the text before the message.
pub(super) fn add<'t>(
    record: &'t str,
    wants_words: bool,
    members: &mut dyn Members,
) -> Option<&'t str> {
    let (_, end) = time(record.as_bytes())?;
    let head_len = record.find('\n').map_or(record.len(), |end| end + 1);
    let (head, message) = record.split_at_checked(head_len)?;
    let words = head.get(end..)?.trim();
    let level = words.split_once(LEVEL.trim_start()).map(|(_, level)| level);
    match level.and_then(|level| level.split_whitespace().next()) {
        // What everybody should know, without being an error.
        Some("Event") => members.string("level", "INFO"),
        Some(level) => members.string("level", &level::normal(level)),
        None => {}
    }
    for (key, field) in [
        ("PROC", "logger"),
        ("PID", "process_id"),
        ("TID", "thread_id"),
    ] {
        if let Some(value) = value(message, key) {
            members.string(field, value);
        }
    }
    if wants_words {
        members.string(HEAD_WORDS, words);
    }
    members.string("message", message);
    Some(head)
}

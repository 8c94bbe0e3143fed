//! The journal's export format: `https://systemd.io/JOURNAL_EXPORT_FORMATS/`.
//!
//! ```text
//! __CURSOR=s=abc;i=1
//! __REALTIME_TIMESTAMP=1714557600123456
//! PRIORITY=6
//! MESSAGE=Accepted password for alice
//! ```
//!
//! A blank line ends an entry. A value of several lines stands behind its name's line, after its length in eight bytes.

use std::borrow::Cow;

use super::blocks::Names;
use crate::json::Members;
use crate::log_line::level::OF_SYSLOG;
use crate::log_line::time::{Reading, TimeForm, read};

/// Fields that lines with a time have under other names.
const FIELDS: [(&str, &str); 4] = [
    ("SYSLOG_IDENTIFIER", "logger"),
    ("_PID", "process_id"),
    ("_TID", "thread_id"),
    ("_HOSTNAME", "hostname"),
];
/// Number of bytes of a value's length.
const LEN: usize = 8;

pub(crate) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"__CURSOR=")
}

/// Returns the fields of an entry.
fn fields(record: &str) -> Vec<(&str, &str)> {
    let mut fields = Vec::new();
    let mut rest = record;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some((name, value)) = line.split_once('=') {
            fields.push((name, value));
            continue;
        }
        let len = after.as_bytes().first_chunk::<LEN>();
        let len = len.and_then(|len| usize::try_from(u64::from_le_bytes(*len)).ok());
        let value = len.and_then(|len| after.get(LEN..LEN.checked_add(len)?));
        if let Some(value) = value.filter(|_| !line.is_empty()) {
            fields.push((line, value));
            let end = after.get(LEN + value.len()..).unwrap_or_default();
            rest = end.strip_prefix('\n').unwrap_or(end);
        }
    }
    fields
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    let fields = fields(record);
    let (_, time) = fields
        .iter()
        .find(|(name, _)| *name == "__REALTIME_TIMESTAMP")?;
    Some(read(TimeForm::Epoch, time.as_bytes(), 0)?.0)
}

/// Adds the fields and the message of an entry.
pub(super) fn add(record: &str, members: &mut dyn Members) {
    let mut names = Names::default();
    let mut message: Option<Cow<'_, str>> = None;
    for (name, value) in fields(record) {
        let level = match (name, value.parse::<usize>()) {
            ("PRIORITY", Ok(number)) => OF_SYSLOG.get(number),
            _ => None,
        };
        if let Some(level) = level.filter(|_| !names.has("level")) {
            members.string("level", level);
            names.take("level");
            continue;
        }
        if name == "MESSAGE" && message.is_none() {
            message = Some(value.into());
            continue;
        }
        let known = FIELDS.iter().find(|(own, _)| *own == name);
        let first = known.filter(|(_, field)| !names.has(field));
        match first {
            Some((_, field)) => {
                names.take(field);
                members.string(field, value);
            }
            None => members.string(&names.free(name), value),
        }
    }
    members.string("message", message.as_deref().unwrap_or(record));
}

//! Oracle's alert and listener logs in XML, `log.xml`:
//! `https://docs.oracle.com/en/database/oracle/oracle-database/19/admin/diagnosing-and-resolving-problems.html`.
//!
//! ```text
//! <msg time='2024-05-01T10:00:07.123+02:00' org_id='oracle' comp_id='tnslsnr'
//!  type='UNKNOWN' level='16' host_id='db1' pid='42'>
//!  <txt>Service "orders" has 1 instance(s).
//!  </txt>
//! </msg>
//! ```
//!
//! The message is the record as it is written.

use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

const FIELDS: [(&str, &str); 6] = [
    ("comp_id", "logger"),
    ("host_id", "hostname"),
    ("pid", "process_id"),
    ("tid", "thread_id"),
    ("msg_id", "code"),
    ("client_id", "client"),
];

pub(super) fn begins(line: &[u8]) -> bool {
    [&b"<msg time='"[..], b"<msg time=\""]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Returns an attribute of the first tag.
fn attribute<'t>(record: &'t str, name: &str) -> Option<&'t str> {
    let (tag, _) = record.split_once('>')?;
    let mut rest = tag;
    loop {
        let (before, after) = rest.split_once(name)?;
        rest = after;
        let value = after
            .strip_prefix('=')
            .filter(|_| before.ends_with(char::is_whitespace));
        let quote = value.and_then(|value| value.chars().next());
        if let (Some(value), Some(quote @ ('\'' | '"'))) = (value, quote) {
            return value.get(1..)?.split(quote).next();
        }
    }
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    let time = attribute(record, "time")?;
    let form = TimeForm::Dated(DateForm::YearMonthDay(b'-'));
    Some(read(form, time.as_bytes(), 0)?.0)
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    match attribute(record, "type") {
        Some("ERROR" | "INCIDENT_ERROR") => members.string("level", "ERROR"),
        Some("WARNING") => members.string("level", "WARN"),
        Some("NOTIFICATION") => members.string("level", "INFO"),
        Some("TRACE") => members.string("level", "TRACE"),
        _ => {}
    }
    for (name, field) in FIELDS {
        if let Some(value) = attribute(record, name).filter(|value| !value.is_empty()) {
            members.string(field, value);
        }
    }
    members.string("message", record);
    Some("")
}

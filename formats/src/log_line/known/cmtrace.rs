//! Logs of Microsoft's Configuration Manager, which CMTrace shows:
//! `https://learn.microsoft.com/en-us/intune/configmgr/core/support/cmtrace`.
//!
//! ```text
//! <![LOG[text]LOG]!><time="10:00:00.123-120" date="05-01-2024" component="CcmExec" context="" type="1" thread="42" file="a.cpp:12">
//! ```
//!
//! The number behind the time is Windows' bias: the minutes from local time to UTC.

use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

const BEGIN: &str = "<![LOG[";
const END: &str = "]LOG]!>";

pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(BEGIN.as_bytes())
}

/// The text of a record, and what follows it.
fn parts(record: &str) -> Option<(&str, &str)> {
    let inside = record.strip_prefix(BEGIN)?;
    inside.split_at_checked(inside.rfind(END)?)
}

/// Returns the value of an attribute.
fn attribute<'t>(tail: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = tail;
    loop {
        let at = rest.find(name)?;
        let begins = rest.get(..at)?.ends_with([' ', '<']);
        rest = rest.get(at + name.len()..)?;
        if begins && let Some(value) = rest.strip_prefix("=\"") {
            return value.get(..value.find('"')?);
        }
    }
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    let (_, tail) = parts(record)?;
    let (time, date) = (attribute(tail, "time")?, attribute(tail, "date")?);
    let clock_len = time.find(['+', '-']).unwrap_or(time.len());
    let (clock, bias) = time.split_at_checked(clock_len)?;
    let text = format!("{date} {clock}");
    let form = TimeForm::Dated(DateForm::MonthDayYear(b'-'));
    let (Reading::Time(mut stamp), end) = read(form, text.as_bytes(), 0)? else {
        return None;
    };
    (end == text.len()).then_some(())?;
    let bias: Option<i16> = bias.parse().ok();
    stamp.zone = bias.filter(|bias| bias.abs() < 24 * 60).map(|bias| -bias);
    Some(Reading::Time(stamp))
}

/// Adds the fields and the message. Returns the text before the message.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let (message, tail) = parts(record)?;
    let level = match attribute(tail, "type") {
        Some("0" | "4" | "5") => Some("DEBUG"),
        Some("1") => Some("INFO"),
        Some("2") => Some("WARN"),
        Some("3") => Some("ERROR"),
        _ => None,
    };
    if let Some(level) = level {
        members.string("level", level);
    }
    for (name, field) in [
        ("component", "logger"),
        ("thread", "thread_id"),
        ("file", "source"),
        ("context", "context"),
    ] {
        if let Some(value) = attribute(tail, name).filter(|value| !value.is_empty()) {
            members.string(field, value);
        }
    }
    members.string("message", message);
    members.string("tail", tail);
    record.get(..BEGIN.len())
}

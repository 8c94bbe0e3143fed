//! Snort's full alerts, whose time stands behind what they are of:
//! `https://docs.snort.org/start/alert_logging`.
//!
//! ```text
//! [**] [1:1000004:0] Pinging... [**]
//! [Classification: Attempted Information Leak] [Priority: 2]
//! 05/01-10:00:07.299988 10.100.10.190 -> 175.16.199.1
//! ICMP TTL:64 TOS:0x0 ID:6922 IpLen:20 DgmLen:84 DF
//! ```
//!
//! The message is the whole alert.

use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

const MARK: &str = "[**] [";
/// The time is within so many lines.
const MAX_LINES: usize = 6;

pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(MARK.as_bytes()) && line.trim_ascii_end().ends_with(b" [**]")
}

/// Returns the time, and what stands behind it.
fn timed(record: &str) -> Option<(Reading, &str)> {
    let forms = [DateForm::MonthDayShortYear(b'/'), DateForm::MonthDay(b'/')];
    record.lines().skip(1).take(MAX_LINES).find_map(|line| {
        forms.into_iter().find_map(|form| {
            let (reading, end) = read(TimeForm::Dated(form), line.as_bytes(), 0)?;
            Some((reading, line.get(end..)?))
        })
    })
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    Some(timed(record)?.0)
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let inside = record.strip_prefix(MARK)?;
    if let Some((code, _)) = inside.split_once(']') {
        members.string("code", code);
    }
    if let Some((source, target)) = timed(record).and_then(|(_, rest)| rest.split_once(" -> ")) {
        members.string("client", source.trim());
        members.string("target", target.trim());
    }
    members.string("message", record);
    Some("")
}

//! Values that are texts in JSON: bytes in hexadecimal digits, UUIDs, dates, times of day.

use std::io::Write as _;

use tantivy::time::OffsetDateTime;
use tantivy::time::format_description::well_known::Rfc3339;

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn uuid(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts: Option<Vec<&str>> = parts.into_iter().map(|part| digits.get(part)).collect();
    parts.map_or(digits.clone(), |parts| parts.join("-"))
}

/// Formats a date as RFC 3339, for the years 0 to 9999.
pub(super) fn date_of(ns: i128) -> Option<String> {
    let date = OffsetDateTime::from_unix_timestamp_nanos(ns).ok()?;
    date.format(&Rfc3339).ok()
}

/// Formats a time of day: `13:07:09.25`.
pub(super) fn clock(ns: i64) -> String {
    let (seconds, rest_ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write!(text, "{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if rest_ns != 0 {
        let _ = write!(text, ".{}", format!("{rest_ns:09}").trim_end_matches('0'));
    }
    String::from_utf8(text).unwrap_or_default()
}

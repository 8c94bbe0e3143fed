//! What `git log` prints (`https://git-scm.com/docs/git-log#_pretty_formats`).
//!
//! ```text
//! commit 450b660b5f3c5145df13450e42ac4d681e368abb
//! Author: Alice <alice@example.com>
//! Date:   Wed May 1 12:00:07 2024 +0200
//!
//!     text
//! ```

use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

/// Headers stand within so many lines.
const MAX_HEADERS: usize = 10;

/// Headers that are fields; the date of the author comes before that of the commit.
const FIELDS: [(&str, &str); 4] = [
    ("Author", "author"),
    ("Commit", "committer"),
    ("Merge", "merge"),
    ("Reflog", "reflog"),
];
const DATES: [&str; 3] = ["Date", "AuthorDate", "CommitDate"];

/// Returns the hash of a commit in the first line of its record.
fn hash(line: &str) -> Option<&str> {
    let rest = line.trim_end().strip_prefix("commit ")?;
    let (hash, names) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_hash =
        matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let are_names = names.is_empty() || (names.starts_with('(') && names.ends_with(')'));
    // Parents follow with `--parents`.
    let are_hashes = !names.is_empty()
        && names
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b' ');
    (is_hash && (are_names || are_hashes)).then_some(hash)
}

pub(in super::super) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"commit ") && std::str::from_utf8(line).is_ok_and(|line| hash(line).is_some())
}

fn header<'t>(record: &'t str, name: &str) -> Option<&'t str> {
    let lines = record.lines().skip(1).take(MAX_HEADERS);
    let mut values = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values
        .next()
        .map(str::trim)
        .filter(|value| !value.is_empty())
}

/// Reads `Wed May 1 12:00:07 2024 +0200`, `2024-05-01 12:00:07 +0200`, `Wed, 1 May 2024 12:00:07 +0200`.
fn date(text: &str) -> Option<Reading> {
    let read =
        |form: DateForm, text: &str| Some(read(TimeForm::Dated(form), text.as_bytes(), 0)?.0);
    let parts: Vec<&str> = text.split_ascii_whitespace().collect();
    if let [_, month, day, time, year, zone @ ..] = parts.as_slice()
        && time.contains(':')
    {
        let zone = zone.first().unwrap_or(&"");
        let written = format!("{day} {month} {year} {time} {zone}");
        return read(DateForm::DayNameYear, written.trim_end());
    }
    if let Some((_, day)) = text.split_once(", ") {
        return read(DateForm::DayNameYear, day);
    }
    read(DateForm::YearMonthDay(b'-'), text)
}

pub(in super::super) fn reading(record: &str) -> Option<Reading> {
    DATES
        .into_iter()
        .find_map(|name| date(header(record, name)?))
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(in super::super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    members.string("commit", hash(record.lines().next()?)?);
    for (name, field) in FIELDS {
        if let Some(value) = header(record, name) {
            members.string(field, value);
        }
    }
    members.string("message", record);
    Some("")
}

//! InfluxDB's line protocol, which Telegraf writes, too: `https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/`.
//!
//! ```text
//! cpu,host=web01,cpu=cpu0 usage_user=1.5,n=3i,text="a b",ok=t 1714557607000000000
//! ```

use super::super::Names;
use crate::json::Members;
use crate::log_line::time::{Reading, TimeForm, read};

/// A line with values and a time.
struct Point<'t> {
    measurement: &'t str,
    tags: &'t str,
    fields: &'t str,
    time: &'t str,
}

/// Returns the length of a text up to a byte, outside quotes and not behind a backslash.
fn len_before(text: &str, end: u8) -> usize {
    let (mut in_quotes, mut is_escaped) = (false, false);
    let len = text.bytes().position(|byte| {
        let ends_here = !is_escaped && !in_quotes && byte == end;
        if !is_escaped && byte == b'"' {
            in_quotes = !in_quotes;
        }
        is_escaped = byte == b'\\' && !is_escaped;
        ends_here
    });
    len.unwrap_or(text.len())
}

/// Divides a text before the first byte of a kind, which is left out.
fn divided(text: &str, end: u8) -> (&str, &str) {
    let (before, behind) = text
        .split_at_checked(len_before(text, end))
        .unwrap_or((text, ""));
    (before, behind.get(1..).unwrap_or_default())
}

/// Calls a function with each key and value between commas; returns false if something else stands there.
fn each_pair(mut text: &str, mut call: impl FnMut(&str, &str)) -> bool {
    while !text.is_empty() {
        let (pair, behind) = divided(text, b',');
        let (key, value) = divided(pair, b'=');
        if key.is_empty() || value.is_empty() || key.contains('"') {
            return false;
        }
        call(key, value);
        text = behind;
    }
    true
}

impl<'t> Point<'t> {
    fn of(line: &'t str) -> Option<Point<'t>> {
        /// Fewer digits are no time.
        const MIN_DIGITS: usize = 10;
        let (key, rest) = divided(line.trim_end(), b' ');
        let (measurement, tags) = divided(key, b',');
        let (fields, time) = divided(rest, b' ');
        let is_time = time.len() >= MIN_DIGITS && time.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = measurement.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && !measurement.contains(['=', '"']);
        let are_pairs =
            !fields.is_empty() && each_pair(tags, |_, _| ()) && each_pair(fields, |_, _| ());
        (is_time && is_name && are_pairs).then_some(Point {
            measurement,
            tags,
            fields,
            time,
        })
    }
}

/// Returns whether nearly all lines are of the protocol, with their times.
pub(crate) fn are_points<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let (mut num, mut num_points) = (0, 0);
    for line in lines.filter(|line| !line.starts_with('#')) {
        num += 1;
        num_points += usize::from(Point::of(line).is_some());
    }
    num_points > 0 && num_points * 20 >= num * 19
}

pub(in super::super) fn reading(record: &str) -> Option<Reading> {
    let time = Point::of(record)?.time;
    let (reading, end) = read(TimeForm::Epoch, time.as_bytes(), 0)?;
    (end == time.len()).then_some(reading)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_escape = c == '\\' && matches!(chars.peek(), Some(',' | '=' | ' ' | '"' | '\\'));
        match chars.next_if(|_| is_escape) {
            Some(escaped) => plain.push(escaped),
            None => plain.push(c),
        }
    }
    plain
}

/// Adds the measurement, the tags, the fields and the message. Returns the text before the message, which is empty.
pub(in super::super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let point = Point::of(record)?;
    let mut names = Names::default();
    names.take("measurement");
    members.string("measurement", &unescaped(point.measurement));
    each_pair(point.tags, |key, value| {
        members.string(&names.free(&unescaped(key)), &unescaped(value));
    });
    each_pair(point.fields, |key, value| {
        let name = names.free(&unescaped(key));
        match value {
            "t" | "T" | "true" | "True" | "TRUE" => members.json(&name, "true"),
            "f" | "F" | "false" | "False" | "FALSE" => members.json(&name, "false"),
            _ => match value.strip_prefix('"') {
                Some(text) => {
                    let text = text.strip_suffix('"').unwrap_or(text);
                    members.string(&name, &unescaped(text));
                }
                None => members.number(&name, value.trim_end_matches(['i', 'u'])),
            },
        }
    });
    members.string("message", record);
    Some("")
}

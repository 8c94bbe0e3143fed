//! The W3C's extended log format, which CloudFront and IIS write, and CloudFront's records in JSON.
//! `https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html`
//!
//! Names become `x_edge_location` and `cs_user_agent`; `date` and `time` also become `timestamp`, whose day is that of the
//! line `#Date:` before it if records have none; `-` is a missing value. CloudFront writes user agents with `%20` for a space, which is decoded.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::super::{add_untyped, plain_name};
use crate::failure::Failure;
use crate::json::{Object, read_json};
use crate::layout::{Column, Hints, ValueKind};

/// Text although it may look like a number.
const TEXTS: [&str; 4] = ["date", "time", "cs_version", "x_edge_request_id"];

/// Returns the names in a line `#Fields: …`. Exchange separates them, and the values, by commas
/// (`https://learn.microsoft.com/en-us/exchange/mail-flow/transport-logs/message-tracking`).
pub(crate) fn names(record: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(record);
    let names = text.strip_prefix("#Fields:")?;
    let names = names.trim();
    Some(match has_commas(names) {
        true => names
            .split(',')
            .map(|name| plain_name(name.trim()))
            .collect(),
        false => names.split_ascii_whitespace().map(plain_name).collect(),
    })
}

/// Returns whether a line `#Fields: …` separates its names by commas.
pub(crate) fn is_table(record: &[u8]) -> bool {
    let text = String::from_utf8_lossy(record);
    text.strip_prefix("#Fields:")
        .is_some_and(|names| has_commas(names.trim()))
}

fn has_commas(names: &str) -> bool {
    names.contains(',') && !names.contains(char::is_whitespace)
}

/// Returns whether lines are in the format: names, and at least one record that has as many values, if there is any.
pub(crate) fn is_readable(lines: &[String]) -> bool {
    let Some(names_at) = lines.iter().position(|line| line.starts_with("#Fields:")) else {
        return false;
    };
    let (mut num_names, mut is_commas) = (0, false);
    let (mut num_records, mut num_read) = (0, 0);
    for line in lines.get(names_at..).unwrap_or_default() {
        if line.starts_with('#') {
            if let Some(names) = names(line.as_bytes()) {
                (num_names, is_commas) = (names.len(), is_table(line.as_bytes()));
            }
            continue;
        }
        num_records += 1;
        num_read += usize::from(is_commas || values(line, num_names).is_some());
    }
    num_records == 0 || num_read > 0
}

/// Returns the values of a record, if it has so many. Blanks behind the last one are no value, and several between two of
/// them are one if there are too many values else.
fn values(text: &str, num: usize) -> Option<Vec<&str>> {
    let delimiter = match text.contains('\t') {
        true => '\t',
        false => ' ',
    };
    let as_written = |text: &'_ str| text.split(delimiter).count() == num;
    let trimmed = text.trim_end_matches([' ', '\t']);
    match (as_written(text), as_written(trimmed)) {
        (true, _) => Some(text.split(delimiter).collect()),
        (false, true) => Some(trimmed.split(delimiter).collect()),
        (false, false) if delimiter == ' ' => {
            let values: Vec<&str> = text.split_ascii_whitespace().collect();
            match values.len() == num {
                true => Some(values),
                false => quoted_values(text).filter(|values| values.len() == num),
            }
        }
        (false, false) => None,
    }
}

/// Returns values of which some are in quotes, with spaces within them.
fn quoted_values(text: &str) -> Option<Vec<&str>> {
    let mut values = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let (value, after) = match rest.strip_prefix('"') {
            Some(inside) => inside.split_once('"')?,
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        values.push(value);
        rest = after.trim_ascii_start();
    }
    Some(values)
}

/// Returns the day in a line `#Date: 2024-05-01 10:00:00`.
pub(crate) fn date(record: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(record.strip_prefix(b"#Date:")?).ok()?;
    let day = text.split_ascii_whitespace().next()?;
    let is_digit = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    let is_day = day.len() == 10 && day.bytes().enumerate().all(is_digit);
    is_day.then(|| day.to_owned())
}

/// Parses a record; `day` is that of the last line `#Date: …`, for records that have only a time.
pub(crate) fn parse(
    text: &str,
    columns: &[Column],
    day: Option<&str>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    if columns.is_empty() {
        return Err(Failure::format(
            "no line `#Fields: …` stands before the record",
        ));
    }
    let Some(values) = values(text, columns.len()) else {
        return Err(Failure {
            reason: "wrong_number_of_values",
            message: format!(
                "the record has {} values where #Fields names {}",
                text.split_ascii_whitespace().count(),
                columns.len()
            ),
        });
    };
    let pairs = columns
        .iter()
        .zip(values)
        .map(|(column, value)| (column.name.as_str(), column.kind, Cow::Borrowed(value)));
    add(pairs, day, out);
    Ok(())
}

/// Parses CloudFront's JSON: the same names, and every value a string.
pub(crate) fn parse_json(text: &str, hints: &Hints, out: &mut Vec<u8>) -> Result<(), Failure> {
    let object: Map<String, Value> = read_json(text.as_bytes()).map_err(|error| Failure {
        reason: "not_json",
        message: format!("not a JSON object: {error}"),
    })?;
    let pairs: Vec<(String, Value)> = object
        .into_iter()
        .map(|(name, value)| (plain_name(&name), value))
        .collect();
    let pairs = pairs.iter().map(|(name, value)| {
        let text = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            Value::Null => Cow::Borrowed(""),
            other => Cow::Owned(other.to_string()),
        };
        (name.as_str(), hints.fields.get(name).copied(), text)
    });
    add(pairs, None, out);
    Ok(())
}

fn add<'p>(
    pairs: impl Iterator<Item = (&'p str, Option<ValueKind>, Cow<'p, str>)>,
    day: Option<&'p str>,
    out: &mut Vec<u8>,
) {
    let mut object = Object::begin(out);
    let (mut date, mut time, mut has_timestamp) = (None, None, false);
    for (name, kind, value) in pairs {
        if value == "-" || value.is_empty() {
            continue;
        }
        match name {
            "date" => date = Some(value.clone()),
            "time" => time = Some(value.clone()),
            "timestamp" => has_timestamp = true,
            _ => {}
        }
        match name {
            "cs_user_agent" => object.string(name, &spaced(&value)),
            _ if TEXTS.contains(&name) => object.string(name, &value),
            _ => add_untyped(&mut object, name, &value, kind, false),
        }
    }
    let date = date.or(day.map(Cow::Borrowed));
    if let (Some(date), Some(time), false) = (date, time, has_timestamp) {
        object.string("timestamp", &format!("{date}T{time}Z"));
    }
    object.end();
}

/// Decodes spaces: CloudFront sometimes escapes twice (`%2520`), and IIS writes `+`.
fn spaced(value: &str) -> Cow<'_, str> {
    match value.contains('%') {
        true => Cow::Owned(value.replace("%25", "%").replace("%20", " ")),
        false => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_have_spaces_in_quotes() {
        let text = "2024-05-01 10:00:01 10.0.0.1 \"Mozilla/5.0 (X11)\" \"\" 200";
        let expected = [
            "2024-05-01",
            "10:00:01",
            "10.0.0.1",
            "Mozilla/5.0 (X11)",
            "",
            "200",
        ];
        assert_eq!(values(text, 6).as_deref(), Some(&expected[..]));
        assert_eq!(values("a \"b c", 2), None);
        assert_eq!(values("a \"b\"", 2).as_deref(), Some(&["a", "\"b\""][..]));
        let lines = ["#Fields: a b c".to_owned(), "1 \"x y\" 2".to_owned()];
        assert!(is_readable(&lines));
    }
}

//! Tables: values with a delimiter between them. The rules are those of `cut/quoted.rs`. A record that does not match
//! them is parsed with backslashes before quotes, if it has any.
//!
//! A value is text in a field that the index maps as text; elsewhere it is a number or a boolean if it
//! looks like one and has no quotes; or a number in quotes, if all values of the first rows have them. An empty value is missing; `""` is an empty string.

use std::borrow::Cow;

use super::super::add_untyped;
use super::rows::Rows;
use crate::failure::Failure;
use crate::json::Object;
use crate::layout::Column;
use crate::log_line::time::Reference;
use crate::recognition::dialect::Dialect;

/// Returns the names on the first line. A `#` that makes it a comment is not part of them.
pub(crate) fn names(record: &[u8], dialect: Dialect) -> Vec<String> {
    let text = String::from_utf8_lossy(record);
    let plain = match text.strip_prefix('#') {
        Some(rest) if rest.trim_start().starts_with(char::is_alphabetic) => rest.trim_start(),
        _ => &text,
    };
    let values = Values::new(plain, dialect);
    values.map(|value| value.text.trim().to_string()).collect()
}

/// Returns the names of all values, of which the last may have none.
pub(crate) fn all_names(record: &[u8], dialect: Dialect) -> Vec<String> {
    let mut names = names(record, dialect);
    if dialect.has_unnamed_last {
        let is_taken = names.iter().any(|name| name == "message");
        names.push(if is_taken {
            String::new()
        } else {
            "message".to_owned()
        });
    }
    names
}

/// Returns whether a line that begins with `#` is a comment: its number of values differs from that of rows.
pub(crate) fn is_comment(record: &[u8], dialect: Dialect, num_columns: usize) -> bool {
    let text = String::from_utf8_lossy(record);
    dialect.has_comments
        && text.starts_with('#')
        && (num_columns == 0 || Values::new(&text, dialect).count() != num_columns)
}

/// The columns of a table, and what their rows tell.
#[derive(Clone, Copy)]
pub(crate) struct Table<'t> {
    pub(crate) columns: &'t [Column],
    pub(crate) rows: &'t Rows,
    pub(crate) reference: Reference<'t>,
}

pub(crate) fn parse(
    text: &str,
    table: Table<'_>,
    dialect: Dialect,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let start = out.len();
    let parsed = parse_as(text, table, dialect, out);
    // The first of them may be far after the beginning.
    if parsed.is_err() && !dialect.has_backslashes && text.contains("\\\"") {
        let escaped = Dialect {
            has_backslashes: true,
            ..dialect
        };
        let (mut other, failed) = (Vec::new(), out.split_off(start));
        if parse_as(text, table, escaped, &mut other).is_ok() {
            out.extend_from_slice(&other);
            return Ok(());
        }
        out.extend_from_slice(&failed);
    }
    parsed
}

fn parse_as(
    text: &str,
    table: Table<'_>,
    dialect: Dialect,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Table { columns, rows, .. } = table;
    let mut values = Values::new(text, dialect);
    let mut object = Object::begin(out);
    let (mut day, mut clock) = (None, None);
    for (place, column) in columns.iter().enumerate() {
        let Some(value) = values.next() else {
            return Err(wrong_number(text, columns, dialect));
        };
        let text = rows.with_point(place, value.text);
        add_untyped(
            &mut object,
            &column.name,
            &text,
            column.kind,
            value.is_quoted && !(rows.quotes_all && is_plain_number(&text)),
        );
        match rows.day {
            Some(both) if both.day == place => day = Some(text),
            Some(both) if both.clock == place => clock = Some(text),
            _ => {}
        }
    }
    if let (Some(both), Some(day), Some(clock)) = (rows.day, day, clock) {
        both.add(&day, &clock, &table.reference, &mut object);
    }
    object.end();
    match values.next() {
        None if values.is_unclosed => Err(unclosed_quote()),
        None => Ok(()),
        Some(_) => Err(wrong_number(text, columns, dialect)),
    }
}

/// Returns whether a text is a number, rather than digits with zeros in front, or so many that they are an id.
fn is_plain_number(text: &str) -> bool {
    const MAX_LEN: usize = 15;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_id = whole.len() > 1 && whole.starts_with('0');
    text.len() <= MAX_LEN && are_digits(whole) && are_digits(decimals) && !is_id
}

fn unclosed_quote() -> Failure {
    Failure {
        reason: "unclosed_quote",
        message: "a quote is opened and never closed; the record ends with its line".into(),
    }
}

fn wrong_number(text: &str, columns: &[Column], dialect: Dialect) -> Failure {
    let mut values = Values::new(text, dialect);
    let found = values.by_ref().count();
    if values.is_unclosed {
        return unclosed_quote();
    }
    Failure {
        reason: "wrong_number_of_values",
        message: format!(
            "the record has {found} values where the first line names {}",
            columns.len()
        ),
    }
}

pub(crate) struct Value<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) is_quoted: bool,
}

/// Iterator over the values of one record.
pub(crate) struct Values<'t> {
    rest: Option<&'t str>,
    dialect: Dialect,
    /// After the last value: true if a quote was left open.
    pub(crate) is_unclosed: bool,
}

impl<'t> Values<'t> {
    pub(crate) fn new(text: &'t str, dialect: Dialect) -> Values<'t> {
        Values {
            rest: Some(text),
            dialect,
            is_unclosed: false,
        }
    }

    /// Reads up to the next delimiter, and past it.
    fn plain(&mut self, rest: &'t str) -> &'t str {
        match memchr::memchr(self.dialect.delimiter, rest.as_bytes()) {
            Some(at) => {
                self.rest = rest.get(at + 1..);
                rest.get(..at).unwrap_or(rest)
            }
            None => {
                self.rest = None;
                rest
            }
        }
    }
}

impl<'t> Iterator for Values<'t> {
    type Item = Value<'t>;

    fn next(&mut self) -> Option<Value<'t>> {
        let rest = self.rest?;
        let Some(mut inside) = rest.strip_prefix('"') else {
            let text = Cow::Borrowed(self.plain(rest));
            return Some(Value {
                text,
                is_quoted: false,
            });
        };
        let mut text = Cow::Borrowed("");
        loop {
            let found = match self.dialect.has_backslashes {
                true => memchr::memchr2(b'"', b'\\', inside.as_bytes()),
                false => memchr::memchr(b'"', inside.as_bytes()),
            };
            let Some((part, rest)) = found.and_then(|at| inside.split_at_checked(at)) else {
                self.is_unclosed = true;
                append(&mut text, inside);
                self.rest = None;
                break;
            };
            append(&mut text, part);
            if let Some(escaped) = rest.strip_prefix('\\') {
                inside = append_escaped(&mut text, escaped);
                continue;
            }
            let after = rest.get(1..).unwrap_or_default();
            match after.strip_prefix('"') {
                Some(more) => {
                    append(&mut text, "\"");
                    inside = more;
                }
                None => {
                    // Text after the closing quote belongs to the value.
                    let tail = self.plain(after);
                    append(&mut text, tail);
                    break;
                }
            }
        }
        Some(Value {
            text,
            is_quoted: true,
        })
    }
}

/// Appends the character after a backslash: alone if it is a quote or a backslash, otherwise with the backslash.
fn append_escaped<'t>(text: &mut Cow<'t, str>, escaped: &'t str) -> &'t str {
    let len = escaped.chars().next().map_or(0, char::len_utf8);
    let (first, rest) = escaped.split_at_checked(len).unwrap_or((escaped, ""));
    if !matches!(first, "\"" | "\\") {
        append(text, "\\");
    }
    append(text, first);
    rest
}

fn append<'t>(text: &mut Cow<'t, str>, part: &'t str) {
    match text.is_empty() {
        true => *text = Cow::Borrowed(part),
        false => text.to_mut().push_str(part),
    }
}

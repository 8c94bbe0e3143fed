//! Values with a delimiter between them. The rules are those of `cut/quoted.rs`.
//!
//! A value is text in a field that the index maps as text, a number or a boolean elsewhere if it looks
//! like one and has no quotes. Nothing between two delimiters is no value; `""` is an empty string.

use std::borrow::Cow;

use super::add_untyped;
use crate::failure::Failure;
use crate::json::Object;
use crate::layout::Layout;

/// The names on the first line.
pub(crate) fn names(record: &[u8], delimiter: u8) -> Vec<String> {
    let text = String::from_utf8_lossy(record);
    let values = Values::new(&text, delimiter);
    values.map(|value| value.text.trim().to_string()).collect()
}

pub(crate) fn parse(text: &str, layout: &Layout, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut values = Values::new(text, layout.delimiter);
    let mut object = Object::begin(out);
    for column in &layout.columns {
        let Some(value) = values.next() else {
            return Err(wrong_number(text, layout));
        };
        add_untyped(
            &mut object,
            &column.name,
            &value.text,
            column.kind,
            value.is_quoted,
        );
    }
    object.end();
    match values.next() {
        None if values.is_unclosed => Err(Failure {
            reason: "unclosed_quote",
            message: "a quote is opened and never closed; the record ends with its line".into(),
        }),
        None => Ok(()),
        Some(_) => Err(wrong_number(text, layout)),
    }
}

fn wrong_number(text: &str, layout: &Layout) -> Failure {
    let mut values = Values::new(text, layout.delimiter);
    let found = values.by_ref().count();
    if values.is_unclosed {
        return Failure {
            reason: "unclosed_quote",
            message: "a quote is opened and never closed; the record ends with its line".into(),
        };
    }
    Failure {
        reason: "wrong_number_of_values",
        message: format!(
            "the record has {found} values where the first line names {}",
            layout.columns.len()
        ),
    }
}

pub(crate) struct Value<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) is_quoted: bool,
}

/// The values of one record.
pub(crate) struct Values<'t> {
    rest: Option<&'t str>,
    delimiter: u8,
    /// After the last value: whether a quote was left open.
    pub(crate) is_unclosed: bool,
}

impl<'t> Values<'t> {
    pub(crate) fn new(text: &'t str, delimiter: u8) -> Values<'t> {
        Values {
            rest: Some(text),
            delimiter,
            is_unclosed: false,
        }
    }

    /// Up to the next delimiter, and on behind it.
    fn plain(&mut self, rest: &'t str) -> &'t str {
        match memchr::memchr(self.delimiter, rest.as_bytes()) {
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
            let Some((part, after)) = inside.split_once('"') else {
                self.is_unclosed = true;
                append(&mut text, inside);
                self.rest = None;
                break;
            };
            append(&mut text, part);
            match after.strip_prefix('"') {
                Some(more) => {
                    append(&mut text, "\"");
                    inside = more;
                }
                None => {
                    // What follows the closing quote belongs to the value.
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

fn append<'t>(text: &mut Cow<'t, str>, part: &'t str) {
    match text.is_empty() {
        true => *text = Cow::Borrowed(part),
        false => text.to_mut().push_str(part),
    }
}

//! Zeek's logs in its ASCII format: lines with `#` declare the separators and the names of the values.
//! `https://docs.zeek.org/en/master/log-formats.html`
//!
//! ```text
//! #separator \x09
//! #set_separator  ,
//! #empty_field  (empty)
//! #unset_field  -
//! #path  conn
//! #fields  ts  uid  id.orig_h  service  duration  tunnel_parents
//! #types  time  string  addr  string  interval  set[string]
//! 1591367999.305988  CMdzit1AMNsmfAIiQc  192.168.4.76  dns  0.066852  (empty)
//! ```
//!
//! A time becomes RFC 3339, a set or vector an array, an unset value is omitted, and `_path` is the log's name, as in
//! Zeek's JSON.

use std::borrow::Cow;

use crate::failure::Failure;
use crate::json::{Object, push_string};
use crate::layout::Hints;
use crate::log_line::time::{Reading, TimeForm, read};

/// Contents of the lines with `#`.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    separator: String,
    set_separator: String,
    empty: String,
    unset: String,
    path: Option<String>,
    /// Names and types.
    fields: Vec<(String, String)>,
}

impl Default for Header {
    fn default() -> Header {
        Header {
            separator: "\t".into(),
            set_separator: ",".into(),
            empty: "(empty)".into(),
            unset: "-".into(),
            path: None,
            fields: Vec::new(),
        }
    }
}

/// Returns whether a line is one that only Zeek writes.
pub(crate) fn is_header(line: &str) -> bool {
    let is_named = |name: &str| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['\t', ' ', ',', '|']))
    };
    is_named("#separator") || is_named("#fields")
}

impl Header {
    /// Parses a line that begins with `#`. Unknown ones do not concern values.
    pub(crate) fn take(&mut self, line: &str) {
        // Before the separator is known it is a space.
        if let Some(separator) = line.strip_prefix("#separator ") {
            let separator = unescaped(separator);
            if !separator.is_empty() {
                *self = Header {
                    separator: separator.into_owned(),
                    ..Header::default()
                };
            }
            return;
        }
        let mut values = line.split(self.separator.as_str());
        let name = values.next().unwrap_or_default();
        let mut value = || values.next().unwrap_or_default().to_owned();
        match name {
            "#set_separator" => self.set_separator = value(),
            "#empty_field" => self.empty = value(),
            "#unset_field" => self.unset = value(),
            "#path" => self.path = Some(value()).filter(|path| !path.is_empty()),
            "#fields" => {
                self.fields = values
                    .map(|name| (name.to_owned(), String::new()))
                    .collect()
            }
            "#types" => {
                for (field, kind) in self.fields.iter_mut().zip(values) {
                    kind.clone_into(&mut field.1);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn parse(
        &self,
        text: &str,
        hints: &Hints,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        if self.fields.is_empty() {
            return Err(Failure::format(
                "no line `#fields` stands before the record",
            ));
        }
        let num_values = text.split(self.separator.as_str()).count();
        if num_values != self.fields.len() {
            return Err(Failure {
                reason: "wrong_number_of_values",
                message: format!(
                    "the record has {num_values} values where #fields names {}",
                    self.fields.len()
                ),
            });
        }
        let mut object = Object::begin(out);
        if let Some(path) = &self.path {
            object.string("_path", path);
        }
        let values = text.split(self.separator.as_str());
        for ((name, kind), value) in self.fields.iter().zip(values) {
            if value == self.unset {
                continue;
            }
            let inner = kind.strip_suffix(']').and_then(|kind| kind.split_once('['));
            match inner {
                Some((_, kind)) => self.push_list(object.value(name), kind, value, hints),
                None if value == self.empty => object.string(name, ""),
                None => push_value(object.value(name), kind, value, hints),
            }
        }
        object.end();
        Ok(())
    }

    fn push_list(&self, out: &mut Vec<u8>, kind: &str, value: &str, hints: &Hints) {
        out.push(b'[');
        let values = value.split(self.set_separator.as_str());
        let is_empty = value == self.empty;
        let values = values.filter(|value| !is_empty && *value != self.unset);
        for (place, value) in values.enumerate() {
            if place > 0 {
                out.push(b',');
            }
            push_value(out, kind, value, hints);
        }
        out.push(b']');
    }
}

fn push_value(out: &mut Vec<u8>, kind: &str, value: &str, hints: &Hints) {
    match (kind, value) {
        ("bool", "T") => out.extend_from_slice(b"true"),
        ("bool", "F") => out.extend_from_slice(b"false"),
        ("time", _) => push_time(out, value, hints),
        ("count" | "int" | "port" | "double" | "interval", _) if crate::json::is_number(value) => {
            out.extend_from_slice(value.as_bytes());
        }
        _ => push_string(out, &unescaped(value)),
    }
}

/// Appends a time; a value outside of the plausible years stays a number of seconds.
fn push_time(out: &mut Vec<u8>, value: &str, hints: &Hints) {
    if let Some((Reading::Time(stamp), end)) = read(TimeForm::Epoch, value.as_bytes(), 0)
        && end == value.len()
    {
        let start = out.len();
        out.push(b'"');
        if stamp.write(&hints.reference(), out).is_some() {
            return out.push(b'"');
        }
        out.truncate(start);
    }
    match crate::json::is_number(value) {
        true => out.extend_from_slice(value.as_bytes()),
        false => push_string(out, value),
    }
}

/// Decodes `\x09` and `\\`. If the result is not text, the value stays unchanged.
fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(value.len()), value.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'\\', [b'\\', after @ ..]) => {
                bytes.push(b'\\');
                rest = after;
            }
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                match (digit(high), digit(low)) {
                    (Some(high), Some(low)) => {
                        bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                        rest = after;
                    }
                    _ => bytes.push(b'\\'),
                }
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(value), Cow::Owned)
}

//! A value → JSON, with unchanged parts as they were written.

use std::collections::BTreeSet;

use vrl::value::{KeyString, Value};

use super::layout::{Layout, Node};
use super::number::{Number, read_number};
use super::read::{MAX_DEPTH, unquoted};

/// Reason why a value cannot be written: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::transform) struct Unwritable(pub(in crate::transform) String);

/// Writer of one record's values.
pub(in crate::transform) struct Writer<'w> {
    /// The text that was read.
    pub(in crate::transform) json: &'w str,
    pub(in crate::transform) layout: &'w Layout,
    pub(in crate::transform) max_num_bytes: usize,
}

impl Writer<'_> {
    /// Appends the value that the whole record has become.
    pub(in crate::transform) fn write_record(
        &self,
        value: &Value,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        self.write_at(0, value, 0, out)
    }

    /// Appends a value in its current form: keys in alphabetical order.
    pub(in crate::transform) fn write(
        &self,
        value: &Value,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        self.check(value, depth, out)?;
        match value {
            Value::Object(map) => {
                out.push(b'{');
                for (ord, (key, value)) in map.iter().enumerate() {
                    self.write_entry(ord == 0, key, value, depth, out)?;
                }
                out.push(b'}');
            }
            Value::Array(items) => {
                out.push(b'[');
                for (ord, item) in items.iter().enumerate() {
                    separate(ord == 0, out);
                    self.write(item, depth + 1, out)?;
                }
                out.push(b']');
            }
            Value::Null => out.extend_from_slice(b"null"),
            Value::Boolean(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::Integer(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::Float(value) if !value.is_finite() => {
                return Err(Unwritable(format!("{value}, which is no number of JSON")));
            }
            Value::Float(value) => write_json(&value.into_inner(), out),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if self.layout.exact.iter().any(|number| number == text) => {
                    out.extend_from_slice(text.as_bytes());
                }
                Ok(text) => write_json(text, out),
                Err(_) => {
                    let message = "bytes that are no UTF-8: `encode_base64` makes text of them";
                    return Err(Unwritable(message.to_string()));
                }
            },
            Value::String(_) | Value::Timestamp(_) | Value::Regex(_) => {
                write_json(value.to_string_lossy().as_ref(), out);
            }
        }
        Ok(())
    }

    fn write_entry(
        &self,
        is_first: bool,
        key: &KeyString,
        value: &Value,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        separate(is_first, out);
        write_json(key.as_str(), out);
        out.push(b':');
        self.write(value, depth + 1, out)
    }

    fn check(&self, value: &Value, depth: usize, out: &[u8]) -> Result<(), Unwritable> {
        if depth >= MAX_DEPTH && matches!(value, Value::Object(_) | Value::Array(_)) {
            let message = format!("objects and arrays that nest deeper than {MAX_DEPTH} levels");
            return Err(Unwritable(message));
        }
        if out.len() > self.max_num_bytes {
            let max = self.max_num_bytes;
            let message = format!("more than the {max} bytes that may come of one record");
            return Err(Unwritable(message));
        }
        Ok(())
    }

    /// Appends the current value of a node.
    fn write_at(
        &self,
        at: usize,
        value: &Value,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        match (self.layout.nodes.get(at), value) {
            (Some(Node::Object(end)), Value::Object(map)) => {
                self.check(value, depth, out)?;
                out.push(b'{');
                let (mut node, mut num_found) = (at + 1, 0);
                while node < *end {
                    let written = self.layout.text(node, self.json).unwrap_or_default();
                    let key = unquoted(written).unwrap_or_default();
                    if let Some(value) = map.get(key.as_ref()) {
                        separate(num_found == 0, out);
                        num_found += 1;
                        out.extend_from_slice(written.as_bytes());
                        out.push(b':');
                        self.write_at(node + 1, value, depth + 1, out)?;
                    }
                    node = self.layout.behind(node + 1);
                }
                if num_found < map.len() {
                    let known = self.keys(at + 1, *end);
                    let new = map.iter().filter(|(key, _)| !known.contains(key.as_str()));
                    for (key, value) in new {
                        self.write_entry(num_found == 0, key, value, depth, out)?;
                        num_found += 1;
                    }
                }
                out.push(b'}');
                Ok(())
            }
            (Some(Node::Array(end)), Value::Array(items)) => {
                self.check(value, depth, out)?;
                out.push(b'[');
                let mut node = at + 1;
                for (ord, item) in items.iter().enumerate() {
                    separate(ord == 0, out);
                    if node < *end {
                        self.write_at(node, item, depth + 1, out)?;
                        node = self.layout.behind(node);
                    } else {
                        self.write(item, depth + 1, out)?;
                    }
                }
                out.push(b']');
                Ok(())
            }
            (Some(Node::Leaf(range)), value) => {
                let written = self.json.get(range.clone()).unwrap_or_default();
                match is_left_alone(written, value) {
                    true => out.extend_from_slice(written.as_bytes()),
                    false => self.write(value, depth, out)?,
                }
                Ok(())
            }
            _ => self.write(value, depth, out),
        }
    }

    /// Returns the keys of an object between two nodes.
    fn keys(&self, mut node: usize, end: usize) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        while node < end {
            let written = self.layout.text(node, self.json).and_then(unquoted);
            keys.extend(written.map(|key| key.into_owned()));
            node = self.layout.behind(node + 1);
        }
        keys
    }
}

/// Returns whether a value equals what was read from a leaf.
fn is_left_alone(written: &str, value: &Value) -> bool {
    match (written.as_bytes().first(), value) {
        (Some(b'"'), Value::String(text)) => {
            unquoted(written).is_some_and(|read| read.as_ref() == &**text)
        }
        (Some(b'n'), Value::Null) => true,
        (Some(b't'), Value::Boolean(is_true)) => *is_true,
        (Some(b'f'), Value::Boolean(is_true)) => !*is_true,
        (Some(b'-' | b'0'..=b'9'), Value::Integer(_) | Value::Float(_)) => {
            matches!(read_number(written), Some(Number::Held(read)) if read == *value)
        }
        (Some(b'-' | b'0'..=b'9'), Value::Bytes(bytes)) => bytes == written.as_bytes(),
        _ => false,
    }
}

fn separate(is_first: bool, out: &mut Vec<u8>) {
    if !is_first {
        out.push(b',');
    }
}

/// Writes text and numbers, whose serialization cannot fail.
fn write_json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}

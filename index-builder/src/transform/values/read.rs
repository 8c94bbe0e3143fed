//! JSON → a value and its layout, in one pass.

use std::borrow::Cow;

use bytes::Bytes;
use vrl::value::{KeyString, ObjectMap, Value};

use super::layout::{Layout, Node};
use super::number::{Number, read_number};

/// Maximum nesting of objects and arrays: that of the doc mapping.
pub(super) const MAX_DEPTH: usize = 64;

/// Reason why a text cannot be parsed: in a word, and in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::transform) struct Unreadable {
    pub(in crate::transform) reason: &'static str,
    pub(in crate::transform) message: String,
}

fn unreadable(reason: &'static str, message: impl Into<String>) -> Unreadable {
    let message = message.into();
    Unreadable { reason, message }
}

/// Parses a value, and records its layout.
pub(in crate::transform) fn read_into(
    layout: &mut Layout,
    json: &[u8],
) -> Result<Value, Unreadable> {
    layout.nodes.clear();
    layout.exact.clear();
    let text = std::str::from_utf8(json)
        .map_err(|_| unreadable("invalid_utf8", "the text is not UTF-8"))?;
    let mut reader = Reader {
        text,
        at: 0,
        layout,
    };
    let value = reader.value(0)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.wrong("something behind it")),
    }
}

/// Parses a value; also returns the numbers that are text because VRL could not represent them.
pub(in crate::transform) fn read_value(json: &[u8]) -> Result<(Value, Vec<String>), Unreadable> {
    let mut layout = Layout::default();
    let value = read_into(&mut layout, json)?;
    Ok((value, layout.exact))
}

/// Returns the contents of a quoted string; `None` if it is not one.
pub(super) fn unquoted(written: &str) -> Option<Cow<'_, str>> {
    let inner = written.strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'\\' && byte != b'"';
    match inner.bytes().all(is_plain) {
        true => Some(Cow::Borrowed(inner)),
        false => serde_json::from_str(written).ok().map(Cow::Owned),
    }
}

struct Reader<'t, 'l> {
    text: &'t str,
    at: usize,
    layout: &'l mut Layout,
}

impl<'t> Reader<'t, '_> {
    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn pass(&mut self, byte: u8, what: &str) -> Result<(), Unreadable> {
        match self.peek() == Some(byte) {
            true => self.at += 1,
            false => return Err(self.wrong(what)),
        }
        Ok(())
    }

    #[cold]
    fn wrong(&self, what: &str) -> Unreadable {
        let message = format!("this is no JSON: {what} at byte {}", self.at);
        unreadable("not_json", message)
    }

    fn push(&mut self, node: Node) -> usize {
        self.layout.nodes.push(node);
        self.layout.nodes.len() - 1
    }

    /// Sets the end of the object or array at a node.
    fn close(&mut self, at: usize) {
        let behind = self.layout.nodes.len();
        if let Some(Node::Object(end) | Node::Array(end)) = self.layout.nodes.get_mut(at) {
            *end = behind;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Unreadable> {
        let first = self.peek();
        if matches!(first, Some(b'{' | b'[')) && depth >= MAX_DEPTH {
            let message = format!("objects and arrays nest deeper than {MAX_DEPTH} levels");
            return Err(unreadable("too_deep", message));
        }
        match first {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => {
                let (range, written) = self.string()?;
                let text = unquoted(written).ok_or_else(|| self.wrong("no string"))?;
                let value = Value::from(text.as_ref());
                self.push(Node::Leaf(range));
                Ok(value)
            }
            _ => self.bare(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        let node = self.push(Node::Object(0));
        let mut map = ObjectMap::new();
        let mut is_first = true;
        while self.peek() != Some(b'}') {
            if !is_first {
                self.pass(b',', "no comma")?;
            }
            is_first = false;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("no key"));
            }
            let (range, written) = self.string()?;
            let key = unquoted(written).ok_or_else(|| self.wrong("no key"))?;
            let key = KeyString::from(key.as_ref());
            self.push(Node::Key(range));
            self.pass(b':', "no colon")?;
            let value = self.value(depth + 1)?;
            if map.contains_key(&key) {
                let message = format!("the key `{key}` appears twice in one object");
                return Err(unreadable("duplicate_key", message));
            }
            map.insert(key, value);
        }
        self.at += 1;
        self.close(node);
        Ok(Value::Object(map))
    }

    fn array(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        let node = self.push(Node::Array(0));
        let mut items = Vec::new();
        while self.peek() != Some(b']') {
            if !items.is_empty() {
                self.pass(b',', "no comma")?;
            }
            items.push(self.value(depth + 1)?);
        }
        self.at += 1;
        self.close(node);
        Ok(Value::Array(items))
    }

    /// Returns the range of the string that begins here, including quotes.
    fn string(&mut self) -> Result<(std::ops::Range<usize>, &'t str), Unreadable> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start + 1..).unwrap_or_default();
        let mut len = 0;
        loop {
            let more = rest.get(len..).unwrap_or_default();
            let Some(found) = memchr::memchr2(b'"', b'\\', more) else {
                return Err(self.wrong("a string without an end"));
            };
            len += found;
            match rest.get(len) {
                Some(b'"') => break,
                _ => len += 2,
            }
        }
        let range = start..start + len + 2;
        self.at = range.end;
        let written = self.text.get(range.clone());
        Ok((range, written.ok_or_else(|| self.wrong("no string"))?))
    }

    /// Parses a number, or one of three words.
    fn bare(&mut self) -> Result<Value, Unreadable> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        let len = rest.find(is_end).unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or_default();
        let value = match word {
            "null" => Value::Null,
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            _ => match read_number(word) {
                Some(Number::Held(value)) => value,
                Some(Number::Exact) => {
                    self.layout.exact.push(word.to_string());
                    Value::Bytes(Bytes::copy_from_slice(word.as_bytes()))
                }
                None => return Err(self.wrong("no value")),
            },
        };
        self.push(Node::Leaf(self.at..self.at + len));
        self.at += len;
        Ok(value)
    }
}

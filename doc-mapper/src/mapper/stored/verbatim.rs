//! Verbatim parts of a line: values of `json` fields, unmapped values in dynamic mode, and values ignored as malformed.
//! They are stored as text, so that hits show them as written, such as `1e3` or `2024-01-01T12:00:00+02:00`, however
//! they are indexed.
//!
//! ```text
//! {"ts": 17145, "obj": {"mapped": 1, "new": 1e3}, "attrs": {"a": [1, 2]}}     the line
//!               {"obj":{"new":1e3},"attrs":{"a":[1,2]}}                       its verbatim parts
//! ```
//!
//! Only white space between tokens is dropped. This is no JSON parser: it splits text that serde
//! has already validated. For other text, the result is arbitrary, but it always terminates.

use std::borrow::Cow;

use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::tree::{Child, ObjectNode};

/// Cursor over JSON text.
pub(in crate::mapper) struct Scanner<'t> {
    rest: &'t str,
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

impl<'t> Scanner<'t> {
    pub(in crate::mapper) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { rest: text }
    }

    fn take(&mut self, len: usize) -> &'t str {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .unwrap_or((self.rest, Default::default()));
        self.rest = rest;
        taken
    }

    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches(is_white);
        self.rest.bytes().next()
    }

    /// Skips `wanted` if it is next. Returns whether it was.
    fn pass(&mut self, wanted: u8) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.take(1);
        }
        is_next
    }

    /// Returns the next value as written; empty at the end of the text.
    fn value(&mut self) -> &'t str {
        let len = match self.peek() {
            Some(b'"') => string_len(self.rest),
            Some(b'{' | b'[') => nested_len(self.rest),
            _ => {
                let is_end = |c: char| is_white(c) || matches!(c, ',' | ']' | '}' | ':');
                self.rest.find(is_end).unwrap_or(self.rest.len())
            }
        };
        self.take(len)
    }

    /// Returns the next key of the object whose brace was passed; `None` at the object's end, or if
    /// the text is no object.
    fn key(&mut self) -> Option<Key<'t>> {
        self.pass(b',');
        if self.peek() != Some(b'"') {
            return None;
        }
        let written = self.value();
        self.pass(b':').then_some(Key { written })
    }
}

/// Returns the length of the string at the start of `text`, including quotes.
fn string_len(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the object or array at the start of `text`.
fn nested_len(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at += text.get(at..).map_or(0, string_len).saturating_sub(1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at.min(text.len())
}

/// Key as written, including quotes.
#[derive(Clone, Copy)]
struct Key<'t> {
    written: &'t str,
}

impl<'t> Key<'t> {
    fn name(self) -> Cow<'t, str> {
        let inner = self.written.strip_prefix('"').unwrap_or(self.written);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        match inner.contains('\\') {
            false => Cow::Borrowed(inner),
            true => serde_json::from_str(self.written).map_or(Cow::Borrowed(inner), Cow::Owned),
        }
    }
}

/// Entry of an object.
pub(in crate::mapper) struct Entry<'t> {
    /// Key, with escapes resolved.
    pub(in crate::mapper) name: Cow<'t, str>,
    /// Key as written, including quotes.
    pub(in crate::mapper) key: &'t str,
    /// Value as written.
    pub(in crate::mapper) value: &'t str,
}

/// Returns the entries of an object in order; none for other text.
pub(in crate::mapper) fn entries(object: &str) -> Vec<Entry<'_>> {
    let mut scanner = Scanner::new(object);
    let mut entries = Vec::new();
    if !scanner.pass(b'{') {
        return entries;
    }
    while let Some(key) = scanner.key() {
        entries.push(Entry {
            name: key.name(),
            key: key.written,
            value: scanner.value(),
        });
    }
    entries
}

/// Returns the elements of an array in order; none for other text.
pub(in crate::mapper) fn elements(array: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(array);
    let mut elements = Vec::new();
    if !scanner.pass(b'[') {
        return elements;
    }
    while !matches!(scanner.peek(), None | Some(b']')) {
        let element = scanner.value();
        if element.is_empty() {
            break;
        }
        elements.push(element);
        scanner.pass(b',');
    }
    elements
}

/// Appends JSON without the white space between its tokens.
fn push_compact(json: &str, out: &mut String) {
    if !json.contains(is_white) {
        out.push_str(json);
        return;
    }
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let (before, string) = rest.split_at_checked(start).unwrap_or((rest, ""));
        out.extend(before.chars().filter(|c| !is_white(*c)));
        let (string, after) = string
            .split_at_checked(string_len(string))
            .unwrap_or((string, ""));
        out.push_str(string);
        rest = after;
    }
    out.extend(rest.chars().filter(|c| !is_white(*c)));
}

impl DocMapper {
    /// Returns the verbatim parts of an accepted line; `None` if hits show none. `ignored` lists the paths of fields whose
    /// values were ignored, and `has_extra` is true if some keys are unmapped.
    pub(in crate::mapper) fn verbatim_parts(
        &self,
        line: &str,
        has_extra: bool,
        ignored: &[&str],
    ) -> Option<String> {
        // Most lines have only values whose fields are mapped, and need no second pass.
        if !has_extra && !self.has_verbatim_fields && ignored.is_empty() {
            return None;
        }
        let mut parts = String::new();
        let mut scanner = Scanner::new(line);
        self.push_parts(&self.root, &mut scanner, ignored, &mut parts);
        (parts.len() > "{}".len()).then_some(parts)
    }

    fn push_parts(
        &self,
        node: &ObjectNode,
        scanner: &mut Scanner<'_>,
        ignored: &[&str],
        out: &mut String,
    ) {
        let shows_unmapped = self.dynamic.as_ref().is_some_and(|dynamic| dynamic.stored);
        scanner.pass(b'{');
        out.push('{');
        let mut guess = 0;
        while let Some(key) = scanner.key() {
            let position = node.find_key(&key.name(), guess);
            guess = position.map_or(guess, |position| position + 1);
            let before = out.len();
            if !out.ends_with('{') {
                out.push(',');
            }
            out.push_str(key.written);
            out.push(':');
            let is_kept = match position.and_then(|position| node.child(position)) {
                Some(Child::Object(child)) if child.is_nested => {
                    let value = scanner.value();
                    push_compact(value, out);
                    // The document's text has it, too.
                    self.source.is_none() && value != "null"
                }
                Some(Child::Object(child)) if scanner.peek() == Some(b'{') => {
                    let start = out.len();
                    self.push_parts(child, scanner, ignored, out);
                    out.len() > start + "{}".len()
                }
                Some(Child::Leaf(leaf)) if leaf.kind.is_shown_as_written() => {
                    let value = scanner.value();
                    push_compact(value, out);
                    // `null` is equivalent to absent in a mapped field.
                    leaf.stored && value != "null"
                }
                Some(child) => {
                    let value = scanner.value();
                    let is_ignored = match child {
                        Child::Leaf(leaf) => leaf.stored && ignored.contains(&leaf.path.as_str()),
                        Child::Object(object) => ignored.contains(&object.path.as_str()),
                    };
                    if is_ignored {
                        push_compact(value, out);
                    }
                    is_ignored
                }
                None => {
                    let value = scanner.value();
                    if shows_unmapped {
                        push_compact(value, out);
                    }
                    shows_unmapped
                }
            };
            if !is_kept {
                out.truncate(before);
            }
        }
        scanner.pass(b'}');
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_tokens_is_left_out() {
        let check = |json: &str, expected: &str| {
            let mut out = String::new();
            push_compact(json, &mut out);
            assert_eq!(out, expected);
        };
        check(
            r#"{"a b" : [1e3 , " \" x "] }"#,
            r#"{"a b":[1e3," \" x "]}"#,
        );
        check("\t-0.0 ", "-0.0");
        check(r#"" é\\" "#, r#"" é\\""#);
    }

    #[test]
    fn an_object_is_cut_into_its_entries() {
        let object = r#" { "a" : {"x":["}"]} ,"\u0062\"":1E+2, "c":"\\" , "d":null}"#;
        let cut: Vec<(String, &str)> = entries(object)
            .into_iter()
            .map(|entry| (entry.name.into_owned(), entry.value))
            .collect();
        let expected = [
            ("a", r#"{"x":["}"]}"#),
            ("b\"", "1E+2"),
            ("c", r#""\\""#),
            ("d", "null"),
        ];
        assert_eq!(cut, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn what_is_no_json_comes_to_an_end() {
        for text in [
            "",
            "{",
            "{\"",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":[",
            "{\"a\":\"\\",
            "x",
            "{,",
        ] {
            let _ = entries(text);
        }
    }
}

//! XML of which most elements that begin lines have one name: reports of tests, tracks, exports of health data.
//!
//! ```text
//! <?xml version="1.0"?>
//! <testsuite name="s">
//!   <testcase classname="c.D" name="adds" time="0.1"/>
//!   <testcase classname="c.D" name="halves" time="0.2"><failure message="odd"/></testcase>
//! </testsuite>
//! ```
//!
//! Each of these elements is a record. Its attributes and the texts of the elements inside are fields; the message is the
//! element as it is written. This is no XML parser.

use super::Names;
use crate::json::Members;
use crate::log_line::level::{is_level, normal};

/// The name of the elements that are records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::log_line) struct Name {
    bytes: [u8; MAX_NAME],
    len: u8,
}

const MAX_NAME: usize = 32;
/// With fewer elements of one name, lines are lines.
const MIN_ELEMENTS: usize = 3;
/// More fields of one record are not told apart.
const MAX_FIELDS: usize = 64;

impl Name {
    fn of(name: &[u8]) -> Option<Name> {
        let mut bytes = [0; MAX_NAME];
        bytes.get_mut(..name.len())?.copy_from_slice(name);
        let len = u8::try_from(name.len()).ok()?;
        Some(Name { bytes, len })
    }

    /// Returns the name that most elements at the beginnings of lines have; the first of equals.
    pub(in crate::log_line::known) fn most(lines: &[&[u8]]) -> Option<Name> {
        let first = lines.first()?.trim_ascii_start();
        let first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
        // Some programs leave the declaration out.
        let is_xml = [&b"<?xml"[..], b"<testsuite", b"<gpx", b"<log4j:event"];
        is_xml
            .iter()
            .any(|start| first.starts_with(start))
            .then_some(())?;
        let names: Vec<&[u8]> = lines.iter().filter_map(|line| opened(line)).collect();
        let num = |name: &[u8]| names.iter().filter(|other| **other == name).count();
        let most = names.iter().map(|name| num(name)).max()?;
        let name = names.iter().find(|name| num(name) == most)?;
        (most >= MIN_ELEMENTS).then(|| Name::of(name))?
    }

    /// Returns whether a line begins with an element of the name.
    pub(in crate::log_line::known) fn begins(self, line: &[u8]) -> bool {
        opened(line) == self.bytes.get(..usize::from(self.len))
    }
}

/// Returns the name of the element that a line begins with.
fn opened(line: &[u8]) -> Option<&[u8]> {
    let inside = line.trim_ascii_start().strip_prefix(b"<")?;
    let is_of = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(byte);
    let len = inside
        .iter()
        .position(|byte| !is_of(byte))
        .unwrap_or(inside.len());
    let ends = matches!(
        inside.get(len),
        None | Some(b' ' | b'\t' | b'>' | b'/' | b'\r')
    );
    inside.get(..len).filter(|name| ends && !name.is_empty())
}

/// Returns whether lines before the first record tell nothing: declarations, and tags of what is around.
pub(in crate::log_line::known) fn is_around(record: &[u8]) -> bool {
    record.split(|byte| *byte == b'\n').all(|line| {
        let line = line.trim_ascii();
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let is_tag = line.starts_with(b"<") && line.ends_with(b">");
        let num_tags = memchr::memchr_iter(b'<', line).count();
        line.is_empty() || (is_tag && num_tags == 1 && !line.ends_with(b"/>"))
    })
}

fn unescaped(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#10;", "\n"),
    ];
    let plain = entities
        .iter()
        .fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c));
    plain.replace("&amp;", "&")
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let mut names = Names::default();
    let mut num_fields = 0;
    let mut field = |key: &str, value: &str| {
        let value = value.trim();
        if num_fields < MAX_FIELDS && !value.is_empty() && !key.is_empty() {
            num_fields += 1;
            // Such records have no other time.
            let name = match key == "timestamp" && !names.has(key) {
                true => {
                    names.take(key);
                    key.to_owned()
                }
                false => names.free(key),
            };
            members.bare(&name, &unescaped(value));
        }
    };
    let mut rest = record;
    let mut is_first = true;
    let mut level = None;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        let Some((tag, behind)) = after.split_once('>') else {
            break;
        };
        let name_len = tag.find([' ', '\t', '\r', '\n', '/']).unwrap_or(tag.len());
        let (name, attributes) = tag.split_at_checked(name_len)?;
        if name.is_empty() || tag.starts_with('!') {
            continue;
        }
        let mut attributes = attributes;
        while let Some((key, quoted)) = attributes.split_once('=') {
            let quoted = quoted.trim_start();
            let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''));
            let Some((value, others)) = quote.and_then(|quote| quoted.get(1..)?.split_once(quote))
            else {
                break;
            };
            let key = key.trim().trim_start_matches('/');
            match is_first {
                true if key == "level" && is_level(value) => level = Some(normal(value)),
                true => field(key, value),
                false => field(&format!("{name}_{key}"), value),
            }
            attributes = others;
        }
        let text = behind.split('<').next().unwrap_or_default();
        match is_first {
            true => field("text", text),
            false => field(name, text),
        }
        is_first = false;
    }
    if let Some(level) = level {
        members.string("level", &level);
    }
    members.string("message", record);
    Some("")
}

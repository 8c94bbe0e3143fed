//! The two envelopes.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::read_json;
use crate::time::is_rfc3339;

/// Contents of an envelope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opened<'t> {
    pub(crate) time: Cow<'t, str>,
    pub(crate) stream: Cow<'t, str>,
    pub(crate) text: Cow<'t, str>,
    /// Start of the text in the line; `None` if it is escaped there.
    pub(crate) text_start: Option<usize>,
    /// True if the rest of it is on the next line.
    pub(crate) is_part: bool,
    /// Additional attributes that Docker was configured to write.
    pub(crate) attrs: Option<Value>,
}

/// Returns whether a line is in CRI's format.
pub(crate) fn is_cri(line: &str) -> bool {
    cri(line).is_some()
}

/// Returns whether a line is in the format of Docker's driver json-file.
pub(crate) fn is_json_file(line: &str) -> bool {
    json_file(line).is_some()
}

pub(crate) fn open(line: &str) -> Option<Opened<'_>> {
    match line.starts_with('{') {
        true => json_file(line),
        false => cri(line),
    }
}

fn cri(line: &str) -> Option<Opened<'_>> {
    let (time, rest) = line.split_once(' ')?;
    let (stream, rest) = rest.split_once(' ')?;
    // The text may be empty, and then its space may be missing.
    let (tags, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_stream = matches!(stream, "stdout" | "stderr");
    let is_tag = matches!(tags.split(':').next(), Some("F" | "P"));
    (is_stream && is_tag && is_rfc3339(time)).then(|| Opened {
        time: Cow::Borrowed(time),
        stream: Cow::Borrowed(stream),
        text: Cow::Borrowed(text),
        text_start: Some(line.len() - text.len()),
        is_part: tags.starts_with('P'),
        attrs: None,
    })
}

fn json_file(line: &str) -> Option<Opened<'_>> {
    let Value::Object(mut object) = read_json(line.as_bytes()).ok()? else {
        return None;
    };
    let mut text_of = |name: &str| match object.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (mut text, time) = (text_of("log")?, text_of("time")?);
    let stream = text_of("stream").unwrap_or_default();
    let attrs = object.remove("attrs");
    if !object.is_empty() || !is_rfc3339(&time) {
        return None;
    }
    let is_part = !text.ends_with('\n');
    if !is_part {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Some(Opened {
        time: Cow::Owned(time),
        stream: Cow::Owned(stream),
        text: Cow::Owned(text),
        text_start: None,
        is_part,
        attrs,
    })
}

/// The name of the stream in Docker's envelope, which stands behind the text.
const STREAM: &[u8] = b"\"stream\"";

/// Returns the stream of a line; nothing if it names none. Examines only as much of it as necessary.
pub(crate) fn stream(line: &[u8]) -> &[u8] {
    if line.first() != Some(&b'{') {
        return line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    }
    let value = memchr::memmem::rfind(line, STREAM)
        .and_then(|start| line.get(start + STREAM.len()..))
        .and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"))
        .and_then(|rest| rest.trim_ascii_start().strip_prefix(b"\""));
    let value = value.and_then(|value| value.split(|byte| *byte == b'"').next());
    value.unwrap_or_default()
}

/// Returns whether a line is a part, the rest of which is on the next one. Examines only as much of it as necessary.
pub(crate) fn is_part(line: &[u8]) -> bool {
    if line.first() != Some(&b'{') {
        let tags = line.split(|byte| *byte == b' ').nth(2);
        return tags.is_some_and(|tags| tags == b"P" || tags.starts_with(b"P:"));
    }
    let before_name = memchr::memmem::rfind(line, STREAM).and_then(|end| line.get(..end));
    let text = before_name
        .and_then(|text| text.trim_ascii_end().strip_suffix(b","))
        .and_then(|text| text.trim_ascii_end().strip_suffix(b"\""));
    let Some(text) = text else {
        return false;
    };
    let Some(before) = text.strip_suffix(b"n") else {
        return true;
    };
    let num_backslashes = before.iter().rev().take_while(|b| **b == b'\\').count();
    num_backslashes % 2 == 0
}

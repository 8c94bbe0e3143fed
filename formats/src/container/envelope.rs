//! The two envelopes.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::read_json;
use crate::time::is_rfc3339;

/// What stands in an envelope.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Opened<'t> {
    pub(super) time: Cow<'t, str>,
    pub(super) stream: Cow<'t, str>,
    pub(super) text: Cow<'t, str>,
    /// Where the text begins in the line; nothing if it does not stand there as it is.
    pub(super) text_start: Option<usize>,
    /// Whether the rest of it is on the next line.
    pub(super) is_part: bool,
    /// What else Docker was told to write.
    pub(super) attrs: Option<Value>,
}

/// Whether a line is one of CRI's.
pub(crate) fn is_cri(line: &str) -> bool {
    cri(line).is_some()
}

/// Whether a line is one of Docker's driver json-file.
pub(crate) fn is_json_file(line: &str) -> bool {
    json_file(line).is_some()
}

pub(super) fn open(line: &str) -> Option<Opened<'_>> {
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

/// Whether a line is a part, the rest of which is on the next one. Looks at no more of it than that takes.
pub(super) fn is_part(line: &[u8]) -> bool {
    if line.first() != Some(&b'{') {
        let tags = line.split(|byte| *byte == b' ').nth(2);
        return tags.is_some_and(|tags| tags == b"P" || tags.starts_with(b"P:"));
    }
    const AFTER_TEXT: &[u8] = b"\",\"stream\":\"";
    let Some(end) = memchr::memmem::rfind(line, AFTER_TEXT) else {
        return false;
    };
    let text = line.get(..end).unwrap_or_default();
    let Some(before) = text.strip_suffix(b"n") else {
        return true;
    };
    let num_backslashes = before.iter().rev().take_while(|b| **b == b'\\').count();
    num_backslashes % 2 == 0
}

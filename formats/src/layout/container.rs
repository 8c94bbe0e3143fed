//! Envelopes of one record → a JSON object.

use std::borrow::Cow;

use canter_names::mend_json;

use super::Layout;
use crate::container::{Opened, append_members, is_part, open, stream};
use crate::failure::Failure;
use crate::json::Object;
use crate::log_line::{goes_on, without_colours};
use crate::recognition::format::Format;

/// Parser settings for the text inside envelopes.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    inner: Layout,
}

/// Names of the envelope's fields.
const TAKEN: [&str; 5] = ["timestamp", "stream", "attrs", "head", "original"];

impl Container {
    pub(crate) fn of(inner: Layout) -> Container {
        Container { inner }
    }

    /// Detects the format of the text inside the envelopes.
    pub(crate) fn learn(lines: &[String], inner: impl FnOnce(&str) -> Layout) -> Container {
        let mut text = String::new();
        for line in lines {
            if let Some(opened) = open(line) {
                text.push_str(&opened.text);
                if !opened.is_part {
                    text.push('\n');
                }
            }
        }
        Container {
            inner: inner(&text),
        }
    }

    /// Returns whether a line continues the previous record. What one stream says never continues what another one said.
    pub(crate) fn continues(&self, record: &[u8], line: &[u8]) -> bool {
        let last = memchr::memrchr(b'\n', record).map_or(0, |at| at + 1);
        let last = record.get(last..).unwrap_or_default();
        if stream(last) != stream(line) {
            return false;
        }
        if is_part(last) {
            return true;
        }
        if self.inner.format() != Format::Log {
            return false;
        }
        let opened = |line| std::str::from_utf8(line).ok().and_then(open);
        let is_inside = |text: &str| self.inner.continues(b"", text.as_bytes());
        let Some(next) = opened(line).filter(|next| is_inside(&next.text)) else {
            return false;
        };
        // Behind a line that has no time itself, only what looks like it belongs to that.
        let first = record.split(|byte| *byte == b'\n').next();
        let has_time = first
            .and_then(opened)
            .is_some_and(|first| !is_inside(&first.text));
        has_time || goes_on(next.text.as_bytes())
    }

    pub(crate) fn parse(&self, record: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut lines = record
            .split('\n')
            .map(|line| open(line.trim_end_matches('\r')));
        let expected = || {
            Failure::format(
                "expected a line of a container: `TIME stdout F text`, or an object with \"log\" and \"time\"",
            )
        };
        let first = lines.next().flatten().ok_or_else(expected)?;
        let (mut text, mut is_part, mut num_lines) = (first.text.clone(), first.is_part, 1);
        for line in lines {
            let line = line.ok_or_else(expected)?;
            let text = text.to_mut();
            if !is_part {
                text.push('\n');
            }
            text.push_str(&line.text);
            is_part = line.is_part;
            num_lines += 1;
        }
        let mut object = Object::begin(out);
        object.string("timestamp", &first.time);
        if !first.stream.is_empty() {
            object.string("stream", &first.stream);
        }
        if let Some(attrs) = &first.attrs {
            object.json("attrs", &attrs.to_string());
        }
        self.add_inside(&text, &first, record, num_lines, &mut object);
        object.end();
        Ok(())
    }

    fn add_inside(
        &self,
        text: &str,
        first: &Opened<'_>,
        record: &str,
        num_lines: usize,
        object: &mut Object<'_>,
    ) {
        let plain = without_colours(text);
        let mut head = String::new();
        // The text is in the record unchanged, after its envelope.
        let envelope = first.text_start.filter(|_| num_lines == 1);
        if let Some(start) = envelope {
            head.push_str(record.get(..start).unwrap_or_default());
        }
        let is_coloured = matches!(plain, Cow::Owned(_));
        let mut is_changed = is_coloured && self.inner.lines().is_some();
        match self.inner.lines() {
            Some(lines) => {
                let around = lines.add_members(&plain, object);
                head.push_str(around.head);
                is_changed |= !around.is_whole;
            }
            None if self.add_spliced(text, object) => {}
            None => object.string("message", text),
        }
        match first.text_start {
            Some(_) if envelope.is_none() || is_changed => object.string("original", record),
            Some(_) => object.string("head", &head),
            // Docker's text is escaped in the record: `message` is the original one.
            None if is_changed => object.string("original", text),
            None if !head.is_empty() => object.string("head", &head),
            None => {}
        }
    }

    /// Adds the fields that an inner format makes of the text. Returns false if it does not match the format.
    fn add_spliced(&self, text: &str, object: &mut Object<'_>) -> bool {
        if self.inner.format().is_json() {
            let mended =
                mend_json(text.as_bytes()).and_then(|mended| String::from_utf8(mended).ok());
            let text = mended.as_deref().unwrap_or(text);
            let is_object = text.trim_start().starts_with('{')
                && serde_json::from_str::<serde_json::Value>(text).is_ok();
            if is_object {
                object.members(|is_first, out| append_members(text, &TAKEN, is_first, out));
            }
            return is_object;
        }
        let (mut made, mut is_made) = (Vec::new(), false);
        self.inner
            .parse(text.as_bytes(), &mut Vec::new(), &mut |parsed| {
                if let Ok(json) = parsed {
                    made.extend_from_slice(json);
                    is_made = true;
                }
            });
        if let (true, Ok(made)) = (is_made, std::str::from_utf8(&made)) {
            object.members(|is_first, out| append_members(made, &TAKEN, is_first, out));
        }
        is_made
    }
}

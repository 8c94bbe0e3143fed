//! Lines with a time between JSON objects, of which there are as many or more: a program writes its own beside those of its
//! library for logs.

use super::Hints;
use crate::json::{Members, Object};
use crate::log_line::{LineLayout, TimeMember, learn_from};

/// How such lines are read.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    pub(super) lines: LineLayout,
    /// The member with the time of the objects, as which that of a line is written, too.
    time: Option<TimeMember>,
}

impl Between {
    /// Learns from the lines of a sample; nothing if those that are no objects have no time in common.
    pub(super) fn learn(lines: Vec<String>, wants_words: bool) -> Option<Between> {
        let (objects, others): (Vec<_>, Vec<_>) = lines
            .into_iter()
            .partition(|line| is_object(line.as_bytes()));
        (others.len() > 1).then_some(())?;
        let mut lines = learn_from(&others)?;
        lines.wants_words = wants_words;
        let time = objects.iter().find_map(|object| TimeMember::of(object));
        Some(Between { lines, time })
    }

    /// Returns whether a line continues a record.
    pub(super) fn continues(&self, record: &[u8], line: &[u8]) -> bool {
        !is_object(record) && !is_object(line) && !self.lines.begins_record(line)
    }

    /// Writes the document of a record; returns false if it is no line with a time.
    pub(super) fn parse(&self, record: &[u8], hints: &Hints, out: &mut Vec<u8>) -> bool {
        let Ok(text) = std::str::from_utf8(record) else {
            return false;
        };
        if is_object(record) || !self.lines.begins_record(record) {
            return false;
        }
        let mut object = Object::begin(out);
        let mut members = Named {
            members: &mut object,
            time: self.time.as_ref(),
        };
        self.lines.parse(text, &hints.reference(), &mut members);
        object.end();
        true
    }
}

/// Returns whether a record begins as an object does.
pub(super) fn is_object(record: &[u8]) -> bool {
    record.trim_ascii_start().first() == Some(&b'{')
}

/// Members of which the time is another.
struct Named<'m, 'o> {
    members: &'m mut Object<'o>,
    time: Option<&'m TimeMember>,
}

impl Members for Named<'_, '_> {
    fn string(&mut self, name: &str, value: &str) {
        match self.time {
            Some(time) if name == "timestamp" => time.add(value, self.members),
            _ => self.members.string(name, value),
        }
    }

    fn json(&mut self, name: &str, value: &str) {
        self.members.json(name, value);
    }
}

//! The known layouts: which one lines have, and reading a record by it.

use super::{chromium, cmtrace, event};
use crate::json::Object;
use crate::log_line::time::Reading;

/// Name of the field with the words of a head that no other field has: it is searched instead of `head`, and only
/// written if the index maps it.
pub const HEAD_WORDS: &str = "head_words";

/// What stands around the message of a record, and is told beside it.
pub(crate) struct Around<'t> {
    /// Before the message.
    pub(crate) head: &'t str,
    /// Whether head, message and `tail` are the text.
    pub(crate) is_whole: bool,
}

/// A layout with marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// CEF and LEEF: `CEF:0|vendor|product|…`.
    Event,
    /// Configuration Manager: `<![LOG[text]LOG]!><time="…" date="…" …>`.
    Cmtrace,
    /// Chromium: `[1234:5678:0501/100000.123456:ERROR:file.cc(12)] text`.
    Chromium,
}

impl Known {
    const ALL: [Known; 3] = [Known::Event, Known::Cmtrace, Known::Chromium];

    /// Returns the layout of lines that are not blank, if the first one has its marks, and as many others as the layout
    /// demands.
    pub(in crate::log_line) fn of(lines: &[&[u8]]) -> Option<Known> {
        let first = lines.first()?;
        Known::ALL.into_iter().find(|known| {
            let num = lines.iter().filter(|line| known.begins(line)).count();
            let needed_percent = match known {
                Known::Event => 80,
                // Their texts have several lines.
                Known::Cmtrace | Known::Chromium => 20,
            };
            known.begins(first) && num * 100 >= lines.len() * needed_percent
        })
    }

    /// Returns whether a line begins a record.
    pub(in crate::log_line) fn begins(self, line: &[u8]) -> bool {
        match self {
            Known::Event => event::begins(line),
            Known::Cmtrace => cmtrace::begins(line),
            Known::Chromium => chromium::begins(line),
        }
    }

    /// Returns the time of a record.
    pub(in crate::log_line) fn reading(self, record: &str) -> Option<Reading> {
        match self {
            Known::Event => event::Event::of(record)?.reading(),
            Known::Cmtrace => cmtrace::reading(record),
            Known::Chromium => chromium::reading(record),
        }
    }

    /// Adds the fields of a record beside its time, and its message. Returns what surrounds the message.
    pub(in crate::log_line) fn add<'t>(
        self,
        record: &'t str,
        wants_words: bool,
        object: &mut Object<'_>,
    ) -> Around<'t> {
        let head = match self {
            Known::Event => event::add(record, object),
            Known::Cmtrace => cmtrace::add(record, object),
            Known::Chromium => chromium::add(record, wants_words, object),
        };
        let is_whole = true;
        match head {
            Some(head) => Around { head, is_whole },
            None => {
                object.string("message", record);
                Around { head: "", is_whole }
            }
        }
    }
}

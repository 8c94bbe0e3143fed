//! The known layouts: which one lines have, and reading a record by it.

use super::blocks::{Block, modsecurity};
use super::{chromium, cmtrace, db2, event, journal, windows_event};
use crate::json::Members;
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
    /// Db2: `2024-05-01-10.00.00.123456+120 I1234E456           LEVEL: Event`.
    Db2,
    /// The journal's export format: `__CURSOR=…`.
    Journal,
    /// ModSecurity's audit log: `--a1b2c3d4-A--`.
    ModSecurity,
    /// Events of Windows: `<Event xmlns=…`.
    WindowsEvent,
    /// Records with other marks around them.
    Block(Block),
}

impl Known {
    const LINES: [Known; 7] = [
        Known::Event,
        Known::Cmtrace,
        Known::Chromium,
        Known::Db2,
        Known::Journal,
        Known::ModSecurity,
        Known::WindowsEvent,
    ];

    /// Returns the layout of lines that are not blank, if the first one has its marks, and as many others as the layout
    /// demands.
    pub(in crate::log_line) fn of(lines: &[&[u8]]) -> Option<Known> {
        let first = lines
            .iter()
            .find(|line| !windows_event::is_prologue(line))?;
        let known = Known::LINES.into_iter().find(|known| {
            let num = lines.iter().filter(|line| known.begins(line)).count();
            let needed_percent = match known {
                Known::Event => 80,
                // Their texts have several lines.
                Known::Cmtrace | Known::Chromium => 20,
                // So do these, and their marks are long.
                _ => 1,
            };
            known.begins(first) && num * 100 >= lines.len() * needed_percent
        });
        known.or_else(|| Block::of(lines).map(Known::Block))
    }

    /// Returns whether a line begins a record.
    pub(in crate::log_line) fn begins(self, line: &[u8]) -> bool {
        match self {
            Known::Event => event::begins(line),
            Known::Cmtrace => cmtrace::begins(line),
            Known::Chromium => chromium::begins(line),
            Known::Db2 => db2::begins(line),
            Known::Journal => journal::begins(line),
            Known::ModSecurity => modsecurity::begins(line),
            Known::WindowsEvent => windows_event::begins(line),
            Known::Block(block) => block.begins(line),
        }
    }

    /// Returns whether a record tells of others, and is no document.
    pub(in crate::log_line) fn is_remark(self, record: &[u8]) -> bool {
        matches!(self, Known::Block(block) if block.is_remark(record))
    }

    /// Returns the time of a record.
    pub(in crate::log_line) fn reading(self, record: &str) -> Option<Reading> {
        match self {
            Known::Event => event::reading(record),
            Known::Cmtrace => cmtrace::reading(record),
            Known::Chromium => chromium::reading(record),
            Known::Db2 => db2::reading(record),
            Known::Journal => journal::reading(record),
            Known::ModSecurity => modsecurity::reading(record),
            Known::WindowsEvent => windows_event::reading(record),
            Known::Block(block) => block.reading(record),
        }
    }

    /// Adds the fields of a record beside its time, and its message. Returns what surrounds the message.
    pub(in crate::log_line) fn add<'t>(
        self,
        record: &'t str,
        wants_words: bool,
        members: &mut dyn Members,
    ) -> Around<'t> {
        let head = match self {
            Known::Event => event::add(record, members),
            Known::Cmtrace => cmtrace::add(record, members),
            Known::Chromium => chromium::add(record, wants_words, members),
            Known::Db2 => db2::add(record, wants_words, members),
            Known::ModSecurity => modsecurity::add(record, members),
            Known::WindowsEvent => windows_event::add(record, members),
            Known::Block(block) => block.add(record, members),
            Known::Journal => {
                journal::add(record, members);
                return Around {
                    head: "",
                    is_whole: false,
                };
            }
        };
        let is_whole = true;
        match head {
            Some(head) => Around { head, is_whole },
            None => {
                members.string("message", record);
                Around { head: "", is_whole }
            }
        }
    }
}

//! Logs of Chromium and what is built on it, such as Electron:
//! `https://chromium.googlesource.com/chromium/src/+/main/base/logging.cc`.
//!
//! ```text
//! [1234:5678:0501/100000.123456:ERROR:gpu_process_host.cc(967)] text
//!  process    day  time         level file               line
//! ```
//!
//! Process and thread are missing if the program does not ask for them.

use super::HEAD_WORDS;
use crate::json::Members;
use crate::log_line::level;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

/// A longer head is none.
const MAX_HEAD: usize = 200;

pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"[") && std::str::from_utf8(line).ok().and_then(Head::of).is_some()
}

/// The parts of a line before its message.
struct Head<'t> {
    process: Option<&'t str>,
    thread: Option<&'t str>,
    time: Reading,
    level: &'t str,
    source: &'t str,
    /// Length of the head with the space behind it.
    len: usize,
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'t> Head<'t> {
    fn of(record: &'t str) -> Option<Self> {
        let inside = record.strip_prefix('[')?;
        let end = inside
            .as_bytes()
            .iter()
            .take(MAX_HEAD)
            .position(|byte| *byte == b']')?;
        let inside = inside.get(..end)?;
        let mut parts = inside.split(':');
        let mut ids = [None; 2];
        let mut next = parts.next()?;
        for id in &mut ids {
            if are_digits(next) {
                *id = Some(next);
                next = parts.next()?;
            }
        }
        let time = time(next)?;
        let level = parts.next()?;
        let name = level.trim_end_matches(|c: char| c.is_ascii_digit());
        level::sureness(name.as_bytes())?;
        let source_len: usize = parts.map(|part| part.len() + 1).sum();
        let source = inside.get(inside.len().checked_sub(source_len)? + 1..)?;
        let is_source = source.ends_with(')') && source.contains('(');
        let after = record.get(end + 2..)?;
        let [process, thread] = ids;
        is_source.then(|| Head {
            process,
            thread,
            time,
            level: name,
            source,
            len: end + 2 + usize::from(after.starts_with(' ')),
        })
    }
}

/// Reads `0501/100000.123456`.
fn time(text: &str) -> Option<Reading> {
    let (day, clock) = text.split_once('/')?;
    let is_it = day.len() == 4 && are_digits(day) && clock.len() >= 6;
    let (month, day) = day.split_at_checked(2).filter(|_| is_it)?;
    let clock_parts = (clock.get(..2)?, clock.get(2..4)?, clock.get(4..)?);
    let text = format!(
        "{month}-{day} {}:{}:{}",
        clock_parts.0, clock_parts.1, clock_parts.2
    );
    let form = TimeForm::Dated(DateForm::MonthDay(b'-'));
    let (reading, end) = read(form, text.as_bytes(), 0)?;
    (end == text.len()).then_some(reading)
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    Some(Head::of(record)?.time)
}

/// Adds the fields and the message. Returns the text before the message.
pub(super) fn add<'t>(
    record: &'t str,
    wants_words: bool,
    members: &mut dyn Members,
) -> Option<&'t str> {
    let head = Head::of(record)?;
    let (before, message) = record.split_at_checked(head.len)?;
    members.string("level", &level::normal(head.level));
    if let Some(process) = head.process {
        members.string("process_id", process);
    }
    if let Some(thread) = head.thread {
        members.string("thread_id", thread);
    }
    members.string("source", head.source);
    if wants_words {
        members.string(HEAD_WORDS, &format!("{} {}", head.level, head.source));
    }
    members.string("message", message);
    Some(before)
}

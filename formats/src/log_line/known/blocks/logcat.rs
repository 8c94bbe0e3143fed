//! Android's log with the heads of messages on lines of their own:
//! `https://developer.android.com/tools/logcat#outputFormat`, `-v long`.
//!
//! ```text
//! [ 05-01 10:00:07.123  2000: 2138 I/CarService ]
//! text
//!
//! ```

use crate::json::Members;
use crate::log_line::level;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

struct Head<'t> {
    time: Reading,
    process: &'t str,
    thread: &'t str,
    level: &'static str,
    tag: &'t str,
}

fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl<'t> Head<'t> {
    fn of(line: &'t str) -> Option<Head<'t>> {
        let inside = line.trim_end().strip_prefix("[ ")?.strip_suffix(']')?;
        let forms = [DateForm::MonthDay(b'-'), DateForm::YearMonthDay(b'-')];
        let time = |form| read(TimeForm::Dated(form), inside.as_bytes(), 0);
        let (time, end) = forms.into_iter().find_map(time)?;
        let (before, tag) = inside.get(end..)?.split_once('/')?;
        let (ids, letter) = before.rsplit_once(' ')?;
        let level = match letter.as_bytes() {
            [letter] => level::of_letter(*letter)?,
            _ => return None,
        };
        // `-v uid` puts the user before the process.
        let mut ids = ids.split([' ', ':']).filter(|id| !id.is_empty()).rev();
        let (thread, process) = (ids.next()?, ids.next()?);
        (is_id(process) && is_id(thread)).then_some(Head {
            time,
            process,
            thread,
            level,
            tag: tag.trim_end(),
        })
    }
}

pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"[ ") && std::str::from_utf8(line).is_ok_and(|line| Head::of(line).is_some())
}

fn first_line(record: &str) -> &str {
    record.split('\n').next().unwrap_or_default()
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    Some(Head::of(first_line(record))?.time)
}

/// Adds the fields and the message. Returns the text before the message.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let line = first_line(record);
    let head = Head::of(line)?;
    members.string("level", head.level);
    members.string("logger", head.tag);
    members.string("process_id", head.process);
    members.string("thread_id", head.thread);
    let (before, message) = record.split_at_checked((line.len() + 1).min(record.len()))?;
    members.string("message", message);
    Some(before)
}

//! Buildkite's job logs as they are downloaded: each line behind its time in milliseconds, within a command that
//! terminals ignore (`https://buildkite.com/docs/pipelines/configure/managing-log-output`).
//!
//! ```text
//! ESC _bk;t=1714557607123 BEL ~~~ Running commands
//! ```

use crate::json::Members;
use crate::log_line::time::{Reading, TimeForm, read};

const BEGINNING: &str = "\u{1b}_bk;t=";
const END: char = '\u{7}';

/// Returns the digits of the time, and the text.
fn parts(record: &str) -> Option<(&str, &str)> {
    let (digits, text) = record.strip_prefix(BEGINNING)?.split_once(END)?;
    (digits.len() == 13).then_some((digits, text))
}

pub(super) fn begins(line: &[u8]) -> bool {
    line.starts_with(BEGINNING.as_bytes())
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    let (digits, _) = parts(record)?;
    Some(read(TimeForm::Epoch, digits.as_bytes(), 0)?.0)
}

/// Adds the message. Returns the text before it.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    let (_, text) = parts(record)?;
    members.string("message", text);
    record.strip_suffix(text)
}

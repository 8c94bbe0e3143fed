//! Records that are paragraphs of keys and values, of which one is a time.
//!
//! ```text
//! Log Name:      System                 dn: uid=ada,ou=people        ---
//! Source:        Service Control        uid: ada                     time: 2024-05-01T10:00:00Z
//! Date:          5/1/2024 10:00:00 AM   modifyTimestamp: 20240501…   name: ada
//! ```
//!
//! A record begins with the key that the first line has, wherever the time stands.

use std::ops::Range;

use crate::log_line::level::sureness;

/// How paragraphs are recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::log_line) struct Paragraph {
    /// What the first line of a record begins with.
    pub(in crate::log_line) opens: Vec<u8>,
    /// What the line with its time begins with.
    pub(in crate::log_line) timed: Vec<u8>,
}

/// With fewer records, lines are lines.
const MIN_RECORDS: usize = 3;
/// A longer text before a colon is no key.
const MAX_KEY_LEN: usize = 40;
/// What separates documents of YAML.
const SEPARATOR: &[u8] = b"---";

impl Paragraph {
    /// Returns the paragraphs that lines are; `None` if they are none. `has_time` says whether a line is a time behind its
    /// key, and nothing else.
    pub(in crate::log_line) fn of(
        lines: &[&[u8]],
        has_time: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Paragraph> {
        let first = lines.first().filter(|line| !has_time(line))?;
        let opens = key_of(first)?;
        let is_first = |line: &&[u8]| key_of(line) == Some(opens);
        let starts: Vec<usize> = (0..lines.len())
            .filter(|place| lines.get(*place).is_some_and(is_first))
            .collect();
        let num_pairs = lines.iter().filter(|line| key_of(line).is_some()).count();
        if starts.len() < MIN_RECORDS || num_pairs * 3 < lines.len() * 2 {
            return None;
        }
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let records = starts.iter().copied().zip(ends);
        let records: Vec<&[&[u8]]> = records
            .filter_map(|(start, end)| lines.get(start..end))
            .collect();
        // The last one may be cut off.
        let (_, whole) = records.split_last()?;
        let timed = whole.first()?.iter().skip(1).find_map(|line| {
            let key = key_of(line).filter(|_| has_time(line))?;
            let num = |record: &&[&[u8]]| {
                let own = record.iter().filter(|line| key_of(line) == Some(key));
                own.filter(|line| has_time(line)).count()
            };
            whole.iter().all(|record| num(record) == 1).then_some(key)
        })?;
        Some(Paragraph {
            opens: opens.to_vec(),
            timed: timed.to_vec(),
        })
    }

    /// Returns whether a line begins a record.
    pub(in crate::log_line) fn begins(&self, line: &[u8]) -> bool {
        key_of(line) == Some(&self.opens)
    }

    /// Returns where the level of a record stands, if a key says one.
    pub(in crate::log_line) fn level(&self, record: &[u8]) -> Option<Range<usize>> {
        let mut start = 0;
        for line in record.split(|byte| *byte == b'\n') {
            let key = key_of(line).unwrap_or_default();
            let value = line.get(key.len()..).unwrap_or_default();
            let word = value.trim_ascii();
            if LEVELS.contains(&&*key.to_ascii_lowercase()) && sureness(word).is_some() {
                let skipped = value.len() - value.trim_ascii_start().len();
                let from = start + key.len() + skipped;
                return Some(from..from + word.len());
            }
            start += line.len() + 1;
        }
        None
    }

    /// Returns where the line with the time of a record begins.
    pub(in crate::log_line) fn line_with_time(&self, record: &[u8]) -> Option<usize> {
        let mut start = 0;
        for line in record.split(|byte| *byte == b'\n') {
            if key_of(line) == Some(&self.timed) {
                return Some(start);
            }
            start += line.len() + 1;
        }
        None
    }
}

/// Keys whose values are levels, in lower case.
const LEVELS: [&[u8]; 4] = [b"level:", b"severity:", b"type:", b"event type:"];

/// Returns what a line has before its value, with the colon.
fn key_of(line: &[u8]) -> Option<&[u8]> {
    if line.trim_ascii_end() == SEPARATOR {
        return Some(SEPARATOR);
    }
    let colon = line
        .iter()
        .take(MAX_KEY_LEN)
        .position(|byte| *byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    let is_of = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.;".contains(byte);
    let is_key = name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_of);
    let is_apart = matches!(value.get(1), None | Some(b' ' | b'\t' | b'\r' | b':'));
    (is_key && is_apart).then(|| line.get(..=colon))?
}

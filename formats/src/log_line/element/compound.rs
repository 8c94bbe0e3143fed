//! Words that say several things: a level and a name, a name and a process.

use std::ops::Range;

use crate::log_line::level::{self, Sureness};

/// Where `I/ActivityManager( 1234)` of `I/ActivityManager( 1234): text` stands, as Android's logcat writes it in the formats
/// `brief` and `time`, without the last parenthesis.
pub(in crate::log_line) fn logcat(text: &[u8], place: usize) -> Option<Range<usize>> {
    const LONGEST_TAG: usize = 80;
    let rest = text.get(place..)?;
    let is_begun = matches!(rest, [letter, b'/', ..] if level::of_letter(*letter).is_some());
    is_begun.then_some(())?;
    let line = rest.get(..rest.len().min(LONGEST_TAG))?;
    let close = memchr::memmem::find(line, b"):")?;
    logcat_parts(line.get(..=close)?)?;
    Some(place..place + close)
}

/// `I/ActivityManager( 1234)`: where the tag and the process stand.
pub(in crate::log_line) fn logcat_parts(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let inside = word.strip_suffix(b")")?;
    let is_begun = matches!(inside, [letter, b'/', ..] if level::of_letter(*letter).is_some());
    let open = memchr::memrchr(b'(', inside).filter(|open| is_begun && *open > 2)?;
    let tag = inside.get(2..open)?.trim_ascii_end();
    let number = inside.get(open + 1..)?.trim_ascii_start();
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    is_number.then_some((2..2 + tag.len(), inside.len() - number.len()..inside.len()))
}

/// A level and a name beside it: `core:error`, `INFO/MainProcess`, `app.INFO`. Where they stand in the word.
pub(in crate::log_line) fn named_level(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    // `util.py[DEBUG]`.
    if let Some(inside) = word.strip_suffix(b"]")
        && let Some(open) = inside
            .iter()
            .position(|byte| *byte == b'[')
            .filter(|open| *open > 0)
        && inside.get(open + 1..).is_some_and(|level| {
            level.iter().all(u8::is_ascii_uppercase) && level::sureness(level).is_some()
        })
    {
        return Some((open + 1..inside.len(), 0..open));
    }
    // `krb5kdc[42](info)`.
    if let Some(inside) = word.strip_suffix(b")")
        && let Some(open) = memchr::memmem::find(inside, b"](")
        && inside
            .get(open + 2..)
            .is_some_and(|level| level::sureness(level).is_some())
    {
        return Some((open + 2..inside.len(), 0..open + 1));
    }
    let sep = word.iter().rposition(|b| matches!(b, b':' | b'/' | b'.'))?;
    let (before, after) = (word.get(..sep)?, word.get(sep + 1..)?);
    let is_level = |word: &[u8]| level::sureness(word).is_some();
    // `System.Exception` is the name of one.
    let is_exception = word.get(sep) == Some(&b'.') && after == b"Exception";
    // `[:error]`, as Apache writes it of a module without a name.
    if is_level(after) && !is_exception && (!before.is_empty() || word.first() == Some(&b':')) {
        return Some((sep + 1..word.len(), 0..sep));
    }
    let sep = word.iter().position(|b| matches!(b, b':' | b'/'))?;
    let (before, after) = (word.get(..sep)?, word.get(sep + 1..)?);
    (is_level(before) && !after.is_empty()).then_some((0..sep, sep + 1..word.len()))
}

/// `WARNING[4242]`, `NOTICE[4242][C-00000001]`: where the level stands, and what is in the first brackets.
pub(in crate::log_line) fn level_and_id(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let open = word.iter().position(|byte| *byte == b'[')?;
    let inside = word.get(open + 1..)?;
    let close = inside.iter().position(|byte| *byte == b']')?;
    let (id, others) = inside.split_at_checked(close)?;
    (others.len() == 1 || (others.starts_with(b"][") && others.ends_with(b"]"))).then_some(())?;
    let is_it = !id.is_empty()
        && id.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        && level::sureness(word.get(..open)?).is_some();
    is_it.then(|| (0..open, open + 1..open + 1 + id.len()))
}

/// `system,error,critical`, as RouterOS writes what a line is about: where the last level stands, and the first topic.
pub(in crate::log_line) fn topic_level(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let comma = memchr::memchr(b',', word).filter(|comma| *comma > 0)?;
    word.iter()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b',' | b'-'))
        .then_some(())?;
    let mut start = 0;
    let mut found = None;
    for topic in word.split(|byte| *byte == b',') {
        if start > 0 && level::sureness(topic) == Some(Sureness::Sure) {
            found = Some(start..start + topic.len());
        }
        start += topic.len() + 1;
    }
    Some((found?, 0..comma))
}

/// Whether a word is a facility of syslog and a level, as OpenWrt writes them: `daemon.info`.
pub(in crate::log_line) fn is_of_facility(word: &[u8]) -> bool {
    const FACILITIES: [&[u8]; 12] = [
        b"kern",
        b"user",
        b"mail",
        b"daemon",
        b"auth",
        b"syslog",
        b"lpr",
        b"news",
        b"uucp",
        b"cron",
        b"authpriv",
        b"ftp",
    ];
    let Some(dot) = memchr::memchr(b'.', word) else {
        return false;
    };
    let (facility, level) = word.split_at_checked(dot).unwrap_or_default();
    let is_local = || matches!(facility, [b'l', b'o', b'c', b'a', b'l', b'0'..=b'7']);
    let is_level = level
        .get(1..)
        .is_some_and(|level| level::sureness(level).is_some());
    is_level && (FACILITIES.contains(&facility) || is_local())
}

/// `13[IKE]`, as strongSwan writes a thread and what it does: where both stand.
pub(in crate::log_line) fn thread_and_name(word: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let open = memchr::memchr(b'[', word).filter(|open| *open > 0)?;
    let name = word.get(open + 1..)?.strip_suffix(b"]")?;
    let is_it = word.get(..open)?.iter().all(u8::is_ascii_digit)
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(u8::is_ascii_alphanumeric);
    is_it.then_some((0..open, open + 1..word.len() - 1))
}

/// `hostd[1234]`: a name and a process.
pub(in crate::log_line) fn is_name_and_process(word: &[u8]) -> bool {
    let Some(open) = memchr::memchr(b'[', word).filter(|open| *open > 1) else {
        return false;
    };
    let (name, number) = word.split_at_checked(open).unwrap_or_default();
    let number = number.get(1..).and_then(|number| number.strip_suffix(b"]"));
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-/".contains(byte);
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(is_name)
        && number.is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit))
}

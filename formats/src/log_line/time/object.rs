//! The time of a JSON object in a line of its own: found, not parsed, since most lines of its file are of another layout.

use super::date::DateForm;
use super::form::{Reading, TimeForm, read};

/// Names of times, as programs' libraries for logs write them.
const KEYS: [&[u8]; 5] = [
    b"\"ts\":",
    b"\"time\":",
    b"\"timestamp\":",
    b"\"@timestamp\":",
    b"\"t\":",
];
/// How they are written.
const FORMS: [TimeForm; 3] = [
    TimeForm::Dated(DateForm::YearMonthDay(b'-')),
    TimeForm::Dated(DateForm::YearMonthDay(b'/')),
    TimeForm::Epoch,
];

/// Returns the name of the member with the time of an object.
pub(crate) fn key_of_time(object: &str) -> Option<&'static str> {
    read_object(object.trim().as_bytes(), 0)?;
    let key = KEYS
        .iter()
        .find(|key| memchr::memmem::find(object.as_bytes(), key).is_some())?;
    let name = std::str::from_utf8(key).ok()?;
    name.strip_prefix('"')?.strip_suffix("\":")
}

/// Reads the time of an object that is the whole rest of a line, and says where that ends.
pub(super) fn read_object(text: &[u8], place: usize) -> Option<(Reading, usize)> {
    let rest = text.get(place..)?;
    let line = rest.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    (line.starts_with(b"{\"") && line.ends_with(b"}")).then_some(())?;
    let value_of = |key: &&[u8]| {
        let start = memchr::memmem::find(line, key)? + key.len();
        let value = line.get(start..)?.trim_ascii_start();
        let is_text = value.first() == Some(&b'"');
        let value = value.get(usize::from(is_text)..)?;
        FORMS.into_iter().find_map(|form| {
            let (reading, end) = read(form, value, 0)?;
            let closes = match is_text {
                true => value.get(end) == Some(&b'"'),
                false => matches!(value.get(end), Some(b',' | b'}' | b' ')),
            };
            closes.then_some(reading)
        })
    };
    let reading = KEYS.iter().find_map(value_of)?;
    Some((reading, place + line.len()))
}

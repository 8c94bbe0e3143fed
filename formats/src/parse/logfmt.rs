//! logfmt: `ts=2024-05-01T10:00:00Z level=info msg="a line" took=12ms retry`, which originated at
//! Heroku. `https://brandur.org/logfmt`

use std::borrow::Cow;

use super::add_untyped;
use super::syslog::{PRIORITY_NAMES, add_priority};
use crate::failure::Failure;
use crate::json::Object;
use crate::layout::Hints;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};

pub(crate) fn parse(text: &str, hints: &Hints, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut object = Object::begin(out);
    let mut num_pairs = 0;
    let mut keys = Vec::with_capacity(16);
    let mut time = Time::default();
    let (priority, text) = without_priority(text);
    if let Some(priority) = priority {
        add_priority(&mut object, priority);
        keys.extend(PRIORITY_NAMES.map(Cow::Borrowed));
    }
    for pair in Pairs::new(text) {
        let Pair { key, value } = pair?;
        match value {
            Some((value, is_quoted)) => {
                num_pairs += 1;
                time.add(key, &value);
                let kind = hints.fields.get(key).copied();
                add_untyped(&mut object, &free(key, &mut keys), &value, kind, is_quoted);
            }
            None => object.json(&free(key, &mut keys), "true"),
        }
    }
    if let Some(time) = time.written(hints) {
        object.string("timestamp", &time);
    }
    object.end();
    match num_pairs {
        0 => Err(Failure::format("the record has no key=value")),
        _ => Ok(()),
    }
}

/// Takes a priority of syslog from the beginning, as devices send pairs without a header: `<189>date=2024-05-01 …`.
fn without_priority(text: &str) -> (Option<u8>, &str) {
    let split = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let priority = split.and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
    match priority.filter(|(priority, _): &(u8, _)| *priority < 192) {
        Some((priority, rest)) => (Some(priority), rest),
        None => (None, text),
    }
}

/// Returns the name of a key's field: with a number if the key stands there twice, as `msg` in Linux' audit log.
fn free<'t>(key: &'t str, keys: &mut Vec<Cow<'t, str>>) -> Cow<'t, str> {
    let numbered = (2..).map(|number| Cow::Owned(format!("{key}_{number}")));
    let mut names = std::iter::once(Cow::Borrowed(key)).chain(numbered);
    let name = names.find(|name| !keys.contains(name)).unwrap_or_default();
    keys.push(name.clone());
    name
}

/// A time that is no value of one key: `date=2024-05-01 time=10:00:00 tz="+0200"` of FortiGate, and `msg=audit(1714557600.123:42):`
/// of Linux' audit log.
#[derive(Default)]
struct Time {
    date: String,
    clock: String,
    zone: String,
    audited: Option<String>,
    /// Whether a key says it all.
    is_said: bool,
}

impl Time {
    fn add(&mut self, key: &str, value: &str) {
        match key {
            "date" => value.clone_into(&mut self.date),
            "time" => value.clone_into(&mut self.clock),
            "tz" => value.clone_into(&mut self.zone),
            "msg" if self.audited.is_none() => {
                self.audited = value.strip_prefix("audit(").map(str::to_owned);
            }
            "timestamp" => self.is_said = true,
            _ => {}
        }
    }

    fn written(&self, hints: &Hints) -> Option<String> {
        let (form, text) = match &self.audited {
            _ if self.is_said => return None,
            Some(time) => (TimeForm::Epoch, Cow::Borrowed(time.as_str())),
            None if self.date.len() == 10 && !self.clock.is_empty() => (
                TimeForm::Dated(DateForm::YearMonthDay(b'-')),
                Cow::Owned(format!("{} {}{}", self.date, self.clock, self.zone)),
            ),
            None => return None,
        };
        let (reading, end) = read(form, text.as_bytes(), 0)?;
        let rest = text.get(end..)?;
        let Reading::Time(stamp) = reading else {
            return None;
        };
        (rest.is_empty() || rest.starts_with(':')).then_some(())?;
        let mut out = Vec::new();
        stamp.write(&hints.reference(), &mut out)?;
        String::from_utf8(out).ok()
    }
}

pub(crate) struct Pair<'t> {
    pub(crate) key: &'t str,
    /// The value, and whether it was in quotes; `None` for a key alone.
    pub(crate) value: Option<(Cow<'t, str>, bool)>,
}

/// Iterator over the pairs of a line.
pub(crate) struct Pairs<'t> {
    line: &'t str,
    rest: &'t str,
    /// What stands between the pairs, if it is no white space.
    separator: Option<u8>,
}

impl<'t> Pairs<'t> {
    pub(crate) fn new(line: &'t str) -> Pairs<'t> {
        Pairs {
            line,
            rest: line,
            separator: separator(line),
        }
    }

    /// Returns the next pair of those with a separator between them.
    fn separated(&mut self, separator: u8) -> Option<Pair<'t>> {
        let end = memchr::memchr(separator, self.rest.as_bytes());
        let (pair, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest.get(1..).unwrap_or_default();
        let (key, value) = pair.split_once('=')?;
        let value = value.trim();
        let inside = value
            .strip_prefix('"')
            .and_then(|value| value.strip_suffix('"'));
        let value = (Cow::Borrowed(inside.unwrap_or(value)), inside.is_some());
        Some(Pair {
            key: key.trim(),
            value: Some(value),
        })
    }

    fn failure(&mut self, what: &str) -> Failure {
        let place = self.line.len() - self.rest.len();
        self.rest = "";
        Failure::format(format!("{what} at byte {place}"))
    }
}

impl<'t> Iterator for Pairs<'t> {
    type Item = Result<Pair<'t>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if self.rest.is_empty() {
            return None;
        }
        if let Some(separator) = self.separator {
            return self.separated(separator).map(Ok);
        }
        let is_end = |c: char| matches!(c, ' ' | '\t' | '=' | '"');
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (key, after) = self.rest.split_at_checked(end)?;
        if key.is_empty() {
            return Some(Err(self.failure("expected a key")));
        }
        let Some(value) = after.strip_prefix('=') else {
            if after.starts_with('"') {
                return Some(Err(self.failure("a key with a quote in it")));
            }
            self.rest = after;
            return Some(Ok(Pair { key, value: None }));
        };
        if let Some((value, rest)) = value.strip_prefix('\'').and_then(until_apostrophe) {
            self.rest = rest;
            let value = Some((Cow::Borrowed(value), true));
            return Some(Ok(Pair { key, value }));
        }
        let Some(quoted) = value.strip_prefix('"') else {
            let end = value.find([' ', '\t']).unwrap_or(value.len());
            let (value, rest) = value.split_at_checked(end)?;
            self.rest = rest;
            let value = Some((Cow::Borrowed(value), false));
            return Some(Ok(Pair { key, value }));
        };
        let Some((value, rest)) = until_quote(quoted) else {
            return Some(Err(
                self.failure("a quote is opened and never closed, in the pair")
            ));
        };
        self.rest = rest;
        let value = Some((value, true));
        Some(Ok(Pair { key, value }))
    }
}

/// Returns what stands between the pairs of a line, if it is `|` or `;` and nothing but pairs stands there:
/// `time=1714557607|hostname=gw1|action=Accept`, as Check Point's exporter writes it.
fn separator(line: &str) -> Option<u8> {
    const MIN_PAIRS: usize = 3;
    let is_pair = |part: &str| {
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let pair = part.split_once('=').map(|(key, _)| key.trim());
        // Digits are the tags of FIX.
        pair.is_some_and(|key| {
            key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(is_of_key)
        })
    };
    [b'|', b';'].into_iter().find(|separator| {
        let parts = || {
            let line = line.trim_end().trim_end_matches(char::from(*separator));
            line.split(char::from(*separator))
        };
        memchr::memchr(*separator, line.as_bytes()).is_some()
            && parts().count() >= MIN_PAIRS
            && parts().all(is_pair)
    })
}

/// Returns the text up to an apostrophe that ends the pair, and the rest: `msg='op=login res=success'`.
fn until_apostrophe(text: &str) -> Option<(&str, &str)> {
    let is_end = |(at, _): &(usize, &str)| {
        let after = text.get(at + 1..);
        after.is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t']))
    };
    let (at, _) = text.match_indices('\'').find(is_end)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Returns the text up to the closing quote, unescaped, and the rest.
fn until_quote(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let at = text.find(['"', '\\'])?;
    let (before, from) = text.split_at_checked(at)?;
    if let Some(rest) = from.strip_prefix('"') {
        return Some((Cow::Borrowed(before), rest));
    }
    let mut value = before.to_string();
    let mut chars = from.chars();
    loop {
        match chars.next()? {
            '"' => return Some((Cow::Owned(value), chars.as_str())),
            '\\' => match chars.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                'u' => {
                    let digits = chars.as_str().get(..4);
                    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                    match code.and_then(char::from_u32) {
                        Some(c) => {
                            value.push(c);
                            chars = chars.as_str().get(4..)?.chars();
                        }
                        None => value.push_str("\\u"),
                    }
                }
                c @ ('"' | '\\') => value.push(c),
                c => value.extend(['\\', c]),
            },
            c => value.push(c),
        }
    }
}

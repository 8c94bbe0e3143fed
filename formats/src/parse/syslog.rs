//! syslog: RFC 5424, RFC 3164 (whose time has no year), and rsyslog's file formats, which either lack the
//! priority, or have an RFC 3339 time instead of the old one.
//!
//! ```text
//! <34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 [a@1 k="v"] 'su root' failed
//! <34>Oct 11 22:14:15 mymachine su[230]: 'su root' failed
//! ```
//! `https://www.rfc-editor.org/rfc/rfc5424`, `https://www.rfc-editor.org/rfc/rfc3164`; in a stream, each may stand behind
//! its length: `https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1`

use std::borrow::Cow;
use std::net::IpAddr;

use crate::failure::Failure;
use crate::json::Object;
use crate::log_line::event::Event;
use crate::log_line::time::{DateForm, Reading, Reference, TimeForm, read};
use crate::log_line::{level_at_start, level_in_code, level_of_word};
use crate::time;

const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];
const SEVERITIES: [&str; 8] = [
    "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
];

/// Returns whether a line is syslog by its header.
pub(crate) fn is_line(line: &str) -> bool {
    parse(line, &Reference::default(), &mut Vec::new()).is_ok()
}

/// Returns whether a line is one of `journalctl` between others: `-- Boot 4f1c… --`, `-- Logs begin at … --`.
pub(crate) fn is_remark(line: &[u8]) -> bool {
    line.starts_with(b"-- ") && line.trim_ascii_end().ends_with(b" --")
}

/// Returns whether a line is recognisably syslog: it has a priority, or a host and a tag after its time. A time
/// followed by anything else is common to all programs.
pub(crate) fn has_tag(line: &str) -> bool {
    if without_length(line).starts_with('<') {
        return true;
    }
    let Some((_, rest)) = old_header(line, &Reference::default()) else {
        return false;
    };
    let Some((hostname, rest)) = rest.split_once(' ') else {
        return false;
    };
    let is_host = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
    let tag = rest.split([':', '[']).next().unwrap_or_default();
    let is_tag = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '(' | ')');
    let after = rest.get(tag.len()..).unwrap_or_default();
    let after = match after
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((_, after)) => after,
        None => after,
    };
    hostname.chars().all(is_host)
        // `imap-login: Info: text`: a colon behind it makes it a tag.
        && !hostname.ends_with(':')
        && !crate::log_line::is_level(hostname)
        && !matches!(hostname, "stdout" | "stderr" | "START" | "END" | "REPORT")
        && !tag.is_empty()
        // An address and its port: Amazon's classic load balancer has one here.
        && tag.parse::<IpAddr>().is_err()
        && tag.chars().all(is_tag)
        && after.starts_with(':')
}

pub(crate) fn parse(
    text: &str,
    reference: &Reference<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut object = Object::begin(out);
    let (priority, rest) = priority(without_length(text))?;
    if let Some(priority) = priority {
        add_priority(&mut object, priority);
    }
    match rest.strip_prefix("1 ") {
        Some(rest) if priority.is_some() => rfc5424(rest, &mut object)?,
        _ => rfc3164(rest, reference, priority.is_some(), &mut object)?,
    }
    object.end();
    Ok(())
}

/// Names of the members that a priority gives.
pub(super) const PRIORITY_NAMES: [&str; 3] = ["facility", "severity", "severity_number"];

pub(super) fn add_priority(object: &mut Object<'_>, priority: u8) {
    let name = |names: &[&'static str], place: u8| -> &'static str {
        names.get(usize::from(place)).copied().unwrap_or("unknown")
    };
    let [facility, severity, number] = PRIORITY_NAMES;
    object.string(facility, name(&FACILITIES, priority >> 3));
    object.string(severity, name(&SEVERITIES, priority & 7));
    object.json(number, &(priority & 7).to_string());
}

/// Returns a record without the length that stands before it in a stream: `61 <13>1 …` (RFC 6587).
fn without_length(text: &str) -> &str {
    let num_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text
        .get(num_digits..)
        .and_then(|rest| rest.strip_prefix(' '));
    let rest = rest.filter(|rest| (1..8).contains(&num_digits) && rest.starts_with('<'));
    rest.unwrap_or(text)
}

fn priority(text: &str) -> Result<(Option<u8>, &str), Failure> {
    let Some(inside) = text.strip_prefix('<') else {
        return Ok((None, text));
    };
    let found = inside.split_once('>').and_then(|(digits, rest)| {
        let priority: u8 = digits.parse().ok().filter(|number| *number < 192)?;
        Some((Some(priority), rest))
    });
    found.ok_or_else(|| Failure::format("expected a priority such as <34> at byte 0"))
}

fn rfc5424(text: &str, object: &mut Object<'_>) -> Result<(), Failure> {
    let mut rest = text;
    let mut next = |what: &str| -> Result<&str, Failure> {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        match word {
            "" => Err(Failure::format(format!("the header has no {what}"))),
            word => Ok(word),
        }
    };
    let timestamp = next("time")?;
    if timestamp != "-" {
        if !time::is_rfc3339(timestamp) {
            return Err(Failure::format(format!(
                "{timestamp:?} is no time such as 2003-10-11T22:14:15.003Z"
            )));
        }
        object.string("timestamp", timestamp);
    }
    for name in ["hostname", "app_name", "proc_id", "msg_id"] {
        let value = next(name)?;
        if value != "-" {
            object.string(name, value);
        }
    }
    let message = match rest.strip_prefix('-') {
        Some(message) => message,
        None if rest.starts_with('[') => structured_data(rest, object)?,
        // Heroku's drains leave it out: `https://devcenter.heroku.com/articles/log-drains`.
        None => rest,
    };
    let message = message.strip_prefix(' ').unwrap_or(message);
    let message = message.strip_prefix('\u{feff}').unwrap_or(message);
    if let Some(event) = Event::of(message) {
        event.add(object);
    }
    if !message.is_empty() {
        object.string("message", message);
    }
    Ok(())
}

type Element<'t> = (&'t str, Vec<(&'t str, Cow<'t, str>)>);

/// Adds `[id key="value"][…]` as an object of objects; returns the rest.
fn structured_data<'t>(text: &'t str, object: &mut Object<'_>) -> Result<&'t str, Failure> {
    let mut rest = text;
    let mut elements: Vec<Element<'t>> = Vec::new();
    while let Some((element, after)) = rest.strip_prefix('[').and_then(element) {
        // The same id twice violates the RFC, but nothing of it is lost.
        match elements.iter_mut().find(|(id, _)| *id == element.0) {
            Some((_, values)) => values.extend(element.1),
            None => elements.push(element),
        }
        rest = after;
    }
    if elements.is_empty() || rest.starts_with('[') {
        return Err(Failure::format(
            "the structured data is not of the form [id key=\"value\"]",
        ));
    }
    let mut data = object.object("structured_data");
    for (id, values) in elements {
        let mut element = data.object(id);
        let mut written: Vec<&str> = Vec::new();
        for (key, _) in &values {
            if written.contains(key) {
                continue;
            }
            written.push(key);
            // A key may be repeated, and then has several values.
            let same: Vec<&str> = values
                .iter()
                .filter(|(other, _)| other == key)
                .map(|(_, value)| value.as_ref())
                .collect();
            match same.as_slice() {
                [one] => element.string(key, one),
                several => {
                    let out = element.value(key);
                    let mut before = b'[';
                    for value in several {
                        out.push(before);
                        crate::json::push_string(out, value);
                        before = b',';
                    }
                    out.push(b']');
                }
            }
        }
        element.end();
    }
    data.end();
    Ok(rest)
}

/// Parses an element after a `[`, up to and including its `]`.
fn element(text: &str) -> Option<(Element<'_>, &str)> {
    let end = text.find([' ', ']'])?;
    let (id, mut rest) = text.split_at_checked(end)?;
    if id.is_empty() || id.contains(['=', '"']) {
        return None;
    }
    let mut values = Vec::new();
    loop {
        rest = rest.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix(']') {
            return Some(((id, values), after));
        }
        let (key, after) = rest.split_once("=\"")?;
        if key.is_empty() || key.contains([' ', ']', '"', '=']) {
            return None;
        }
        let (value, after) = value(after)?;
        values.push((key, value));
        rest = after;
    }
}

/// Parses a value up to a quote that is not escaped.
fn value(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut place = 0;
    loop {
        place += text.get(place..)?.find(['"', '\\'])?;
        if text.get(place..)?.starts_with('"') {
            break;
        }
        place += 1 + text.get(place + 1..)?.chars().next()?.len_utf8();
    }
    let (value, rest) = (text.get(..place)?, text.get(place + 1..)?);
    let value = match value.contains('\\') {
        true => {
            let value = value.replace("\\\"", "\"").replace("\\]", "]");
            Cow::Owned(value.replace("\\\\", "\\"))
        }
        false => Cow::Borrowed(value),
    };
    Some((value, rest))
}

/// Whether a program names itself where the host should stand, as HAProxy does by default: `haproxy[1234]:`.
fn is_own_tag(word: &str) -> bool {
    let Some((name, process)) = word.strip_suffix("]:").and_then(|tag| tag.split_once('[')) else {
        return false;
    };
    !name.is_empty() && !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())
}

fn rfc3164(
    text: &str,
    reference: &Reference<'_>,
    has_priority: bool,
    object: &mut Object<'_>,
) -> Result<(), Failure> {
    let expected = || Failure::format("expected a time such as `Oct 11 22:14:15` before the host");
    let (timestamp, rest) = old_header(text, reference).ok_or_else(expected)?;
    let event = rest.split_once(' ').and_then(|(_, rest)| Event::of(rest));
    // That of an event has its year.
    let own_time = event.as_ref().and_then(|event| event.timestamp(reference));
    object.string("timestamp", own_time.as_deref().unwrap_or(&timestamp));
    let (hostname, after) = rest.split_once(' ').unwrap_or((rest, ""));
    if hostname.is_empty() {
        return Err(Failure::format("the record has no host after its time"));
    }
    let rest = match is_own_tag(hostname) {
        true => rest,
        false => {
            object.string("hostname", hostname);
            after
        }
    };
    if let Some(event) = event {
        event.add(object);
        object.string("message", rest);
        return Ok(());
    }
    let is_tag = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '(' | ')');
    let tag_end = rest.find(|c| !is_tag(c)).unwrap_or(rest.len());
    let (tag, after) = rest.split_at_checked(tag_end).unwrap_or((rest, ""));
    let (proc_id, after) = match after
        .strip_prefix('[')
        .and_then(|text| text.split_once(']'))
    {
        Some((proc_id, after)) => (Some(proc_id), after),
        None => (None, after),
    };
    let message = match after.strip_prefix(':') {
        Some(message) if !tag.is_empty() => {
            object.string("app_name", tag);
            if let Some(proc_id) = proc_id.filter(|id| !id.is_empty()) {
                object.string("proc_id", proc_id);
            }
            message
        }
        _ => rest,
    };
    let message = message.strip_prefix(' ').unwrap_or(message);
    // A file has no priorities, daemons write `error: text`, and devices `%LINK-3-UPDOWN: text`.
    let told = || level_in_head(message).or_else(|| level_in_code(message).map(Cow::Borrowed));
    if let Some(level) = (!has_priority).then(told).flatten() {
        object.string("level", &level);
    }
    if !message.is_empty() {
        object.string("message", message);
    }
    Ok(())
}

/// Returns the level in the head that a program gave its text before syslog gave it another: as [`level_at_start`] has it, `[7][main]
/// [INFO] text`, `2024-05-01 10:00:00,123 INFO text`, `INFO text`, `ts=… level=info msg=…`.
fn level_in_head(message: &str) -> Option<Cow<'static, str>> {
    const MAX_BRACKETS: usize = 8;
    let mut rest = message;
    for _ in 0..MAX_BRACKETS {
        let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        else {
            break;
        };
        let inside = match inside.strip_prefix("ID ") {
            // `[ID 702911 daemon.notice] text`, as Solaris writes it.
            Some(id) => id.rsplit('.').next().unwrap_or_default(),
            None => inside.trim(),
        };
        if let Some(level) = level_of_word(inside) {
            return Some(level);
        }
        rest = after.trim_start();
    }
    let forms = [b'-', b'/'].map(|sep| TimeForm::Dated(DateForm::YearMonthDay(sep)));
    let time = forms
        .into_iter()
        .find_map(|form| read(form, message.as_bytes(), 0));
    let head = time
        .and_then(|(_, end)| message.get(end..))
        .unwrap_or(message);
    let head = head.trim_start_matches([' ', '[', '|', '-', ':']);
    let len = head.bytes().take_while(u8::is_ascii_uppercase).count();
    if let Some((word, after)) = head.split_at_checked(len)
        && after.starts_with([' ', ']', '|', ':', '\t'])
        && let Some(level) = level_of_word(word)
    {
        return Some(level);
    }
    level_at_start(message).or_else(|| {
        let (before, after) = message.split_once("level=")?;
        let is_key = before.is_empty() || before.ends_with(' ');
        let value = after.trim_start_matches('"');
        let len = value.bytes().take_while(u8::is_ascii_alphabetic).count();
        level_of_word(value.get(..len).filter(|_| is_key)?)
    })
}

/// Returns the time of a header, and the rest: `Oct 11 22:14:15` with its year, or RFC 3339.
fn old_header<'t>(text: &'t str, reference: &Reference<'_>) -> Option<(Cow<'t, str>, &'t str)> {
    if let Some((timestamp, rest)) = text.split_once(' ')
        && time::is_rfc3339(timestamp)
    {
        return Some((Cow::Borrowed(timestamp), rest));
    }
    let head = text.get(..15)?;
    let form = TimeForm::Dated(DateForm::NameDay);
    let (Reading::Time(stamp), 15) = read(form, head.as_bytes(), 0)? else {
        return None;
    };
    let rest = text.get(15..)?.strip_prefix(' ')?;
    // Junos writes two.
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let mut timestamp = Vec::with_capacity(20);
    stamp.write(reference, &mut timestamp)?;
    let timestamp = String::from_utf8(timestamp).ok()?;
    Some((Cow::Owned(timestamp), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_give_their_text_a_head_of_its_own() {
        for (message, expected) in [
            (
                "[m22][4849][2024-05-01 10:00:01,744][logic.2][INFO]: one",
                Some("INFO"),
            ),
            ("[main] [warn] one", Some("WARN")),
            ("[ID 702911 daemon.notice] one", Some("NOTICE")),
            ("2024-05-01 10:00:01,744 ERROR [main] one", Some("ERROR")),
            ("2024/05/01 10:00:01 [ERROR] one", Some("ERROR")),
            ("WARN  one", Some("WARN")),
            (
                "ts=2024-05-01T10:00:01Z caller=main.go:7 level=info msg=one",
                Some("INFO"),
            ),
            (
                "time=\"2024-05-01T10:00:01Z\" level=\"error\" msg=one",
                Some("ERROR"),
            ),
            ("[1] [2] one [ERROR]", None),
            ("INFORMATION2 one", None),
            ("Error in one", None),
            ("runlevel=info", None),
        ] {
            assert_eq!(level_in_head(message).as_deref(), expected, "{message}");
        }
    }
}

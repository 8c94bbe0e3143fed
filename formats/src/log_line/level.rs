//! The words, letters and signs by which logs say how grave a line is.

use std::borrow::Cow;

/// How far a word alone says that it is a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sureness {
    /// Wherever it stands.
    Sure,
    /// In capitals, in brackets or before a colon: it may be a word like any other.
    Dressed,
}

const LONGEST: usize = 16;

/// Whether a word is a level.
pub(super) fn sureness(word: &[u8]) -> Option<Sureness> {
    let mut lower = [0_u8; LONGEST];
    let lower = lower.get_mut(..word.len())?;
    for (to, from) in lower.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    match &*lower {
        b"trace" | b"debug" | b"info" | b"information" | b"notice" | b"warn" | b"warning"
        | b"error" | b"severe" | b"fatal" | b"critical" | b"verbose" => Some(Sureness::Sure),
        // Abbreviations that are no words.
        b"trc" | b"dbg" | b"inf" | b"wrn" | b"err" | b"ftl" | b"pnc" | b"vrb" | b"trce"
        | b"dbug" | b"crit" | b"emerg" => Some(Sureness::Sure),
        b"emergency" | b"alert" | b"panic" | b"dpanic" | b"informational" | b"fine" | b"finer"
        | b"finest" | b"config" | b"system" | b"note" | b"log" | b"fail" | b"default"
        | b"fault" | b"detail" | b"hint" | b"statement" | b"context" | b"ddebug" | b"subdebug"
        | b"all" | b"audit" | b"success" | b"failure" | b"exception" => Some(Sureness::Dressed),
        // Cut to four letters, as Go's loggers do.
        b"erro" | b"debu" | b"fata" | b"pani" | b"trac" | b"noti" => Some(Sureness::Dressed),
        // As Java's logging says them in other languages.
        b"warnung"
        | b"fehler"
        | b"schwerwiegend"
        | b"kritisch"
        | b"avertissement"
        | b"erreur"
        | b"infos"
        | b"grave"
        | b"advertencia"
        | b"aviso"
        | b"avviso"
        | b"errore"
        | b"informacion"
        | b"informaci\xc3\xb3n"
        | b"informaci\xc3\x93n"
        | b"informazioni" => Some(Sureness::Dressed),
        b"debug1" | b"debug2" | b"debug3" | b"debug4" | b"debug5" => Some(Sureness::Sure),
        _ => None,
    }
}

/// A level as documents have it: in capitals, and one word for what is written in several ways.
pub(super) fn normal(word: &str) -> Cow<'static, str> {
    match canter_names::normal_level(word) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(word.to_uppercase()),
    }
}

/// Whether a word, such as what stands for a host, is a level.
pub(crate) fn is_level(word: &str) -> bool {
    sureness(word.as_bytes()).is_some()
}

/// What a letter stands for: in glog, logcat, MongoDB, Ruby's logger.
pub(crate) fn of_letter(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'V' | b'T' => "TRACE",
        b'D' => "DEBUG",
        b'I' => "INFO",
        b'N' => "NOTICE",
        b'W' => "WARN",
        b'E' => "ERROR",
        b'C' => "CRITICAL",
        b'F' => "FATAL",
        _ => return None,
    })
}

/// What a letter stands for, alone or with a sign behind it: `W`, `W!`, `W>`; and `Df`, `Db` of macOS.
pub(super) fn of_letters(word: &[u8]) -> Option<&'static str> {
    match word {
        b"Df" => Some("NOTICE"),
        b"Db" => Some("DEBUG"),
        [letter] | [letter, b'!' | b'>'] => of_letter(*letter),
        _ => None,
    }
}

/// What a sign stands for in the logs of Redis and Valkey.
pub(super) fn of_sign(sign: u8) -> Option<&'static str> {
    Some(match sign {
        // `-` is what Redis calls verbose: less than debugging tells.
        b'.' | b'-' => "DEBUG",
        b'*' => "NOTICE",
        b'#' => "WARN",
        _ => return None,
    })
}

/// What two letters in parentheses stand for, as X servers write them.
pub(super) fn of_pair(pair: &[u8]) -> Option<&'static str> {
    match pair {
        b"II" => Some("INFO"),
        b"WW" => Some("WARN"),
        b"EE" => Some("ERROR"),
        _ => None,
    }
}

/// Returns the level of `In(166)`, `Er(163)`: two letters and a priority of syslog, as ESXi writes them from version 7 on.
pub(super) fn of_priority(word: &[u8]) -> Option<&'static str> {
    const LETTERS: [&[u8]; 8] = [b"Em", b"Al", b"Cr", b"Er", b"Wa", b"No", b"In", b"Db"];
    let (letters, number) = word.split_at_checked(2)?;
    let number = number.strip_prefix(b"(")?.strip_suffix(b")")?;
    let number: u8 = std::str::from_utf8(number).ok()?.parse().ok()?;
    let severity = usize::from(number & 7);
    (LETTERS.get(severity) == Some(&letters)).then(|| OF_SYSLOG.get(severity).copied())?
}

/// Returns the level of a debug level of Samba's, as its option `syslog` maps them
/// (`https://www.samba.org/samba/docs/4.9/man-html/smb.conf.5.html`).
pub(super) fn of_verbosity(number: usize) -> &'static str {
    ["ERROR", "WARN", "NOTICE", "INFO"]
        .get(number)
        .unwrap_or(&"DEBUG")
}

/// Whether a line begins with a level that cannot be a word of a sentence: `[INFO] text`, `WARNING:root:text`,
/// `DEBUG global: text`, `0 [main] INFO app - text`, `0(42) INFO: text`.
pub(super) fn begins(text: &[u8], place: usize) -> bool {
    let rest = text.get(place..).unwrap_or_default();
    begins_with(rest) || begins_behind(rest)
}

/// Whether a line has a level behind a number of milliseconds and a thread, as log4j's TTCC, or behind a number and a
/// process, as Kamailio.
fn begins_behind(rest: &[u8]) -> bool {
    let num_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (close, end, rest) = match rest.get(num_digits..) {
        Some([b'(', inside @ ..]) if num_digits > 0 => (b')', b':', inside),
        Some([b' ', b'[', inside @ ..]) if num_digits > 0 => (b']', b' ', inside),
        _ => return false,
    };
    let Some(len) = rest.iter().take(60).position(|byte| *byte == close) else {
        return false;
    };
    let is_inside = close == b']' || rest.iter().take(len).all(u8::is_ascii_digit);
    let rest = rest.get(len + 1..).unwrap_or_default().trim_ascii_start();
    let len = rest.iter().take_while(|byte| byte.is_ascii_uppercase());
    let (level, behind) = rest.split_at_checked(len.count()).unwrap_or_default();
    is_inside && behind.first() == Some(&end) && sureness(level) == Some(Sureness::Sure)
}

fn begins_with(rest: &[u8]) -> bool {
    let is_sure = |word: &[u8]| sureness(word.trim_ascii()) == Some(Sureness::Sure);
    match rest.split_first() {
        Some((b'[', inside)) => {
            let end = inside.iter().take(LONGEST).position(|byte| *byte == b']');
            // In capitals it may be a word that is none in a sentence: `[AUDIT   ] `.
            let is_capital = |word: &[u8]| {
                let word = word.trim_ascii();
                word.iter().all(u8::is_ascii_uppercase) && sureness(word).is_some()
            };
            end.and_then(|end| inside.get(..end))
                .is_some_and(|word| is_sure(word) || is_capital(word))
        }
        // `I (1234) wifi: text`, as ESP-IDF writes it.
        Some((letter, [b' ', b'(', inside @ ..])) => {
            let num_digits = inside.iter().take_while(|byte| byte.is_ascii_digit());
            let num_digits = num_digits.count();
            let behind = inside.get(num_digits..).unwrap_or_default();
            let has_tag = || memchr::memmem::find(behind, b": ").is_some();
            of_letter(*letter).is_some() && num_digits > 0 && behind.starts_with(b") ") && has_tag()
        }
        // `info: text`, as winston writes it.
        Some((b'a'..=b'z', _)) => {
            let len = rest.iter().take_while(|byte| byte.is_ascii_lowercase());
            let (word, behind) = rest.split_at_checked(len.count()).unwrap_or_default();
            behind.starts_with(b": ") && is_sure(word)
        }
        Some((b'A'..=b'Z', _)) => {
            let len = rest
                .iter()
                .take_while(|byte| byte.is_ascii_uppercase())
                .count();
            // `DEBUG global: text`, as Vagrant writes it.
            let has_name = || {
                let name = rest.get(len + 1..).unwrap_or_default();
                let name = name.trim_ascii_start();
                let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
                let len = name.iter().take_while(is_name).count();
                len > 1 && name.get(len..len + 2) == Some(b": ")
            };
            let is_closed = match rest.get(len) {
                Some(b':') => true,
                Some(b' ') => has_name(),
                _ => false,
            };
            is_closed && rest.get(..len).is_some_and(is_sure)
        }
        _ => false,
    }
}

/// Returns the level that a message names in a pair, in the code of a device, or in angle brackets: `level=info msg="text"`,
/// `%LINK-3-UPDOWN: text`, `Init Session:0x7f <INFO> text`.
pub(super) fn in_message(message: &str) -> Option<Cow<'static, str>> {
    let text = message.as_bytes();
    match in_pairs(text).or_else(|| in_brackets(text)) {
        Some(range) => message.get(range).map(normal),
        None => in_code(message).map(Cow::Borrowed),
    }
}

/// Returns the level with which a message begins as no sentence does: `error: text`, `Warning: text`, `[error] text`,
/// `(EE) text`.
pub(crate) fn at_start(message: &str) -> Option<Cow<'static, str>> {
    if let [b'(', pair @ .., b')'] = message.as_bytes().get(..4).unwrap_or_default() {
        return of_pair(pair).map(Cow::Borrowed);
    }
    let (rest, close) = match message.strip_prefix('[') {
        Some(rest) => (rest, ']'),
        // `##[error]text`, as GitHub's and Azure's pipelines write it.
        None => match message.strip_prefix("##[") {
            Some(rest) => (rest, ']'),
            None => (message, ':'),
        },
    };
    let len = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (word, after) = rest.split_at_checked(len)?;
    let is_it = after.starts_with(close) && sureness(word.as_bytes()) == Some(Sureness::Sure);
    is_it.then(|| normal(word))
}

/// Returns the level that a word says wherever it stands.
pub(crate) fn of_word(word: &str) -> Option<Cow<'static, str>> {
    (sureness(word.as_bytes()) == Some(Sureness::Sure)).then(|| normal(word))
}

/// Returns the level behind the pairs with which a message begins: `request_id=F1 user=7 [error] text`, as Elixir's console
/// writes it.
pub(super) fn behind_pairs(message: &str) -> Option<Cow<'static, str>> {
    const MAX_PAIRS: usize = 8;
    let mut rest = message;
    for _ in 0..MAX_PAIRS {
        let (pair, after) = rest.split_once(' ')?;
        let (key, _) = pair.split_once('=')?;
        let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        (!key.is_empty() && key.bytes().all(is_key)).then_some(())?;
        if after.starts_with('[') {
            return at_start(after);
        }
        rest = after;
    }
    None
}

/// Where the level of `Init Session:0x7f <INFO> text` stands.
fn in_brackets(text: &[u8]) -> Option<std::ops::Range<usize>> {
    /// Only parts of a head stand before it.
    const MAX_BEFORE: usize = 120;
    let line = text.get(..text.len().min(MAX_BEFORE))?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    memchr::memchr_iter(b'<', line).find_map(|open| {
        let inside = line.get(open + 1..)?;
        let len = inside.iter().take_while(|byte| byte.is_ascii_uppercase());
        let len = len.count();
        let is_it = inside.get(len) == Some(&b'>') && sureness(inside.get(..len)?).is_some();
        is_it.then_some(open + 1..open + 1 + len)
    })
}

/// Levels by their numbers in syslog.
pub(super) const OF_SYSLOG: [&str; 8] = [
    "EMERGENCY",
    "ALERT",
    "CRITICAL",
    "ERROR",
    "WARN",
    "NOTICE",
    "INFO",
    "DEBUG",
];

/// Returns the level of a severity of syslog's.
pub(crate) fn of_syslog(severity: usize) -> Option<&'static str> {
    OF_SYSLOG.get(severity).copied()
}

/// Returns the severity in the code of a message of Cisco's, `%FACILITY-SEVERITY-MNEMONIC:`
/// (`https://www.cisco.com/c/en/us/td/docs/ios/system/messages/guide/consol_smg.html`).
pub(crate) fn in_code(message: &str) -> Option<&'static str> {
    /// Only the name of a host may stand before it.
    const MAX_BEFORE: usize = 64;
    let place = message
        .bytes()
        .take(MAX_BEFORE)
        .position(|byte| byte == b'%')?;
    let code = message.get(place + 1..)?;
    let code = code.get(..code.find(|c: char| c.is_whitespace() || c == ':')?)?;
    if let Some(code) = code.strip_prefix('%') {
        return in_code_of_huawei(code);
    }
    let is_name = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let mut parts = code.split('-');
    (code.contains('-') && is_name(parts.next()?) && code.split('-').all(is_name)).then_some(())?;
    let severity = parts.find_map(|part| match part.as_bytes() {
        [digit @ b'0'..=b'7'] => Some(usize::from(digit - b'0')),
        _ => None,
    })?;
    parts.next()?;
    OF_SYSLOG.get(severity).copied()
}

/// Returns the severity in the code of a message of Huawei's or H3C's, `01IFNET/4/LINK_STATE(l)[7]`.
fn in_code_of_huawei(code: &str) -> Option<&'static str> {
    let mut parts = code.splitn(3, '/');
    let module = parts.next()?;
    let severity: usize = parts.next()?.parse().ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_it = module.bytes().all(is_name) && parts.next()?.starts_with(char::is_uppercase);
    is_it.then(|| OF_SYSLOG.get(severity).copied())?
}

/// Where the level of `level=info msg="text"` stands, and of `{"level":"info","msg":"text"}`.
fn in_pairs(text: &[u8]) -> Option<std::ops::Range<usize>> {
    const KEYS: [&[u8]; 6] = [
        b"level=",
        b"lvl=",
        b"severity=",
        b"loglevel=",
        b"\"level\":",
        b"\"severity\":",
    ];
    let line = text.split(|byte| *byte == b'\n').next()?;
    let begins =
        |place: usize| place == 0 || matches!(line.get(place - 1), Some(b' ' | b'{' | b','));
    let place_of = |key: &&[u8]| {
        let mut places = memchr::memmem::find_iter(line, key);
        places
            .find(|place| begins(*place))
            .map(|place| place + key.len())
    };
    let start = KEYS.iter().find_map(place_of)?;
    let start = start + usize::from(line.get(start) == Some(&b' '));
    let start = start + usize::from(line.get(start) == Some(&b'"'));
    let value = line.get(start..)?;
    let len = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    sureness(value.get(..len)?).map(|_| start..start + len)
}

/// `INFO dfs.DataNode: text`, as Hadoop and Spark write it with log4j: a level, and a dotted name before a colon.
pub(super) fn is_log4j(rest: &[u8]) -> bool {
    let Some(rest) = level_and_rest(rest) else {
        return false;
    };
    let name = rest.split(u8::is_ascii_whitespace).next();
    let name = name.and_then(|name| name.strip_suffix(b":"));
    name.is_some_and(|name| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._$".contains(byte);
        name.first().is_some_and(u8::is_ascii_alphabetic)
            && name.contains(&b'.')
            && name.iter().all(is_part)
    })
}

/// Whether a text begins with a level in capitals.
pub(super) fn leads(text: &[u8]) -> bool {
    level_and_rest(text).is_some()
}

/// A level in capitals, and what stands behind it.
fn level_and_rest(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start();
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let (word, rest) = text.split_at_checked(len)?;
    let is_level = sureness(word).is_some() && rest.first() == Some(&b' ');
    is_level.then(|| rest.trim_ascii_start())
}

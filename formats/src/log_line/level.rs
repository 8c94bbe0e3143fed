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

const LONGEST: usize = 13;

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
        b"trc" | b"dbg" | b"inf" | b"wrn" | b"err" | b"ftl" | b"pnc" | b"vrb" | b"trce"
        | b"dbug" | b"crit" | b"emerg" | b"emergency" | b"alert" | b"panic" | b"dpanic"
        | b"informational" | b"fine" | b"finer" | b"finest" | b"config" | b"system" | b"note"
        | b"log" | b"fail" | b"default" | b"fault" | b"detail" | b"hint" | b"statement"
        | b"context" | b"all" | b"audit" | b"success" | b"failure" | b"exception" => {
            Some(Sureness::Dressed)
        }
        b"debug1" | b"debug2" | b"debug3" | b"debug4" | b"debug5" => Some(Sureness::Sure),
        _ => None,
    }
}

/// A level as documents have it: in capitals, and one word for what is written in several ways.
pub(super) fn normal(word: &str) -> Cow<'static, str> {
    let mut lower = [0_u8; LONGEST];
    if let Some(lower) = lower.get_mut(..word.len()) {
        for (to, from) in lower.iter_mut().zip(word.bytes()) {
            *to = from.to_ascii_lowercase();
        }
        let known = match &*lower {
            b"trace" | b"trc" | b"trce" | b"verbose" | b"vrb" | b"finest" => "TRACE",
            b"debug" | b"dbg" | b"dbug" | b"fine" | b"finer" | b"config" | b"debug1"
            | b"debug2" | b"debug3" | b"debug4" | b"debug5" => "DEBUG",
            b"info" | b"inf" | b"information" | b"informational" => "INFO",
            b"notice" | b"note" | b"default" => "NOTICE",
            b"warn" | b"warning" | b"wrn" => "WARN",
            b"error" | b"err" | b"fail" | b"severe" | b"exception" | b"parse error" => "ERROR",
            b"critical" | b"crit" | b"fault" => "CRITICAL",
            b"alert" => "ALERT",
            b"emergency" | b"emerg" => "EMERGENCY",
            b"panic" | b"pnc" | b"dpanic" => "PANIC",
            b"fatal" | b"ftl" | b"fatal error" => "FATAL",
            _ => "",
        };
        if !known.is_empty() {
            return Cow::Borrowed(known);
        }
    }
    Cow::Owned(word.to_uppercase())
}

/// Whether a word, such as what stands for a host, is a level.
pub(crate) fn is_level(word: &str) -> bool {
    sureness(word.as_bytes()).is_some()
}

/// What a letter stands for: in glog, logcat, MongoDB, Ruby's logger.
pub(super) fn of_letter(letter: u8) -> Option<&'static str> {
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

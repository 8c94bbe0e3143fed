//! The words, letters and signs by which logs say how grave a line is.

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

/// Whether a word, such as what stands for a host, is a level.
pub(crate) fn is_level(word: &str) -> bool {
    sureness(word.as_bytes()).is_some()
}

/// What a letter stands for: in glog, logcat, MongoDB, Ruby's logger.
pub(super) fn of_letter(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'V' => "VERBOSE",
        b'T' => "TRACE",
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
        b'.' => "debug",
        b'-' => "verbose",
        b'*' => "notice",
        b'#' => "warning",
        _ => return None,
    })
}

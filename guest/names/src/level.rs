//! Levels of logs: one word for each, however programs write it.

/// Length of the longest word that is a level.
const LONGEST: usize = 16;

/// Returns the word for a level that is written in another way, in capitals: `ERROR` for `err`, `Error`, `SEVERE`,
/// `Fehler`. `None` for a word that is unknown.
#[must_use]
pub fn normal_level(word: &str) -> Option<&'static str> {
    let mut lower = [0_u8; LONGEST];
    let lower = lower.get_mut(..word.len())?;
    for (to, from) in lower.iter_mut().zip(word.bytes()) {
        *to = from.to_ascii_lowercase();
    }
    Some(match &*lower {
        b"trace" | b"trc" | b"trce" | b"trac" | b"verbose" | b"vrb" | b"finest" => "TRACE",
        b"debug" | b"debu" | b"ddebug" | b"subdebug" | b"dbg" | b"dbug" | b"fine" | b"finer"
        | b"config" | b"debug1" | b"debug2" | b"debug3" | b"debug4" | b"debug5" => "DEBUG",
        b"info"
        | b"inf"
        | b"information"
        | b"informational"
        | b"infos"
        | b"informacion"
        | b"informaci\xc3\xb3n"
        | b"informaci\xc3\x93n"
        | b"informazioni" => "INFO",
        b"notice" | b"noti" | b"note" | b"default" => "NOTICE",
        b"warn" | b"warning" | b"wrn" | b"warnung" | b"avertissement" | b"advertencia"
        | b"aviso" | b"avviso" => "WARN",
        b"error" | b"erro" | b"err" | b"fail" | b"severe" | b"exception" | b"parse error"
        | b"fehler" | b"schwerwiegend" | b"erreur" | b"grave" | b"errore" => "ERROR",
        b"critical" | b"crit" | b"fault" | b"kritisch" => "CRITICAL",
        b"alert" => "ALERT",
        b"emergency" | b"emerg" => "EMERGENCY",
        b"panic" | b"pani" | b"pnc" | b"dpanic" => "PANIC",
        b"fatal" | b"fata" | b"ftl" | b"fatal error" => "FATAL",
        _ => return None,
    })
}

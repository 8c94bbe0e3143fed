//! Levels as many families write them, each with its parsed form.

type Levels = &'static [(&'static str, &'static str)];

pub(super) const WORDS: Levels = &[
    ("INFO", "INFO"),
    ("WARN", "WARN"),
    ("ERROR", "ERROR"),
    ("DEBUG", "DEBUG"),
];
pub(super) const LOWER: Levels = &[
    ("info", "INFO"),
    ("warn", "WARN"),
    ("error", "ERROR"),
    ("debug", "DEBUG"),
];
pub(super) const LONG: Levels = &[
    ("INFO", "INFO"),
    ("WARNING", "WARN"),
    ("ERROR", "ERROR"),
    ("CRITICAL", "CRITICAL"),
];
pub(super) const LETTERS: Levels = &[("I", "INFO"), ("W", "WARN"), ("E", "ERROR")];
pub(super) const THREE: Levels = &[
    ("INF", "INFO"),
    ("WRN", "WARN"),
    ("ERR", "ERROR"),
    ("DBG", "DEBUG"),
];
pub(super) const NOTICES: Levels = &[
    ("NOTICE", "NOTICE"),
    ("WARNING", "WARN"),
    ("ERROR", "ERROR"),
];
/// Of X servers.
pub(super) const PAIRS: Levels = &[("II", "INFO"), ("WW", "WARN"), ("EE", "ERROR")];
/// Of `java.util.logging`.
pub(super) const JUL_IN_SPANISH: Levels = &[
    ("INFORMACIÓN", "INFO"),
    ("ADVERTENCIA", "WARN"),
    ("GRAVE", "ERROR"),
];
/// Of WebSphere Liberty.
pub(super) const AUDITS: Levels = &[("AUDIT", "AUDIT"), ("INFO", "INFO"), ("WARNING", "WARN")];
/// The numbers of syslog's severities, as Cisco's messages have them.
pub(super) const SEVERITIES: Levels = &[
    ("3", "ERROR"),
    ("4", "WARN"),
    ("5", "NOTICE"),
    ("6", "INFO"),
];
pub(super) const CLICKHOUSE: Levels = &[
    ("Information", "INFO"),
    ("Debug", "DEBUG"),
    ("Error", "ERROR"),
];
pub(super) const DOVECOT: Levels = &[("Info", "INFO"), ("Warning", "WARN"), ("Error", "ERROR")];
/// Of Samba's, which are numbers.
pub(super) const SAMBA: Levels = &[
    ("0", "ERROR"),
    ("1", "WARN"),
    ("2", "NOTICE"),
    ("3", "INFO"),
    ("10", "DEBUG"),
];
/// Of ESXi from version 7 on, with the priorities of syslog.
pub(super) const ESXI: Levels = &[
    ("In(166)", "INFO"),
    ("Wa(164)", "WARN"),
    ("Er(163)", "ERROR"),
    ("Db(167)", "DEBUG"),
];
/// Cut to four letters.
pub(super) const FOUR: Levels = &[
    ("INFO", "INFO"),
    ("WARN", "WARN"),
    ("ERRO", "ERROR"),
    ("DEBU", "DEBUG"),
];
pub(super) const CAPITAL: Levels = &[
    ("Info", "INFO"),
    ("Warning", "WARN"),
    ("Error", "ERROR"),
    ("Debug", "DEBUG"),
];
pub(super) const TOR: Levels = &[("notice", "NOTICE"), ("warn", "WARN"), ("err", "ERROR")];

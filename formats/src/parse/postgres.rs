//! Postgres' log in CSV, whose files have no line with names.
//! `https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-CSVLOG`
//!
//! Fields have the names on that page, except for `log_time`, which is `timestamp`, and `error_severity`, which is
//! `level`.

use super::tables::csv::Values;
use crate::failure::Failure;
use crate::json::{Members, Object};
use crate::layout::Hints;
use crate::log_line::time::{DateForm, Reading, TimeForm, read};
use crate::recognition::dialect::Dialect;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Time,
}

/// Versions append columns: 9.0 had 23, 13 has 24, 14 has 26.
const COLUMNS: [(&str, Kind); 26] = [
    ("timestamp", Kind::Time),
    ("user_name", Kind::Text),
    ("database_name", Kind::Text),
    ("process_id", Kind::Number),
    ("connection_from", Kind::Text),
    ("session_id", Kind::Text),
    ("session_line_num", Kind::Number),
    ("command_tag", Kind::Text),
    ("session_start_time", Kind::Time),
    ("virtual_transaction_id", Kind::Text),
    ("transaction_id", Kind::Number),
    ("level", Kind::Text),
    ("sql_state_code", Kind::Text),
    ("message", Kind::Text),
    ("detail", Kind::Text),
    ("hint", Kind::Text),
    ("internal_query", Kind::Text),
    ("internal_query_pos", Kind::Number),
    ("context", Kind::Text),
    ("query", Kind::Text),
    ("query_pos", Kind::Number),
    ("location", Kind::Text),
    ("application_name", Kind::Text),
    ("backend_type", Kind::Text),
    ("leader_pid", Kind::Number),
    ("query_id", Kind::Number),
];
const MIN_COLUMNS: usize = 22;
const LEVEL: usize = 11;
const SESSION_ID: usize = 5;
const LEVELS: [&str; 12] = [
    "DEBUG", "DEBUG1", "DEBUG2", "DEBUG3", "DEBUG4", "DEBUG5", "LOG", "INFO", "NOTICE", "WARNING",
    "ERROR", "FATAL",
];

/// Returns its dialect.
pub(crate) fn dialect() -> Dialect {
    Dialect::new(b',')
}

/// Returns whether a record belongs to such a log.
pub(crate) fn is_record(text: &str) -> bool {
    let values: Vec<_> = Values::new(text, dialect()).collect();
    let value = |place: usize| values.get(place).map_or("", |value| &value.text);
    let is_hex = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    let session = value(SESSION_ID).split_once('.');
    (MIN_COLUMNS..=COLUMNS.len()).contains(&values.len())
        && (LEVELS.contains(&value(LEVEL)) || value(LEVEL) == "PANIC")
        && session.is_some_and(|(start, pid)| is_hex(start) && is_hex(pid))
        && time_of(value(0), &Hints::default()).is_some()
}

pub(crate) fn parse(text: &str, hints: &Hints, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut values = Values::new(text, dialect());
    let mut object = Object::begin(out);
    let mut num_values = 0;
    for ((name, kind), value) in COLUMNS.iter().zip(values.by_ref()) {
        num_values += 1;
        match (kind, value.text.as_ref()) {
            (_, "") if !value.is_quoted => {}
            (Kind::Number, text) => object.number(name, text),
            (Kind::Time, text) => match time_of(text, hints) {
                Some(time) => object.string(name, &time),
                None => object.string(name, text),
            },
            (Kind::Text, text) => object.string(name, text),
        }
    }
    object.end();
    let num_more = values.by_ref().count();
    if values.is_unclosed {
        return Err(Failure {
            reason: "unclosed_quote",
            message: "a quote is opened and never closed; the record ends with its line".into(),
        });
    }
    match num_values {
        MIN_COLUMNS.. if num_more == 0 => Ok(()),
        _ => Err(Failure {
            reason: "wrong_number_of_values",
            message: format!(
                "the record has {} values; logs of Postgres have {MIN_COLUMNS} to {}",
                num_values + num_more,
                COLUMNS.len()
            ),
        }),
    }
}

/// Converts `2024-05-01 10:00:00.123 CEST` to RFC 3339.
fn time_of(text: &str, hints: &Hints) -> Option<String> {
    let form = TimeForm::Dated(DateForm::YearMonthDay(b'-'));
    let (Reading::Time(stamp), end) = read(form, text.as_bytes(), 0)? else {
        return None;
    };
    // A zone with an unknown name could be any.
    (end == text.len()).then_some(())?;
    let mut out = Vec::new();
    stamp.write(&hints.reference(), &mut out)?;
    String::from_utf8(out).ok()
}

//! Messages of the FIX protocol, one a line, with SOH or `|` between their pairs:
//! `https://www.fixtrading.org/standards/tagvalue-online/`.
//!
//! ```text
//! 8=FIX.4.4|9=148|35=D|34=1080|49=BUYER|52=20240501-10:00:07.123|56=SELLER|55=ACME|10=092|
//! ```
//!
//! The time of sending, in the pair 52, is always in UTC.

use crate::json::Members;
use crate::log_line::time::{DateForm, Reading, Stamp, TimeForm, read};

/// The pairs that have names as fields.
const FIELDS: [(&str, &str); 6] = [
    ("35", "msg_type"),
    ("34", "msg_seq_num"),
    ("49", "sender_comp_id"),
    ("56", "target_comp_id"),
    ("55", "symbol"),
    ("11", "cl_ord_id"),
];

fn pairs(record: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = record.split(['\u{1}', '|']);
    pairs.filter_map(|pair| pair.split_once('='))
}

pub(super) fn begins(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"8=FIX") else {
        return false;
    };
    let version = rest
        .iter()
        .take(8)
        .position(|byte| matches!(byte, 1 | b'|'));
    version.is_some_and(|end| {
        rest.get(end + 1..)
            .is_some_and(|rest| rest.starts_with(b"9="))
    })
}

pub(super) fn reading(record: &str) -> Option<Reading> {
    let (_, time) = pairs(record).find(|(tag, _)| *tag == "52")?;
    let (reading, end) = read(TimeForm::Dated(DateForm::Compact), time.as_bytes(), 0)?;
    match reading {
        Reading::Time(stamp) if end == time.len() => Some(Reading::Time(Stamp {
            zone: Some(0),
            ..stamp
        })),
        _ => None,
    }
}

/// Adds the fields and the message. Returns the text before the message, which is empty.
pub(super) fn add<'t>(record: &'t str, members: &mut dyn Members) -> Option<&'t str> {
    for (tag, field) in FIELDS {
        if let Some((_, value)) = pairs(record).find(|(own, _)| *own == tag) {
            match tag {
                "34" => members.number(field, value),
                _ => members.string(field, value),
            }
        }
    }
    members.string("message", record);
    Some("")
}

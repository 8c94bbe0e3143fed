//! What AWS Lambda says of an invocation, as a message:
//! `https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html`.
//!
//! ```text
//! START RequestId: 8f507cfc-… Version: $LATEST
//! REPORT RequestId: 8f507cfc-…  Duration: 12.34 ms  Billed Duration: 13 ms  Memory Size: 128 MB  Max Memory Used: 66 MB
//! ```

use crate::json::Members;

const VERBS: [&str; 3] = ["START ", "END ", "REPORT "];
const FIGURES: [(&str, &str, &str); 5] = [
    ("Duration: ", " ms", "duration_ms"),
    ("Billed Duration: ", " ms", "billed_duration_ms"),
    ("Memory Size: ", " MB", "memory_size_mb"),
    ("Max Memory Used: ", " MB", "max_memory_used_mb"),
    ("Init Duration: ", " ms", "init_duration_ms"),
];

/// Whether a message is one of an invocation's: no part of it is of the head.
pub(in crate::log_line) fn is_invocation(text: &[u8], place: usize) -> bool {
    let rest = text.get(place..).unwrap_or_default();
    let after = VERBS
        .iter()
        .find_map(|verb| rest.strip_prefix(verb.as_bytes()));
    after.is_some_and(|after| after.starts_with(b"RequestId: "))
}

/// Adds the request's id, and the figures of a report.
pub(in crate::log_line) fn add(message: &str, has_request: bool, members: &mut dyn Members) {
    let rest = VERBS.iter().find_map(|verb| message.strip_prefix(verb));
    let Some(rest) = rest.and_then(|rest| rest.strip_prefix("RequestId: ")) else {
        return;
    };
    let id = rest.split_ascii_whitespace().next().unwrap_or_default();
    if !has_request && !id.is_empty() {
        members.string("request_id", id);
    }
    if !message.starts_with("REPORT") {
        return;
    }
    for part in rest.split(['\t', '\n']).skip(1) {
        let figure = FIGURES.iter().find_map(|(name, unit, field)| {
            let value = part.trim().strip_prefix(name)?.strip_suffix(unit)?;
            Some((field, value))
        });
        if let Some((field, value)) = figure.filter(|(_, value)| crate::json::is_number(value)) {
            members.json(field, value);
        }
    }
}

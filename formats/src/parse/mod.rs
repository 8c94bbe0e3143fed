//! A record → a JSON object, one file for each format. Each takes text without a line ending, writes one
//! object, and reports text that does not match its format.

pub(crate) mod access_log;
pub(crate) mod alb;
pub(crate) mod any_value;
pub(crate) mod logfmt;
pub(crate) mod otlp;
pub(crate) mod postgres;
pub(crate) mod syslog;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod vpc_flow;
mod words;

use crate::json::{Members, Object};
use crate::layout::ValueKind;

/// Writes a line without a known format.
pub(crate) fn plain(text: &str, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.string("message", text);
    object.end();
}

/// Adds an untyped value, as the index maps its field. `is_quoted` distinguishes an empty string from
/// a missing value.
fn add_untyped(
    object: &mut Object<'_>,
    name: &str,
    value: &str,
    kind: Option<ValueKind>,
    is_quoted: bool,
) {
    match (kind, value) {
        (Some(ValueKind::Text) | None, "") if is_quoted => object.string(name, ""),
        (_, "") => {}
        (Some(ValueKind::Text | ValueKind::Word), _) => object.string(name, value),
        (Some(ValueKind::Bare), _) => object.bare(name, value),
        // A quoted value is meant to be text.
        (None, _) if is_quoted => object.string(name, value),
        (None, _) => object.bare(name, value),
    }
}

/// Returns a name that is convenient in queries: `cs(User-Agent)` → `cs_user_agent`.
fn plain_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            ')' => {}
            c if c.is_alphanumeric() => plain.extend(c.to_lowercase()),
            _ => plain.push('_'),
        }
    }
    plain
}

//! Bodies that are parsed as JSON at once: queries, mappings, templates. A value of two bytes takes dozens once it is
//! parsed, and an object of nine some five hundred, so values are counted first. Documents are parsed elsewhere.

use canter_formats::JsonNesting;
use canter_names::{JsonError, read_json};
use serde_json::Value;

use super::problem::Problem;

/// Maximum number of keys and values in a body. A mapping of ten thousand fields has three times as many.
const MAX_VALUES: usize = 1 << 16;

/// Returns an error if a body has more values than any query or mapping has.
pub(crate) fn check_values(body: &[u8]) -> Result<(), String> {
    let JsonNesting { num_values, .. } = JsonNesting::of(body);
    match num_values > MAX_VALUES {
        true => Err(format!(
            "the body has {num_values} keys and values, more than {MAX_VALUES}, which no query and no mapping has"
        )),
        false => Ok(()),
    }
}

/// Parses a body on a thread that may block; null if it is empty.
///
/// # Errors
/// If it is not JSON, has a duplicate key, or too many values.
pub(crate) fn json_of(body: &[u8]) -> Result<Value, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    let malformed = |reason| Problem::invalid("parse_exception", reason);
    tokio::task::block_in_place(|| {
        check_values(body).map_err(malformed)?;
        read_json(body).map_err(|error| {
            let reason = error.of("the body");
            match error {
                JsonError::Malformed(_) => malformed(reason),
                JsonError::DuplicateKey { .. } => Problem::invalid("parsing_exception", reason),
            }
        })
    })
}

//! Bodies that are read as JSON at once: queries, mappings, templates. A value of two bytes takes dozens once it is read, and an
//! object of nine some five hundred, so values are counted first. What becomes of documents is not here.

use canter_formats::JsonNesting;
use canter_names::{JsonError, read_json};
use serde_json::Value;

use super::problem::Problem;

/// Most keys and values of a body. A mapping of ten thousand fields has three times as many.
const MAX_VALUES: usize = 1 << 16;

/// An error if a body has more values than any query or mapping has.
pub(crate) fn check_values(body: &[u8]) -> Result<(), String> {
    let JsonNesting { num_values, .. } = JsonNesting::of(body);
    match num_values > MAX_VALUES {
        true => Err(format!(
            "the body has {num_values} keys and values, more than {MAX_VALUES}, which no query and no mapping has"
        )),
        false => Ok(()),
    }
}

/// Reads a body, beside the threads that answer requests; null if there is none.
///
/// # Errors
/// If it is no JSON, has a key twice, or is too much of it.
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

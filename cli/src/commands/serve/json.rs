//! Bodies that are read as JSON at once: queries, mappings, templates. A value of two bytes takes dozens once it is read, and an
//! object of nine some five hundred, so values are counted first.

use canter_formats::JsonNesting;
use serde_json::Value;

/// Most keys and values of a body. A mapping of ten thousand fields has three times as many.
const MAX_VALUES: usize = 1 << 16;

/// An error if a body has more values than any query or mapping has.
pub(super) fn check_values(body: &[u8]) -> Result<(), String> {
    let JsonNesting { num_values, .. } = JsonNesting::of(body);
    match num_values > MAX_VALUES {
        true => Err(format!(
            "the body has {num_values} keys and values, more than {MAX_VALUES}, which no query and no mapping has"
        )),
        false => Ok(()),
    }
}

/// Reads a body, beside the threads that answer requests.
///
/// # Errors
/// If it is no JSON, or too much of it.
pub(super) fn read_json(body: &[u8]) -> Result<Value, String> {
    tokio::task::block_in_place(|| {
        check_values(body)?;
        serde_json::from_slice(body).map_err(|error| format!("the body is no JSON: {error}"))
    })
}

//! Values that processors read.

use serde_json::Value;

use crate::document::{Document, Path, class_of};
use crate::error::Failure;

/// Returns the text of a field, or `None` if it is absent and may be.
///
/// # Errors
/// It is absent, or no text.
pub(super) fn text_at(
    document: &Document,
    path: &Path,
    ignores_missing: bool,
) -> Result<Option<String>, Failure> {
    let value = match document.get(path) {
        Err(_) if ignores_missing => return Ok(None),
        value => value?,
    };
    match value {
        Value::String(text) => Ok(Some(text)),
        Value::Null if ignores_missing => Ok(None),
        Value::Null => Err(Failure::illegal(format!(
            "field [{}] is null, cannot process it.",
            path.text
        ))),
        other => Err(Failure::illegal(format!(
            "field [{}] of type [{}] cannot be cast to [java.lang.String]",
            path.text,
            class_of(&other)
        ))),
    }
}

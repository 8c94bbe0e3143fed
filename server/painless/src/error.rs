//! Reasons why a script cannot be compiled or run, in Elasticsearch's form.

use serde_json::{Value, json};

/// Number of bytes that are shown around the place of an error.
const SHOWN_BYTES: usize = 25;

/// A reason why a script cannot be compiled or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    is_of_compiling: bool,
    kind: &'static str,
    reason: String,
    /// The place in the script, in bytes.
    at: usize,
}

impl ScriptError {
    pub(crate) fn compiling(at: usize, reason: impl Into<String>) -> Self {
        Self {
            is_of_compiling: true,
            ..Self::running("illegal_argument_exception", at, reason)
        }
    }

    pub(crate) fn running(kind: &'static str, at: usize, reason: impl Into<String>) -> Self {
        Self {
            is_of_compiling: false,
            kind,
            reason: reason.into(),
            at,
        }
    }

    /// Returns what is wrong, without the place.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the name of Elasticsearch's exception.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns "compile error" or "runtime error".
    #[must_use]
    pub fn phase(&self) -> &'static str {
        match self.is_of_compiling {
            true => "compile error",
            false => "runtime error",
        }
    }

    /// Returns the error as Elasticsearch's `script_exception`.
    #[must_use]
    pub fn to_json(&self, source: &str) -> Value {
        let at = source.floor_char_boundary(self.at.min(source.len()));
        let start = source.floor_char_boundary(at.saturating_sub(SHOWN_BYTES));
        let end = source.ceil_char_boundary((at + SHOWN_BYTES).min(source.len()));
        let (before, after) = (
            if start > 0 { "... " } else { "" },
            if end < source.len() { " ..." } else { "" },
        );
        let shown = source.get(start..end).unwrap_or_default();
        let num_before = source.get(start..at).unwrap_or_default().chars().count() + before.len();
        json!({
            "type": "script_exception",
            "reason": self.phase(),
            "script_stack": [format!("{before}{shown}{after}"), format!("{}^---- HERE", " ".repeat(num_before))],
            "script": source,
            "lang": "painless",
            "position": {"offset": at, "start": start, "end": end},
            "caused_by": {"type": self.kind, "reason": self.reason},
        })
    }
}

//! Reasons why a record did not become a JSON object.

use std::fmt;

/// Error of a record that does not match its format: a reason for counts, and a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Stable, in snake_case.
    pub reason: &'static str,
    /// Message that describes the problem, its place, and the expected text.
    pub message: String,
}

impl Failure {
    /// Returns the error of a record that does not match its format.
    pub(crate) fn format(message: impl Into<String>) -> Failure {
        Failure {
            reason: "wrong_format",
            message: message.into(),
        }
    }

    pub(crate) fn utf8(error: std::str::Utf8Error) -> Failure {
        Failure {
            reason: "invalid_utf8",
            message: format!(
                "the record is not UTF-8 from byte {} on",
                error.valid_up_to()
            ),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Receives the results of a record: JSON objects, or an error.
pub type Sink<'s> = dyn FnMut(Result<&[u8], Failure>) + 's;

//! Errors in documents: a reason to count by, and a message for the user.

use std::fmt;

use crate::field_path::escape_segment;

/// Reason as a stable word, by which builds count their rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocErrorReason {
    /// The line is not JSON.
    NotJson,
    /// The line is JSON, but no object.
    NotAnObject,
    /// The line is not UTF-8.
    InvalidUtf8,
    /// A value does not have the type of its field.
    WrongType,
    /// A field is not mapped, and the mode is strict.
    UnknownField,
    /// The timestamp field is absent or null.
    MissingTimestamp,
    /// The timestamp field matches none of its input formats.
    BadTimestamp,
    /// Another datetime field matches none of its input formats.
    BadDatetime,
    /// A number or a date is out of range for its type.
    OutOfRange,
    /// Objects and arrays nest deeper than allowed.
    TooDeep,
    /// A key appears twice in one object.
    DuplicateKey,
    /// A key at the root has a name that the index uses itself.
    ReservedName,
    /// The line exceeds the maximum size of a document.
    TooLarge,
    /// The terms of the document would exceed a limit.
    TooManyTerms,
}

impl DocErrorReason {
    /// Returns the word, such as `not_json` or `wrong_type`.
    pub fn as_str(self) -> &'static str {
        match self {
            DocErrorReason::NotJson => "not_json",
            DocErrorReason::NotAnObject => "not_an_object",
            DocErrorReason::InvalidUtf8 => "invalid_utf8",
            DocErrorReason::WrongType => "wrong_type",
            DocErrorReason::UnknownField => "unknown_field",
            DocErrorReason::MissingTimestamp => "missing_timestamp",
            DocErrorReason::BadTimestamp => "bad_timestamp",
            DocErrorReason::BadDatetime => "bad_datetime",
            DocErrorReason::OutOfRange => "out_of_range",
            DocErrorReason::TooDeep => "too_deep",
            DocErrorReason::DuplicateKey => "duplicate_key",
            DocErrorReason::ReservedName => "reserved_name",
            DocErrorReason::TooLarge => "too_large",
            DocErrorReason::TooManyTerms => "too_many_terms",
        }
    }
}

impl fmt::Display for DocErrorReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error for a refused document, no part of which is indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocError {
    reason: DocErrorReason,
    field: String,
    message: String,
}

impl DocError {
    /// Creates an error. `field` is the path at fault, or empty for the whole line.
    pub(crate) fn new(
        reason: DocErrorReason,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> DocError {
        DocError {
            reason,
            field: field.into(),
            message: message.into(),
        }
    }

    pub(crate) fn duplicate_key(path: String) -> DocError {
        let message = "the key appears twice in one object";
        DocError::new(DocErrorReason::DuplicateKey, path, message)
    }

    #[cold]
    pub(crate) fn reserved_name(key: &str) -> DocError {
        let message = "the index has a field of its own by this name, so that no query would find the value: give the \
                       key another name, as a transform can";
        DocError::new(DocErrorReason::ReservedName, escape_segment(key), message)
    }

    /// Returns the reason to count by.
    pub fn reason(&self) -> DocErrorReason {
        self.reason
    }

    /// Returns the path of the field at fault; empty for the whole line.
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for DocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message),
            field => write!(f, "field {field:?}: {}", self.message),
        }
    }
}

impl std::error::Error for DocError {}

/// Shortens a value for an error message to 40 characters.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

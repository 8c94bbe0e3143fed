//! Problems that make a single record unreadable, such as values nested too deeply or too widely.
//! The record is rejected, and all others are kept.
//!
//! Readers of JSON and protobuf fail at one value nested beyond their limit, and take hundreds of
//! bytes for a value of two bytes. Each record, resource and scope is therefore scanned before it
//! is decoded.

use canter_formats::JsonNesting;

/// Maximum depth that the JSON reader supports.
const MAX_DEPTH: usize = 127;
/// Levels around a resource: the request, `resourceLogs` and its element.
pub(super) const AROUND_RESOURCE: usize = 3;
/// Levels around a scope: also `scopeLogs` and its element.
pub(super) const AROUND_SCOPE: usize = 5;
/// Levels around a record: also `logRecords`.
pub(super) const AROUND_RECORD: usize = 6;

/// Maximum number of keys and values of one record, resource or scope. Decoded, they take less than
/// 100 MB.
pub(super) const MAX_VALUES: usize = 100_000;

/// Reason for which a record is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The record is nested beyond the readers' limit.
    TooDeep,
    /// Decoding the record would take too much memory.
    TooManyValues,
    /// The record contains text that is not UTF-8.
    NotUtf8,
}

impl Problem {
    /// Returns the message for a rejected record.
    pub(super) fn message(self) -> String {
        match self {
            Self::TooDeep => "the log record, or its resource or scope, is nested too deep: some 25 maps inside one another \
                              are taken, so flatten its attributes or body"
                .to_owned(),
            Self::TooManyValues => format!(
                "the log record, or its resource or scope, has too many attributes: {MAX_VALUES} keys and values are \
                 taken, so send it in parts"
            ),
            Self::NotUtf8 => "the log record, or its resource or scope, has a text that is not UTF-8: send it as bytes, or \
                              without what is not"
                .to_owned(),
        }
    }
}

/// Checks whether JSON can be decoded inside `num_around` enclosing arrays and objects.
pub(super) fn check(json: &[u8], num_around: usize) -> Result<(), Problem> {
    let nesting = JsonNesting::of(json);
    if nesting.depth > MAX_DEPTH - num_around {
        return Err(Problem::TooDeep);
    }
    match nesting.num_values > MAX_VALUES {
        true => Err(Problem::TooManyValues),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_of_json_goes_as_deep_as_is_said() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let read = |depth: usize| serde_json::from_str::<serde_json::Value>(&nested(depth));
        assert!(read(MAX_DEPTH).is_ok());
        assert!(read(MAX_DEPTH + 1).is_err());
    }
}

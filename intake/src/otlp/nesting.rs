//! What keeps a record from being read, first of all values that are nested too deep or too widely: it is rejected, and all others
//! are kept.
//!
//! Readers of JSON and of protobuf give up at one value that is nested deeper than they go, and take hundreds of bytes for one
//! of two bytes. So each record, resource and scope is looked through before it is read.

use canter_formats::JsonNesting;

/// How deep the reader of JSON goes.
const MAX_DEPTH: usize = 127;
/// Arrays and objects around a resource: the request, `resourceLogs` and its element.
pub(super) const AROUND_RESOURCE: usize = 3;
/// Around a scope: `scopeLogs` and its element, too.
pub(super) const AROUND_SCOPE: usize = 5;
/// Around a record: `logRecords`, too.
pub(super) const AROUND_RECORD: usize = 6;

/// Most keys and values of one record, resource or scope. Read, they take less than 100 MB.
pub(super) const MAX_VALUES: usize = 100_000;

/// Why a record is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It is nested deeper than readers go.
    TooDeep,
    /// It would take too much memory.
    TooManyValues,
    /// It has a text that is none.
    NotUtf8,
}

impl Problem {
    /// What is said of each record that is left out.
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

/// Whether JSON can be read that has so many arrays and objects around it.
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

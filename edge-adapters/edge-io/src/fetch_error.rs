//! Errors of reads. The texts equal those of the runtime, so that an answer does not depend on its
//! host.

use std::fmt;

use canter_protocol::FetchErrorKind;
use canter_stores::{AskedRange, Misbehaviour, StoreFault};

/// Error of a range that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError {
    /// Kind of the error.
    pub kind: FetchErrorKind,
    /// Description of the error, with object, range and name of the fault.
    pub message: String,
    /// Whether the same read may succeed a moment later.
    pub is_transient: bool,
}

impl FetchError {
    /// Creates an error about `object`; `range` is `None` for the whole object.
    pub fn new(
        kind: FetchErrorKind,
        object: &str,
        range: Option<AskedRange>,
        what: impl fmt::Display,
    ) -> Self {
        Self {
            kind,
            message: format!("{object}, bytes {}: {what}", bounds_of(range)),
            is_transient: kind == FetchErrorKind::Unavailable,
        }
    }

    /// Creates an error about a misbehaving store. Only an incomplete body is worth another
    /// attempt.
    pub fn misbehaved(object: &str, range: Option<AskedRange>, what: &Misbehaviour) -> Self {
        let kind = match what.fault {
            StoreFault::ShortBody | StoreFault::PastTheEnd => FetchErrorKind::Truncated,
            _ => FetchErrorKind::Protocol,
        };
        Self {
            is_transient: what.fault == StoreFault::ShortBody,
            ..Self::new(kind, object, range, what)
        }
    }
}

/// Formats a range as `100-199`, or as `100-` without an end.
pub(crate) fn bounds_of(range: Option<AskedRange>) -> String {
    match range {
        None => "0-".to_owned(),
        Some(AskedRange { first, len: None }) => format!("{first}-"),
        Some(AskedRange {
            first,
            len: Some(len),
        }) => format!("{first}-{}", first.saturating_add(len).saturating_sub(1)),
    }
}

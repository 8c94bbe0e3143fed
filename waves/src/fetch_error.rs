//! Failed fetches. The texts are the same on every host.

use std::fmt;

use canter_protocol::FetchErrorKind;
use canter_stores::{AskedRange, Misbehaviour, StoreFault};

/// Error of a range that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError {
    /// Kind of the error.
    pub kind: FetchErrorKind,
    /// Description of the error, with the object, the range, and the name of the fault.
    pub message: String,
    /// True if the same read may succeed a moment later.
    pub is_transient: bool,
}

impl FetchError {
    /// Returns a failure of `object`; `range` is `None` for the whole object.
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

    /// Returns the error of a store that misbehaved. Only an incomplete body is worth another attempt.
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

/// Formats a range: `100-199`, or `100-` for everything from there.
pub fn bounds_of(range: Option<AskedRange>) -> String {
    match range {
        None => "0-".to_owned(),
        Some(AskedRange { first, len: None }) => format!("{first}-"),
        Some(AskedRange {
            first,
            len: Some(len),
        }) => format!("{first}-{}", first.saturating_add(len).saturating_sub(1)),
    }
}

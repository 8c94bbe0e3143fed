//! Named faults of stores and web servers.

use std::error::Error;
use std::fmt;

use thiserror::Error;

/// Error: a whole object of unknown length is too long.
#[derive(Debug, Error)]
#[error("the object is longer than the {max_bytes} bytes a whole read may have")]
pub struct ObjectTooLong {
    /// Maximum length in bytes.
    pub max_bytes: u64,
}

/// Error: the store does not implement the request (status 501), such as a conditional write.
/// Retrying is useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the store does not implement this (status 501)")]
pub struct NotImplemented;

impl NotImplemented {
    /// Returns whether this error is among the causes of `error`.
    pub fn is_behind(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<NotImplemented>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// Behaviour of a store that would make an answer wrong, or a read far larger than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreFault {
    /// A range was asked for and the whole object came (status 200).
    RangeIgnored,
    /// An immutable object was replaced while it was read.
    EtagChanged,
    /// The body ended before the range was complete.
    ShortBody,
    /// The body is longer than its head said.
    LongBody,
    /// `Content-Range` is missing, unreadable, or names another range.
    WrongContentRange,
    /// The body is compressed.
    ContentEncoded,
    /// The answer redirects to another host.
    RedirectedToOtherHost,
    /// The answer redirects too often.
    TooManyRedirects,
    /// The object ends before the range.
    PastTheEnd,
}

impl StoreFault {
    /// All faults.
    pub const ALL: [StoreFault; 9] = [
        Self::RangeIgnored,
        Self::EtagChanged,
        Self::ShortBody,
        Self::LongBody,
        Self::WrongContentRange,
        Self::ContentEncoded,
        Self::RedirectedToOtherHost,
        Self::TooManyRedirects,
        Self::PastTheEnd,
    ];

    /// Returns the stable name used in messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::RangeIgnored => "range_ignored",
            Self::EtagChanged => "etag_changed",
            Self::ShortBody => "short_body",
            Self::LongBody => "long_body",
            Self::WrongContentRange => "wrong_content_range",
            Self::ContentEncoded => "content_encoded",
            Self::RedirectedToOtherHost => "redirected_to_other_host",
            Self::TooManyRedirects => "too_many_redirects",
            Self::PastTheEnd => "past_the_end",
        }
    }

    /// Returns advice for the operator of the store.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::RangeIgnored => {
                "serve the index from something that supports range requests, and turn off what \
                 rewrites or compresses answers on the way"
            }
            Self::EtagChanged => {
                "search again; if it stays, several servers with different copies answer under one \
                 name, or something overwrites published splits"
            }
            Self::ShortBody => {
                "try again; if it stays, look for a proxy that cuts answers or a limit on their time"
            }
            Self::LongBody | Self::WrongContentRange => {
                "look for a proxy or cache that mixes up ranges, and let it pass Range through"
            }
            Self::ContentEncoded => {
                "turn off compression for the index's files, and store them without Content-Encoding"
            }
            Self::RedirectedToOtherHost => {
                "use the address it points to, if you trust it (for S3: the region or endpoint of the \
                 bucket)"
            }
            Self::TooManyRedirects => "use the address at which the objects are",
            Self::PastTheEnd => {
                "the object was cut short: upload it again, or ingest again and replace it"
            }
        }
    }
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Fault as it occurred.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{fault}: {seen}; {}", fault.remedy())]
pub struct Misbehaviour {
    /// Kind of the fault.
    pub fault: StoreFault,
    /// Description of what the store did.
    pub seen: String,
}

impl Misbehaviour {
    /// Creates a fault with a description of what the store did.
    pub fn new(fault: StoreFault, seen: impl Into<String>) -> Self {
        let seen = seen.into();
        Self { fault, seen }
    }

    /// Returns the fault in the chain of causes of an error.
    pub fn behind<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Misbehaviour> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<Misbehaviour>() {
                return Some(found);
            }
            cause = error.source();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use object_store::client::{HttpError, HttpErrorKind};

    use super::*;

    #[test]
    fn names_are_unique_and_in_snake_case() {
        let names: BTreeSet<&str> = StoreFault::ALL.iter().map(|fault| fault.name()).collect();
        assert_eq!(names.len(), StoreFault::ALL.len());
        for name in names {
            assert!(
                name.bytes()
                    .all(|byte| byte == b'_' || byte.is_ascii_lowercase())
            );
        }
    }

    #[test]
    fn a_fault_is_found_behind_other_errors() {
        let fault = Misbehaviour::new(StoreFault::RangeIgnored, "status 200");
        let text = fault.to_string();
        assert!(
            text.starts_with("range_ignored: status 200; serve the index"),
            "{text}"
        );
        let wrapped = HttpError::new(HttpErrorKind::Decode, fault.clone());
        let wrapped = object_store::Error::Generic {
            store: "S3",
            source: Box::new(wrapped),
        };
        assert_eq!(Misbehaviour::behind(&wrapped), Some(&fault));
        assert_eq!(Misbehaviour::behind(&std::io::Error::other("else")), None);
    }
}

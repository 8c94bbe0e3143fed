//! Interface of sources of bytes, with their answers and errors.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use canter_protocol::FetchErrorKind;
use canter_stores::{Misbehaviour, StoreFault};
use futures_util::future::{BoxFuture, FutureExt};
use thiserror::Error;

/// Default maximum length of a read to the end of an object, whose length is not known in advance:
/// 64 MiB.
pub const MAX_WHOLE_OBJECT_BYTES: u64 = 64 << 20;

/// Range of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRange {
    /// First byte, from the start of the object.
    pub offset: u64,
    /// Number of bytes; `None` reads to the end of the object.
    pub len: Option<u64>,
}

impl ByteRange {
    /// Returns the `len` bytes from `offset`.
    pub fn new(offset: u64, len: u64) -> Self {
        Self {
            offset,
            len: Some(len),
        }
    }

    /// Returns the range from `offset` to the end of the object.
    pub fn from(offset: u64) -> Self {
        Self { offset, len: None }
    }
}

/// Formats the range as `bytes 100-199` or `bytes 100-`, like an HTTP `Range` header.
impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len {
            Some(len) => {
                let last = self.offset.saturating_add(len).saturating_sub(1);
                write!(f, "bytes {}-{last}", self.offset)
            }
            None => write!(f, "bytes {}-", self.offset),
        }
    }
}

/// Answer of a fetcher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchedRange {
    /// Exactly the bytes of the range; empty if the object is unchanged.
    pub bytes: Bytes,
    /// True if the object still has the caller's version, see [`RangeFetcher::fetch_if_changed`].
    pub is_unchanged: bool,
    /// Version of the object, if the store reports it.
    pub etag: Option<String>,
    /// Length of the whole object in bytes, if the store reports it. Only a hint.
    pub object_len: Option<u64>,
    /// Number of retries after failures.
    pub num_retries: u32,
    /// Second request that was sent because the first one was slow, if there was one.
    pub hedge: Option<Hedged>,
}

/// Second request for the same range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedged {
    /// Time at which it was sent, on the clock of the searcher.
    pub at: Duration,
    /// True if its answer arrived first.
    pub has_won: bool,
}

impl FetchedRange {
    /// Creates an answer without a version.
    pub fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// Returns the answer that the caller's version is still current.
    pub fn unchanged() -> Self {
        Self {
            is_unchanged: true,
            ..Self::default()
        }
    }
}

/// Error of a range that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct FetchError {
    /// Kind of the error.
    pub kind: FetchErrorKind,
    /// Description of the error, with object, range and name of the fault.
    pub message: String,
    /// Fault of the store, if it misbehaved.
    pub fault: Option<StoreFault>,
    /// True if the same read may succeed a moment later.
    pub is_transient: bool,
    /// Number of retries before the read failed.
    pub num_retries: u32,
    /// Second request that was sent because the first one was slow, if there was one.
    pub hedge: Option<Hedged>,
    /// True if the budget refused the last attempt, which was not sent.
    pub(crate) is_refused: bool,
}

impl FetchError {
    /// Returns the failure of a request that the budget does not allow.
    pub(crate) fn refused(object: &str, range: ByteRange, what: impl fmt::Display) -> Self {
        Self {
            is_refused: true,
            ..Self::new(FetchErrorKind::Budget, object, range, what)
        }
    }

    /// Creates an error about `range` of `object`. It counts as transient if its kind is
    /// [`FetchErrorKind::Unavailable`].
    pub fn new(
        kind: FetchErrorKind,
        object: &str,
        range: ByteRange,
        what: impl fmt::Display,
    ) -> Self {
        Self {
            kind,
            message: format!("{object}, {range}: {what}"),
            fault: None,
            is_transient: kind == FetchErrorKind::Unavailable,
            num_retries: 0,
            hedge: None,
            is_refused: false,
        }
    }

    /// Marks the error as transient.
    pub fn transient(mut self) -> Self {
        self.is_transient = true;
        self
    }

    /// Creates an error about a misbehaving store. The message contains the name of the fault and
    /// the change that fixes it. Only an incomplete body is worth another attempt.
    pub fn misbehaved(object: &str, range: ByteRange, what: &Misbehaviour) -> Self {
        let kind = match what.fault {
            StoreFault::ShortBody | StoreFault::PastTheEnd => FetchErrorKind::Truncated,
            _ => FetchErrorKind::Protocol,
        };
        Self {
            fault: Some(what.fault),
            is_transient: what.fault == StoreFault::ShortBody,
            ..Self::new(kind, object, range, what)
        }
    }

    /// Creates the error that the object ended before the range was complete.
    pub fn short(object: &str, range: ByteRange, num_bytes: u64) -> Self {
        let wanted = range.len.map_or("more".to_owned(), |len| len.to_string());
        let seen = format!("only {num_bytes} of {wanted} bytes came");
        let what = Misbehaviour::new(StoreFault::PastTheEnd, seen);
        Self::misbehaved(object, range, &what)
    }

    /// Creates the error that the object is too long for a read to its end.
    pub fn too_large(object: &str, range: ByteRange, max_bytes: u64) -> Self {
        let what = format!("the object is longer than the {max_bytes} bytes a whole read may have");
        Self::new(FetchErrorKind::Budget, object, range, what)
    }
}

impl From<&FetchError> for canter_waves::FetchError {
    fn from(error: &FetchError) -> Self {
        Self {
            kind: error.kind,
            message: error.message.clone(),
            is_transient: error.is_transient,
        }
    }
}

/// Reads byte ranges of objects.
///
/// An implementation returns **exactly** the requested range or an error, never requests an
/// object's length in advance, and limits reads to the end of an object (see
/// [`MAX_WHOLE_OBJECT_BYTES`]). Dropping the future cancels the read.
pub trait RangeFetcher: Send + Sync {
    /// Fetches `range` of `object`, whose name is relative to the location that the fetcher was
    /// opened on.
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>>;

    /// Fetches `range` of `object` unless its version is still `etag`. In this case, the answer has
    /// `is_unchanged`, and no byte of the object was transferred (`If-None-Match`). Meant for the
    /// manifest, the only mutable object.
    ///
    /// A store without support for conditions fetches the range and compares versions.
    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            let fetched = self.fetch(object, range).await?;
            Ok(match fetched.etag.as_deref() == Some(etag) {
                true => FetchedRange::unchanged(),
                false => fetched,
            })
        }
        .boxed()
    }
}

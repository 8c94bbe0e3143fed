//! The trait every source of bytes implements, and what it answers with.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use canter_protocol::FetchErrorKind;
use canter_stores::{Misbehaviour, StoreFault};
use futures_util::future::{BoxFuture, FutureExt};
use thiserror::Error;

/// Default cap on a read to the end of an object (its length is not known beforehand): 64 MiB.
pub const MAX_WHOLE_OBJECT_BYTES: u64 = 64 << 20;

/// A range of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRange {
    /// First byte, from the start of the object.
    pub offset: u64,
    /// Number of bytes; `None` reads to the end of the object.
    pub len: Option<u64>,
}

impl ByteRange {
    /// The `len` bytes from `offset`.
    pub fn new(offset: u64, len: u64) -> Self {
        Self {
            offset,
            len: Some(len),
        }
    }

    /// Everything from `offset` to the end of the object.
    pub fn from(offset: u64) -> Self {
        Self { offset, len: None }
    }
}

/// `bytes 100-199` or `bytes 100-`, as in an HTTP `Range` header.
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

/// What a fetcher answers with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchedRange {
    /// Exactly the bytes of the range; none if nothing has changed.
    pub bytes: Bytes,
    /// Whether the object still is what the caller knows, as [`RangeFetcher::fetch_if_changed`] asks.
    pub is_unchanged: bool,
    /// The version of the object they were read from, where the store tells.
    pub etag: Option<String>,
    /// Length of the whole object in bytes, where the store tells. Nothing may depend on it.
    pub object_len: Option<u64>,
    /// How often the read was repeated after a failure.
    pub num_retries: u32,
    /// The second request that was sent beside a slow first, if there was one.
    pub hedge: Option<Hedged>,
}

/// A second request for the same range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedged {
    /// When it was sent, on the clock of the searcher.
    pub at: Duration,
    /// Whether its answer came first.
    pub has_won: bool,
}

impl FetchedRange {
    /// An answer without a version.
    pub fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// The answer that the version the caller knows still holds.
    pub fn unchanged() -> Self {
        Self {
            is_unchanged: true,
            ..Self::default()
        }
    }
}

/// A range that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct FetchError {
    /// Why.
    pub kind: FetchErrorKind,
    /// What happened, with the object and the range in it, and the name of the fault.
    pub message: String,
    /// What the store did wrong, if it did.
    pub fault: Option<StoreFault>,
    /// Whether the same read may succeed a moment later.
    pub is_transient: bool,
    /// How often the read was repeated before it was given up.
    pub num_retries: u32,
    /// The second request that was sent beside a slow first, if there was one.
    pub hedge: Option<Hedged>,
}

impl FetchError {
    /// A failure of `object` in `range`. It counts as transient when the kind is
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
        }
    }

    /// The same failure, worth another try.
    pub fn transient(mut self) -> Self {
        self.is_transient = true;
        self
    }

    /// The store misbehaved: its name and what to change are in the message. Only a body that broke off
    /// is worth another try.
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

    /// The object ended before the range was complete.
    pub fn short(object: &str, range: ByteRange, num_bytes: u64) -> Self {
        let wanted = range.len.map_or("more".to_owned(), |len| len.to_string());
        let seen = format!("only {num_bytes} of {wanted} bytes came");
        let what = Misbehaviour::new(StoreFault::PastTheEnd, seen);
        Self::misbehaved(object, range, &what)
    }

    /// The object is longer than a read to its end may be.
    pub fn too_large(object: &str, range: ByteRange, max_bytes: u64) -> Self {
        let what = format!("the object is longer than the {max_bytes} bytes a whole read may have");
        Self::new(FetchErrorKind::Budget, object, range, what)
    }
}

/// Reads byte ranges of objects.
///
/// An implementation returns **exactly** the range asked for or an error, never asks for an object's
/// size beforehand, and caps reads to the end of an object (see [`MAX_WHOLE_OBJECT_BYTES`]).
/// Cancelling is dropping the future.
pub trait RangeFetcher: Send + Sync {
    /// Fetches `range` of `object`, whose name is relative to what the fetcher was opened on.
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>>;

    /// Fetches `range` of `object` unless its version is still `etag`: then the answer `is_unchanged`,
    /// and no byte of the object was transferred (`If-None-Match`). For the one mutable object, the
    /// manifest.
    ///
    /// A store that cannot ask so fetches the range and compares.
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

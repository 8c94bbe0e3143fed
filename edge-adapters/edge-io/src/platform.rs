//! What an adapter brings: a clock, and requests that are under way side by side.

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use bytes::Bytes;
use canter_stores::{AskedRange, Misbehaviour};
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HeaderName, HeaderValue, IF_NONE_MATCH, RANGE, USER_AGENT,
};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::FetchError;
use crate::fetch_error::bounds_of;

/// One GET to a store.
#[derive(Clone, Debug)]
pub struct Call {
    /// Names it among those under way.
    pub id: u64,
    /// Where the object is.
    pub url: Url,
    /// Name of the object, for messages.
    pub object: String,
    /// The range; `None` for the whole object, which needs no range.
    pub range: Option<AskedRange>,
    /// The version that need not be sent again.
    pub known_etag: Option<String>,
    /// Longest body of a whole object.
    pub max_bytes: u64,
}

impl Call {
    /// What to send with it.
    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let agent = concat!("canter/", env!("CARGO_PKG_VERSION"));
        let mut headers = vec![
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
            (USER_AGENT, HeaderValue::from_static(agent)),
        ];
        let range = self
            .range
            .map(|range| format!("bytes={}", bounds_of(Some(range))));
        let optional = [
            (RANGE, range),
            (IF_NONE_MATCH, self.known_etag.clone()),
            (AUTHORIZATION, self.authorization()),
        ];
        for (name, value) in optional {
            // A version that is no header, from a damaged cache perhaps, is not asked for.
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&value)) {
                headers.push((name, value));
            }
        }
        headers
    }

    /// User and password of the URL, if it has them.
    fn authorization(&self) -> Option<String> {
        let (user, password) = (self.url.username(), self.url.password());
        if user.is_empty() && password.is_none() {
            return None;
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pair = format!("{}:{}", decoded(user), decoded(password.unwrap_or("")));
        Some(format!("Basic {}", STANDARD.encode(pair)))
    }
}

/// A call that is over.
#[derive(Debug)]
pub struct Landed {
    /// The call's.
    pub id: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exactly the bytes asked for.
    Bytes {
        /// The bytes.
        bytes: Bytes,
        /// The version of the object, where the store tells.
        etag: Option<String>,
        /// Length of the whole object, where the store tells. Only a hint.
        object_len: Option<u64>,
    },
    /// The object still has the version that is known.
    Unchanged,
    /// It is elsewhere on the same host.
    Moved {
        /// Where.
        to: Box<Url>,
        /// What it is if it was moved too often.
        fault: Misbehaviour,
    },
    /// It could not be had.
    Failed(FetchError),
}

/// Where a host runs.
pub trait Platform {
    /// A call under way. Dropping it gives it up.
    type Flight;

    /// Microseconds on a clock that only goes forward.
    fn now_us(&self) -> u64;

    /// Milliseconds since 1970.
    fn unix_ms(&self) -> u64;

    /// Milliseconds of the processor that the request has taken so far, where the platform tells.
    fn cpu_ms(&self) -> Option<u64> {
        None
    }

    /// Whether [`Platform::wait`] can wait for a moment. Where it cannot, requests are repeated at once.
    fn can_pause(&self) -> bool;

    /// Sends a call and does not wait for it. An answer is taken in by a [`crate::Reception`], which checks it.
    ///
    /// # Errors
    /// A call that cannot be sent is over.
    fn send(&mut self, call: Call) -> Result<Self::Flight, Landed>;

    /// Waits until one of `flights` is over, takes it out and tells what came of it; `None` once it is
    /// `until_us`, if that is sooner. Without flights it waits until then.
    fn wait(&mut self, flights: &mut Vec<Self::Flight>, until_us: Option<u64>) -> Option<Landed>;
}

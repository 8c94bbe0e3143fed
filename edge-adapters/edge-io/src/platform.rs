//! Interface that an adapter implements: a clock, and concurrent requests.

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use bytes::Bytes;
use canter_stores::{AskedRange, Misbehaviour};
use canter_waves::bounds_of;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HeaderName, HeaderValue, IF_NONE_MATCH, RANGE, USER_AGENT,
};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::FetchError;

/// GET request to a store.
#[derive(Clone, Debug)]
pub struct Call {
    /// Id among the running calls.
    pub id: u64,
    /// URL of the object.
    pub url: Url,
    /// Name of the object for messages.
    pub object: String,
    /// Requested range; `None` for the whole object.
    pub range: Option<AskedRange>,
    /// Known version, which need not be sent again.
    pub known_etag: Option<String>,
    /// Maximum length of the body of a whole object.
    pub max_bytes: u64,
}

impl Call {
    /// Returns the headers of the request.
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
            // A version that is not valid in a header, such as one from a damaged cache, is
            // omitted.
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&value)) {
                headers.push((name, value));
            }
        }
        headers
    }

    /// Returns the authorization for user and password of the URL, if it has them.
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

/// Finished call.
#[derive(Debug)]
pub struct Landed {
    /// Id of the call.
    pub id: u64,
    /// Result of the call.
    pub outcome: Outcome,
}

/// Result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exactly the requested bytes.
    Bytes {
        /// Content.
        bytes: Bytes,
        /// Version of the object, if the store reports it.
        etag: Option<String>,
        /// Length of the whole object, if the store reports it. Only a hint.
        object_len: Option<u64>,
    },
    /// The known version of the object is still current.
    Unchanged,
    /// The object is at another location on the same host.
    Moved {
        /// New location.
        to: Box<Url>,
        /// Fault to report after too many redirects.
        fault: Misbehaviour,
    },
    /// The request failed.
    Failed(FetchError),
}

/// Environment of a host.
pub trait Platform {
    /// Running call. Dropping it cancels it.
    type Flight;

    /// Returns the microseconds of a monotonic clock.
    fn now_us(&self) -> u64;

    /// Returns the milliseconds since 1970.
    fn unix_ms(&self) -> u64;

    /// Returns the processor time of the request so far in milliseconds, if the platform measures
    /// it.
    fn cpu_ms(&self) -> Option<u64> {
        None
    }

    /// Returns whether [`Platform::wait`] can wait until a given time. Otherwise, retries are sent
    /// immediately.
    fn can_pause(&self) -> bool;

    /// Sends a call without waiting for it. A [`crate::Reception`] receives and checks the answer.
    ///
    /// # Errors
    /// A call that cannot be sent is finished.
    fn send(&mut self, call: Call) -> Result<Self::Flight, Landed>;

    /// Waits until one of `flights` has finished, removes it and returns its result. Returns `None`
    /// at `until_us`, if that is earlier. Without flights, waits until then.
    fn wait(&mut self, flights: &mut Vec<Self::Flight>, until_us: Option<u64>) -> Option<Landed>;
}

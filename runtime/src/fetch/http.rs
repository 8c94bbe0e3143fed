//! Objects of any web server that supports `Range`.
//!
//! Rules: no HEAD requests; `Accept-Encoding: identity`, and compressed answers are errors; a range
//! must be answered with 206 and a matching `Content-Range`, never with a whole object; the body is
//! counted, so nothing depends on `Content-Length`; only redirects to the same host are followed.
//! [`canter_stores`] implements these rules, which also apply to buckets.

use bytes::Bytes;
use canter_stores::{
    Answer, AskedRange, Buffer, Misbehaviour, StoreFault, check_answer, check_object_name,
    http_client, past_the_end, redirect_of, same_host_only,
};
use futures_util::future::{BoxFuture, FutureExt};
use reqwest::header::{ACCEPT_ENCODING, ETAG, HeaderValue, IF_NONE_MATCH, RANGE};
use reqwest::{Response, StatusCode};
use url::Url;

use super::object_store::with_causes;
use super::{ByteRange, FetchError, FetchErrorKind, FetchedRange, HttpOptions, RangeFetcher};
use crate::SearchError;

/// Reads objects below a base URL.
pub struct HttpFetcher {
    client: reqwest::Client,
    base: Url,
    options: HttpOptions,
}

impl HttpFetcher {
    /// Creates a fetcher of the objects below `base`, whose path is used as a folder. Its query
    /// string, such as a signature, is sent with every request.
    pub fn new(base: Url, options: HttpOptions) -> Result<Self, SearchError> {
        let client = http_client()
            .user_agent(concat!("canter/", env!("CARGO_PKG_VERSION")))
            .redirect(same_host_only())
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout)
            .build()
            .map_err(|error| {
                let causes = with_causes(&error);
                SearchError::internal(format!("the HTTP client cannot start: {causes}"))
            })?;
        Ok(Self {
            client,
            base,
            options,
        })
    }

    fn url_of(&self, object: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(object.split('/'));
        }
        url
    }

    /// Requests a range; `known` is a version that need not be sent again.
    async fn read(
        &self,
        object: &str,
        range: ByteRange,
        known: Option<&str>,
    ) -> Result<FetchedRange, FetchError> {
        check_object_name(object)
            .map_err(|what| FetchError::new(FetchErrorKind::Denied, object, range, what))?;
        if range.len == Some(0) {
            return Ok(FetchedRange::default());
        }
        let url = self.url_of(object);
        let response = self.send(object, range, &url, known).await?;
        let (status, headers) = (response.status(), response.headers());
        if status == StatusCode::NOT_MODIFIED && known.is_some() {
            return Ok(FetchedRange::unchanged());
        }
        let refused = |fault: Misbehaviour| FetchError::misbehaved(object, range, &fault);
        // From here on, an error drops the response, so that the body of an invalid answer is not
        // read.
        if let Some(fault) = redirect_of(&url, status, headers) {
            return Err(refused(fault));
        }
        if status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Err(refused(past_the_end(headers)));
        }
        check_status(object, range, status)?;
        let answer = check_answer(asked(range), status, headers).map_err(refused)?;
        let etag = headers
            .get(ETAG)
            .and_then(|etag| etag.to_str().ok())
            .map(str::to_owned);
        // A server without support for If-None-Match sends the same version again.
        if known.is_some() && etag.as_deref() == known {
            return Ok(FetchedRange::unchanged());
        }
        let bytes = self.collect(object, range, answer, response).await?;
        let object_len = match range == ByteRange::from(0) {
            true => Some(bytes.len() as u64),
            false => answer.object_len,
        };
        Ok(FetchedRange {
            etag,
            object_len,
            ..FetchedRange::new(bytes)
        })
    }

    async fn send(
        &self,
        object: &str,
        range: ByteRange,
        url: &Url,
        known: Option<&str>,
    ) -> Result<Response, FetchError> {
        let mut request = self
            .client
            .get(url.clone())
            .header(ACCEPT_ENCODING, "identity");
        if asked(range).is_some() {
            request = request.header(RANGE, range.to_string().replacen(' ', "=", 1));
        }
        // A version that is not valid in a header, such as one from a damaged cache, is omitted.
        if let Some(Ok(known)) = known.map(HeaderValue::from_str) {
            request = request.header(IF_NONE_MATCH, known);
        }
        request.send().await.map_err(|error| {
            let is_connect = error.is_connect();
            let mut causes = with_causes(&error.without_url());
            if is_connect {
                let host = url.host_str().unwrap_or_default();
                causes = format!(
                    "no connection to {host}: check the address and the network ({causes})"
                );
            }
            FetchError::new(FetchErrorKind::Unavailable, object, range, causes)
        })
    }

    /// Reads the body: exactly the announced number of bytes, or all of it up to the limit.
    async fn collect(
        &self,
        object: &str,
        range: ByteRange,
        answer: Answer,
        mut response: Response,
    ) -> Result<Bytes, FetchError> {
        let expected_len = answer.body_len;
        let max_bytes = match range.len {
            Some(len) => len,
            None => self.options.max_whole_object_bytes,
        };
        if expected_len.is_some_and(|len| len > max_bytes) {
            return Err(FetchError::too_large(object, range, max_bytes));
        }
        let misbehaved = |fault, seen: String| {
            FetchError::misbehaved(object, range, &Misbehaviour::new(fault, seen))
        };
        let short = |num_bytes: usize| {
            let expected = expected_len.map_or("more".to_owned(), |len| len.to_string());
            let seen = format!("only {num_bytes} of {expected} bytes came");
            misbehaved(StoreFault::ShortBody, seen)
        };
        let mut body = Buffer::default();
        loop {
            let part = match response.chunk().await {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(error) if error.is_timeout() => {
                    let causes = with_causes(&error.without_url());
                    let unavailable = FetchErrorKind::Unavailable;
                    return Err(FetchError::new(unavailable, object, range, causes));
                }
                // The connection ended in the middle of the body.
                Err(_) => return Err(short(body.len())),
            };
            let num_bytes = (body.len() + part.len()) as u64;
            if num_bytes > expected_len.unwrap_or(max_bytes) {
                return Err(match expected_len {
                    Some(len) => {
                        let seen = format!("more bytes came than the {len} that were announced");
                        misbehaved(StoreFault::LongBody, seen)
                    }
                    None => FetchError::too_large(object, range, max_bytes),
                });
            }
            if body.is_empty() {
                // Reserves memory for the whole answer, but not for announced gigabytes.
                let room = expected_len.unwrap_or(0).min(16 << 20) as usize;
                body = Buffer::with_capacity(room.max(part.len()));
            }
            body.extend_from_slice(&part);
        }
        if expected_len.is_some_and(|len| (body.len() as u64) < len) {
            return Err(short(body.len()));
        }
        Ok(body.into_bytes())
    }
}

impl RangeFetcher for HttpFetcher {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.read(object, range, None).boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.read(object, range, Some(etag)).boxed()
    }
}

/// Returns the requested range, or `None` for a whole object, which needs no range.
fn asked(range: ByteRange) -> Option<AskedRange> {
    (range != ByteRange::from(0)).then_some(AskedRange {
        first: range.offset,
        len: range.len,
    })
}

/// Converts the status of other answers to an error.
fn check_status(object: &str, range: ByteRange, status: StatusCode) -> Result<(), FetchError> {
    let kind = match status {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT => return Ok(()),
        StatusCode::NOT_FOUND | StatusCode::GONE => FetchErrorKind::NotFound,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => FetchErrorKind::Denied,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => FetchErrorKind::Unavailable,
        status if status.is_server_error() => FetchErrorKind::Unavailable,
        _ => FetchErrorKind::Protocol,
    };
    let what = format!("the server answered {status}");
    Err(FetchError::new(kind, object, range, what))
}

#[cfg(test)]
mod tests;

//! Objects of any web server that honours `Range`.
//!
//! Manners: never HEAD; `Accept-Encoding: identity`, and a compressed answer is an error; a range
//! must be answered with 206 and a fitting `Content-Range`, never with a whole object; the body is
//! counted, so nothing depends on `Content-Length`.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::{BoxFuture, FutureExt};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, RANGE};
use reqwest::{Response, StatusCode};
use url::Url;

use super::object_store::with_causes;
use super::{
    ByteRange, FetchError, FetchErrorKind, FetchedRange, MAX_WHOLE_OBJECT_BYTES, RangeFetcher,
};
use crate::SearchError;

/// Settings of an [`HttpFetcher`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for the next bytes of an answer.
    pub read_timeout: Duration,
    /// Longest read to the end of an object.
    pub max_whole_object_bytes: u64,
}

impl Default for HttpOptions {
    /// 10 s to connect, 30 s without a byte, 64 MiB.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            max_whole_object_bytes: MAX_WHOLE_OBJECT_BYTES,
        }
    }
}

/// Reads objects below a base URL.
pub struct HttpFetcher {
    client: reqwest::Client,
    base: Url,
    options: HttpOptions,
}

impl HttpFetcher {
    /// Reads objects below `base`, whose path is taken as a folder. Its query string, such as a
    /// signature, is sent with every request.
    pub fn new(base: Url, options: HttpOptions) -> Result<Self, SearchError> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("canter/", env!("CARGO_PKG_VERSION")))
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

    async fn read(&self, object: &str, range: ByteRange) -> Result<FetchedRange, FetchError> {
        if range.len == Some(0) {
            return Ok(FetchedRange::default());
        }
        let is_whole = range == ByteRange::from(0);
        let mut request = self
            .client
            .get(self.url_of(object))
            .header(ACCEPT_ENCODING, "identity");
        if !is_whole {
            request = request.header(RANGE, range.to_string().replacen(' ', "=", 1));
        }
        let response = request.send().await.map_err(|error| {
            let causes = with_causes(&error.without_url());
            FetchError::new(FetchErrorKind::Unavailable, object, range, causes)
        })?;
        check_status(object, range, is_whole, response.status())?;
        check_encoding(object, range, response.headers())?;
        let expected_len = match is_whole {
            true => None,
            false => Some(check_content_range(object, range, response.headers())?),
        };
        let etag = response
            .headers()
            .get(ETAG)
            .and_then(|etag| etag.to_str().ok())
            .map(str::to_owned);
        let bytes = self.collect(object, range, expected_len, response).await?;
        Ok(FetchedRange {
            etag,
            ..FetchedRange::new(bytes)
        })
    }

    /// Reads the body: exactly `expected_len` bytes, or all of it up to the cap.
    async fn collect(
        &self,
        object: &str,
        range: ByteRange,
        expected_len: Option<u64>,
        mut response: Response,
    ) -> Result<Bytes, FetchError> {
        let max_bytes = match range.len {
            Some(len) => len,
            None => self.options.max_whole_object_bytes,
        };
        if expected_len.is_some_and(|len| len > max_bytes) {
            return Err(FetchError::too_large(object, range, max_bytes));
        }
        let mut body = BytesMut::new();
        loop {
            let part = match response.chunk().await {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(error) if error.is_timeout() => {
                    let causes = with_causes(&error.without_url());
                    return Err(FetchError::new(
                        FetchErrorKind::Unavailable,
                        object,
                        range,
                        causes,
                    ));
                }
                // The connection ended in the middle of the body.
                Err(_) => {
                    return Err(FetchError::short(object, range, body.len() as u64).transient());
                }
            };
            let num_bytes = (body.len() + part.len()) as u64;
            if num_bytes > expected_len.unwrap_or(max_bytes) {
                return Err(match expected_len {
                    Some(_) => protocol(object, range, "more bytes came than Content-Range says"),
                    None => FetchError::too_large(object, range, max_bytes),
                });
            }
            if body.is_empty() {
                // Room for the whole answer at once, but never on a mere promise of gigabytes.
                let room = expected_len.unwrap_or(0).min(16 << 20) as usize;
                body.reserve(room.max(part.len()));
            }
            body.extend_from_slice(&part);
        }
        if expected_len.is_some_and(|len| (body.len() as u64) < len) {
            return Err(FetchError::short(object, range, body.len() as u64).transient());
        }
        Ok(body.freeze())
    }
}

impl RangeFetcher for HttpFetcher {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.read(object, range).boxed()
    }
}

fn protocol(object: &str, range: ByteRange, what: impl std::fmt::Display) -> FetchError {
    FetchError::new(FetchErrorKind::Protocol, object, range, what)
}

fn check_status(
    object: &str,
    range: ByteRange,
    is_whole: bool,
    status: StatusCode,
) -> Result<(), FetchError> {
    let kind = match status {
        StatusCode::OK if is_whole => return Ok(()),
        StatusCode::PARTIAL_CONTENT if !is_whole => return Ok(()),
        StatusCode::OK => {
            return Err(protocol(
                object,
                range,
                "the server ignored the Range header and sent the whole object (status 200); \
                 serve the index from something that supports range requests",
            ));
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => FetchErrorKind::NotFound,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => FetchErrorKind::Denied,
        StatusCode::RANGE_NOT_SATISFIABLE => FetchErrorKind::Truncated,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => FetchErrorKind::Unavailable,
        status if status.is_server_error() => FetchErrorKind::Unavailable,
        _ => FetchErrorKind::Protocol,
    };
    Err(FetchError::new(
        kind,
        object,
        range,
        format!("the server answered {status}"),
    ))
}

fn check_encoding(object: &str, range: ByteRange, headers: &HeaderMap) -> Result<(), FetchError> {
    match headers.get(CONTENT_ENCODING) {
        None => Ok(()),
        Some(encoding) if encoding.as_bytes().eq_ignore_ascii_case(b"identity") => Ok(()),
        Some(encoding) => {
            let what = format!(
                "the server compressed the answer ({encoding:?}) although it was asked not to"
            );
            Err(protocol(object, range, what))
        }
    }
}

/// Checks that the answer is the range asked for, and returns its length.
fn check_content_range(
    object: &str,
    range: ByteRange,
    headers: &HeaderMap,
) -> Result<u64, FetchError> {
    let header = headers
        .get(CONTENT_RANGE)
        .and_then(|value| value.to_str().ok())
        .ok_or_else(|| protocol(object, range, "status 206 without a Content-Range"))?;
    let (first, last) = parse_content_range(header).ok_or_else(|| {
        protocol(
            object,
            range,
            format!("cannot read Content-Range {header:?}"),
        )
    })?;
    let len = last - first + 1;
    if first != range.offset || range.len.is_some_and(|wanted| len > wanted) {
        let what = format!("the server answered with another range, {header:?}");
        return Err(protocol(object, range, what));
    }
    if range.len.is_some_and(|wanted| len < wanted) {
        return Err(FetchError::short(object, range, len));
    }
    Ok(len)
}

/// First and last byte of `bytes FIRST-LAST/SIZE`, where SIZE may be `*`.
fn parse_content_range(header: &str) -> Option<(u64, u64)> {
    let (unit, rest) = header.trim().split_once(' ')?;
    let (bounds, _size) = rest.split_once('/')?;
    let (first, last) = bounds.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (unit.eq_ignore_ascii_case("bytes") && first <= last && last < u64::MAX)
        .then_some((first, last))
}

#[cfg(test)]
mod tests;

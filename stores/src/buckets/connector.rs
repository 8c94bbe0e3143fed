//! HTTP connector for `object_store` that validates every answer.
//!
//! `object_store` refuses a GET answer without `Content-Length` and accepts some wrong ones. The
//! service in front of its client supplies the missing headers and refuses invalid answers, so that
//! the same rules apply to buckets and plain web servers.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderValue, RANGE};
use http::response::Parts;
use http::{Method, StatusCode};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::Client;
use url::Url;

use super::body::CountedBody;
use super::client::client_of;
use crate::web::answer::{Answer, AskedRange, check_answer, past_the_end};
use crate::web::redirect::redirect_of;
use crate::{NotImplemented, ObjectTooLong};

/// Connector whose clients validate every answer.
///
/// The extensions of a GET result contain its [`Answer`], which has the object's length as the
/// store stated it. `ObjectMeta::size` may differ.
#[derive(Debug)]
pub struct MannersConnector {
    /// Maximum length of an object whose length the store does not state. Such an object is
    /// buffered before it is passed on; a longer one is refused.
    pub max_whole_object_bytes: u64,
}

impl HttpConnector for MannersConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Manners {
            client: client_of(options)?,
            max_whole_object_bytes: self.max_whole_object_bytes,
        }))
    }
}

#[derive(Debug)]
struct Manners {
    client: Client,
    max_whole_object_bytes: u64,
}

#[async_trait]
impl HttpService for Manners {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let url = Url::parse(&request.uri().to_string())
            .map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let is_get = request.method() == Method::GET;
        let range = request.headers().get(RANGE).cloned();
        if is_get {
            // This header need not be signed.
            let identity = HeaderValue::from_static("identity");
            request.headers_mut().insert(ACCEPT_ENCODING, identity);
        }
        let (parts, body) = self.client.call(request).await?.into_parts();
        if let Some(fault) = redirect_of(&url, parts.status, &parts.headers) {
            return Err(refused(fault));
        }
        if parts.status == StatusCode::NOT_IMPLEMENTED {
            return Err(HttpError::new(HttpErrorKind::Decode, NotImplemented));
        }
        if !is_get {
            return Ok(HttpResponse::from_parts(parts, body));
        }
        match (parts.status, range) {
            (StatusCode::OK | StatusCode::PARTIAL_CONTENT, None) => self.whole(parts, body).await,
            (StatusCode::OK | StatusCode::PARTIAL_CONTENT, Some(range)) => {
                match range.to_str().ok().and_then(AskedRange::from_header) {
                    Some(asked) => part(asked, parts, body),
                    None => Ok(HttpResponse::from_parts(parts, body)),
                }
            }
            (StatusCode::RANGE_NOT_SATISFIABLE, _) => Err(refused(past_the_end(&parts.headers))),
            _ => Ok(HttpResponse::from_parts(parts, body)),
        }
    }
}

impl Manners {
    /// Processes an answer with a whole object, or with another body that is read whole, such as a
    /// listing.
    async fn whole(
        &self,
        mut parts: Parts,
        body: HttpResponseBody,
    ) -> Result<HttpResponse, HttpError> {
        let mut answer = check_answer(None, parts.status, &parts.headers).map_err(refused)?;
        let body = match answer.body_len {
            Some(len) => HttpResponseBody::new(CountedBody::new(body, len)),
            None => {
                let bytes = self.collect(body).await?;
                let len = bytes.len() as u64;
                answer.object_len = Some(len);
                parts.headers.insert(CONTENT_LENGTH, len.into());
                bytes.into()
            }
        };
        parts.extensions.insert(answer);
        Ok(HttpResponse::from_parts(parts, body))
    }

    async fn collect(&self, body: HttpResponseBody) -> Result<Bytes, HttpError> {
        let max_bytes = self.max_whole_object_bytes;
        let mut collected = BytesMut::new();
        let mut stream = body.bytes_stream();
        while let Some(bytes) = stream.next().await {
            let bytes = bytes?;
            if (collected.len() + bytes.len()) as u64 > max_bytes {
                let error = ObjectTooLong { max_bytes };
                return Err(HttpError::new(HttpErrorKind::Decode, error));
            }
            collected.extend_from_slice(&bytes);
        }
        Ok(collected.freeze())
    }
}

/// Processes an answer with a part of an object.
fn part(
    asked: AskedRange,
    mut parts: Parts,
    body: HttpResponseBody,
) -> Result<HttpResponse, HttpError> {
    let answer = check_answer(Some(asked), parts.status, &parts.headers).map_err(refused)?;
    let Answer {
        body_len: Some(len),
        object_len,
    } = answer
    else {
        return Ok(HttpResponse::from_parts(parts, body));
    };
    parts.headers.insert(CONTENT_LENGTH, len.into());
    if object_len.is_none() {
        // `object_store` cannot parse a size of `*`. The size given here is never shown: the
        // [`Answer`] in the extensions says that it is unknown.
        let (first, end) = (asked.first, asked.first + len);
        let range = format!("bytes {first}-{}/{end}", end - 1);
        let range = HeaderValue::from_str(&range)
            .map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        parts.headers.insert(CONTENT_RANGE, range);
    }
    parts.extensions.insert(answer);
    let body = HttpResponseBody::new(CountedBody::new(body, len));
    Ok(HttpResponse::from_parts(parts, body))
}

/// Wraps a fault in an error of a kind that `object_store` does not retry: the answer would be the
/// same.
fn refused(fault: crate::Misbehaviour) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, fault)
}

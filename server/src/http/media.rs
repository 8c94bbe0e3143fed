//! Media types of Elasticsearch's API, for all answers of the server: a request's headers determine the form of its
//! answer.

use axum::extract::Request;
use axum::http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use canter_runtime::{InvalidMediaType, MediaTypes};

use super::refusal::{Api, Refuse};

/// Answers in the requested media type, with the product's header.
pub(crate) async fn speak_as_asked(mut request: Request, next: Next) -> Response {
    let media = match media_of(&request) {
        Ok(media) => media,
        Err(invalid) => return refuse(&invalid),
    };
    if let Some(uri) = uri_for(&media, request.uri()) {
        *request.uri_mut() = uri;
    }
    let mut response = next.run(request).await;
    add_to(response.headers_mut(), &media);
    response
}

fn media_of(request: &Request) -> Result<MediaTypes, InvalidMediaType> {
    let headers = request.headers();
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let accept: Vec<String> = headers.get_all(ACCEPT).iter().filter_map(text).collect();
    let content_type = headers.get(CONTENT_TYPE).and_then(text);
    let accept = accept.iter().map(String::as_str);
    MediaTypes::read(request.uri().path(), accept, content_type.as_deref())
}

/// Returns the URI with the effect of the headers on the query string, if there is one.
fn uri_for(media: &MediaTypes, uri: &Uri) -> Option<Uri> {
    let query = uri.query().unwrap_or_default();
    let wanted = media.query(uri.path(), query);
    if wanted == query {
        return None;
    }
    let mut parts = uri.clone().into_parts();
    let target = format!("{}?{wanted}", uri.path());
    parts.path_and_query = Some(target.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// The rest of the request is not read.
fn refuse(invalid: &InvalidMediaType) -> Response {
    let kind = InvalidMediaType::KIND;
    let mut response =
        Api::Elasticsearch.refusal_of(StatusCode::BAD_REQUEST, kind, &invalid.to_string());
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn add_to(headers: &mut HeaderMap, media: &MediaTypes) {
    let content_type = headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let added: Vec<_> = media.headers(content_type).collect();
    for (name, value) in added {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
}

//! `/ui/`: the search page. Its files are no secret, so that nobody is asked for a token: the API is.

use axum::Router;
use axum::extract::Path;
use axum::http::header::{CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use canter_page::{HEADERS, file};

/// Where the page is, and its files below it.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/ui", get(|| async { Redirect::permanent("/ui/") }))
        .route("/ui/", get(|headers: HeaderMap| async move { answer("", &headers) }))
        .route(
            "/ui/{*path}",
            get(|Path(path): Path<String>, headers: HeaderMap| async move { answer(&path, &headers) }),
        )
}

/// Who opens the server in a browser wants the page; programs ask `/` for the API's version.
pub(super) fn is_visitor(headers: &HeaderMap) -> bool {
    let accepts = headers.get("accept").and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.starts_with("text/html"))
}

/// Sends a visitor there.
pub(super) fn redirect() -> Response {
    Redirect::to("/ui/").into_response()
}

fn answer(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = file(path) else {
        return (StatusCode::NOT_FOUND, "there is no such file of the page").into_response();
    };
    let tag = file.tag();
    let known = headers
        .get(IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.contains(&tag));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, file.content_type)], file.bytes).into_response(),
    };
    let sent = response.headers_mut();
    for (name, value) in HEADERS {
        sent.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        sent.insert(ETAG, tag);
    }
    response
}

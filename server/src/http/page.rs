//! `/ui/`: the search page, from `canter-page`.

use axum::Router;
use axum::extract::Request;
use axum::http::header::{ACCEPT, HeaderName, HeaderValue, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use canter_page::{Answer, Asked};

/// Returns the routes of the page and its files.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/ui", get(respond))
        .route("/ui/", get(respond))
        .route("/ui/{*path}", get(respond))
}

async fn respond(request: Request) -> Response {
    let found = answer(request.uri().path(), request.headers());
    found.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

/// Returns the page's answer at a path; `None` if that belongs to the API. A browser that opens `/` is redirected to
/// the page.
pub(crate) fn answer(path: &str, headers: &HeaderMap) -> Option<Response> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let answer = canter_page::answer(Asked {
        path,
        accept: text(ACCEPT),
        if_none_match: text(IF_NONE_MATCH),
    });
    answer.map(response)
}

fn response(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, answer.body).into_response();
    let sent = response.headers_mut();
    sent.clear();
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            sent.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

//! Identity of a request: the id in its answer and its log lines, and its trace.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Header with which Elasticsearch's clients name a task.
const OPAQUE_ID: HeaderName = HeaderName::from_static("x-opaque-id");

const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// Maximum length of a client's own id.
const MAX_ID_BYTES: usize = 128;

/// Makes a span part of the trace in a request's headers.
pub type FollowTrace = fn(&Span, &HeaderMap);

/// Runs a request within a span with its identity, which the answer repeats.
pub(crate) async fn identify(
    State(follow_trace): State<FollowTrace>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let given = given_id(headers, &REQUEST_ID).cloned();
    let request_id = given.unwrap_or_else(new_id);
    let opaque_id = given_id(headers, &OPAQUE_ID).cloned();
    let span = info_span!(
        target: "canter::http",
        "http",
        method = %request.method(),
        path = request.uri().path(),
        request_id = shown(&request_id),
        opaque_id = Empty,
        trace_id = Empty,
        caller = Empty,
        status = Empty,
    );
    if let Some(id) = &opaque_id {
        span.record("opaque_id", shown(id));
    }
    if let Some(trace_id) = headers.get(TRACE_PARENT).and_then(trace_id) {
        span.record("trace_id", trace_id);
        follow_trace(&span, headers);
    }
    let mut response = next.run(request).instrument(span.clone()).await;
    span.record("status", response.status().as_u16());
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, request_id);
    if let Some(id) = opaque_id {
        headers.insert(OPAQUE_ID, id);
    }
    response
}

/// Returns a client's name for its request, if it is suitable for logs and answers.
fn given_id<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let value = headers.get(name)?;
    let is_visible = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    let is_good =
        value.as_bytes().iter().all(is_visible) && (1..=MAX_ID_BYTES).contains(&value.len());
    is_good.then_some(value)
}

fn new_id() -> HeaderValue {
    let id = Uuid::new_v4().to_string();
    HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("none"))
}

fn shown(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}

/// Returns the trace id in a `traceparent` (W3C Trace Context, level 1, section 3.2).
fn trace_id(value: &HeaderValue) -> Option<&str> {
    let mut fields = value.to_str().ok()?.split('-');
    let is_hex = |field: &str, len: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        field.len() == len && field.bytes().all(is_digit)
    };
    let is_id =
        |field: &str, len: usize| is_hex(field, len) && field.bytes().any(|byte| byte != b'0');
    let (version, trace, parent, flags) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    // Later versions may have further fields.
    let ends = version != "00" || fields.next().is_none();
    let is_right = is_hex(version, 2)
        && version != "ff"
        && is_id(trace, 32)
        && is_id(parent, 16)
        && is_hex(flags, 2)
        && ends;
    is_right.then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_names_a_trace_or_is_ignored() {
        const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(
                trace_id(&HeaderValue::from_str(text).unwrap()),
                expect,
                "{text}"
            );
        };
        check(
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            Some(TRACE),
        );
        check(
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            Some(TRACE),
        );
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn an_id_is_repeated_if_it_is_short_and_visible() {
        let check = |value: &str, expect: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_str(value).unwrap());
            assert_eq!(given_id(&headers, &REQUEST_ID).is_some(), expect, "{value}");
        };
        check("a", true);
        check(&"a".repeat(MAX_ID_BYTES), true);
        check(&"a".repeat(MAX_ID_BYTES + 1), false);
        check("", false);
        check("a dashboard", true);
        check("a\tb", false);
    }
}

//! OpenTelemetry's logs over HTTP.

use std::sync::Arc;

use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use canter_intake::{
    Acknowledge, Lane, LogsEncoding, LogsError, read_logs, write_logs_answer, write_logs_error,
};

use super::super::refusal::{RETRY_AFTER_SECONDS, Refuse};
use super::problem::Problem;
use super::writers::{Request, Writers, status_of};

/// Names the index, as for Quickwit.
const INDEX: HeaderName = HeaderName::from_static("qw-otel-logs-index");

/// What the index is called if nobody says: Quickwit's name first.
const DEFAULT_INDEXES: [&str; 2] = ["otel-logs-v0_9", "otel-logs"];

/// `POST /v1/logs`.
pub(super) async fn logs(writers: &Writers, request: &Request<'_>, body: &[u8]) -> Response {
    let text = |name: HeaderName| {
        request
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let Some(encoding) = text(CONTENT_TYPE).and_then(LogsEncoding::of) else {
        let message = "send application/x-protobuf or application/json";
        return request
            .api
            .refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    };
    let fail = |status: StatusCode, message: &str| refuse(encoding, status, message);
    let named = text(INDEX).or(writers.otel_index.as_deref());
    let index = match named {
        Some(name) => name,
        None => {
            let known = DEFAULT_INDEXES.into_iter().find(|name| writers.has(name));
            known.unwrap_or(DEFAULT_INDEXES[1])
        }
    };
    let lane = match lane_of(writers, request, index).await {
        Ok(lane) => lane,
        Err(problem) => return fail(problem.status, &problem.reason),
    };
    let read = tokio::task::block_in_place(|| {
        let logs = read_logs(body, encoding, &lane.logs_limits())?;
        let problems = lane.problems(logs.documents.iter().map(Vec::as_slice));
        Ok::<_, LogsError>((logs, problems))
    });
    let (logs, problems) = match read {
        Ok((logs, Ok(problems))) => (logs, problems),
        Ok((_, Err(refusal))) => return fail(status_of(&refusal), &refusal.to_string()),
        Err(error) => {
            let status = match error.is_too_large() {
                true => StatusCode::PAYLOAD_TOO_LARGE,
                false => StatusCode::BAD_REQUEST,
            };
            return fail(status, &error.to_string());
        }
    };
    let pairs = || logs.documents.iter().zip(&problems);
    let good = pairs().filter(|(_, problem)| problem.is_none());
    let good: Vec<&[u8]> = good.map(|(document, _)| document.as_slice()).collect();
    if !good.is_empty()
        && let Err(refusal) = lane.add(&good, Acknowledge::Published).await
    {
        return fail(status_of(&refusal), &refusal.to_string());
    }
    let bad = problems.iter().flatten().map(|problem| &problem.message);
    let bad: Vec<&String> = bad.chain(&logs.problems).collect();
    let message = bad.first().map_or("", |message| message.as_str());
    let answer = write_logs_answer(encoding, bad.len() as u64, message);
    ([(CONTENT_TYPE, encoding.content_type())], answer).into_response()
}

/// The lane of an index, which is made if it is not there and may be.
async fn lane_of(
    writers: &Writers,
    request: &Request<'_>,
    index: &str,
) -> Result<Arc<Lane>, Problem> {
    if let Some(lane) = writers.find(index, request).await {
        return Ok(lane);
    }
    if let Some(root) = request.root.filter(|_| request.allows(index))
        && let Err(problem) = root.make_for_logs(index).await
        && !problem.is_no_index()
    {
        return Err(problem);
    }
    let writer = writers.writer(index, request);
    writer.map(|writer| writer.lane).ok_or_else(|| Problem {
        reason: format!(
            "there is no index {index:?}: make it with `canter index create --preset otel-logs`, name another with a \
             {INDEX} header or with --otel-index on the server, or have the server make it (--indexes-in and \
             --auto-create-index)"
        ),
        ..Problem::no_index(index)
    })
}

/// An error as exporters read it: they send again what may work later, after the time that is named.
fn refuse(encoding: LogsEncoding, status: StatusCode, message: &str) -> Response {
    // gRPC's codes.
    let code = match status {
        StatusCode::BAD_REQUEST => 3,
        StatusCode::NOT_FOUND => 5,
        StatusCode::TOO_MANY_REQUESTS => 8,
        StatusCode::SERVICE_UNAVAILABLE => 14,
        _ => 13,
    };
    let body = write_logs_error(encoding, code, message);
    let mut response = (status, [(CONTENT_TYPE, encoding.content_type())], body).into_response();
    if matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    ) {
        let seconds = HeaderValue::from_static(RETRY_AFTER_SECONDS);
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

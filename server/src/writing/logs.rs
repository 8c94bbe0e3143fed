//! OpenTelemetry's logs over HTTP.

use std::sync::Arc;

use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use canter_intake::{
    Acknowledge, Admitted, Lane, LogsEncoding, LogsError, read_logs, write_logs_answer,
    write_logs_error,
};

use super::adding::{Absent, add_to};
use crate::http::{RETRY_AFTER_SECONDS, Refuse};
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Problem};

/// Header that names the index, as for Quickwit.
const INDEX: HeaderName = HeaderName::from_static("qw-otel-logs-index");

/// Default names of the index: Quickwit's name first.
const DEFAULT_INDEXES: [&str; 2] = ["otel-logs-v0_9", "otel-logs"];

/// Handles `POST /v1/logs`.
pub(super) async fn logs(writers: &Writers, request: &ChangeRequest<'_>, body: &[u8]) -> Response {
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
            // An index that the sender may not know of counts as missing, whether it exists or not.
            let is_known = |name: &&str| request.writer(writers, name).is_some();
            let known = DEFAULT_INDEXES.into_iter().find(is_known);
            known.unwrap_or(DEFAULT_INDEXES[1])
        }
    };
    let add = |lane: Arc<Lane>| async move { add_good(writers, &lane, body, encoding).await };
    let added = add_to(writers, request, index, Absent::MadeForLogs, add).await;
    let Rejected { num, message } = match added {
        Ok(rejected) => rejected,
        Err(problem) if problem.is_no_index() => return fail(problem.status, &no_index(index)),
        Err(problem) => return fail(problem.status, &problem.reason),
    };
    let answer = write_logs_answer(encoding, num, &message);
    ([(CONTENT_TYPE, encoding.content_type())], answer).into_response()
}

/// Log records that were not accepted.
struct Rejected {
    num: u64,
    /// The problem of the first one.
    message: String,
}

/// Adds the valid log records.
///
/// # Errors
/// If none of them could be added.
async fn add_good(
    writers: &Writers,
    lane: &Lane,
    body: &[u8],
    encoding: LogsEncoding,
) -> Result<Rejected, Problem> {
    let (admitted, rejected) = admit_good(writers, lane, body, encoding).await?;
    if let Some(admitted) = admitted {
        let added = lane.add_admitted(admitted, Acknowledge::Published).await;
        added.map_err(|refusal| Problem::refused(&refusal))?;
    }
    Ok(rejected)
}

/// Parses log records, and reserves room for the valid ones. Nothing else stays in memory.
async fn admit_good(
    writers: &Writers,
    lane: &Lane,
    body: &[u8],
    encoding: LogsEncoding,
) -> Result<(Option<Admitted>, Rejected), Problem> {
    let _turn = writers.turn_to_read().await?;
    let read = tokio::task::block_in_place(|| {
        let limits = lane.logs_limits(body.len(), writers.max_items);
        let logs = read_logs(body, encoding, &limits);
        let logs = logs.map_err(|error| unread(&error))?;
        let mut rejected = Rejected {
            num: logs.num_rejected,
            message: logs.problems.first().cloned().unwrap_or_default(),
        };
        let mut is_good = Vec::with_capacity(logs.documents.len());
        let documents = logs.documents.iter().map(Vec::as_slice);
        let checked = lane.check_each(documents, &mut |problem| {
            is_good.push(problem.is_none());
            if let Some(problem) = problem {
                rejected.num += 1;
                if rejected.message.is_empty() {
                    rejected.message = problem.message;
                }
            }
        });
        checked.map_err(|refusal| Problem::refused(&refusal))?;
        Ok::<_, Problem>((logs.documents, is_good, rejected))
    });
    let (documents, is_good, rejected) = read?;
    let good = documents
        .iter()
        .zip(&is_good)
        .filter(|(_, is_good)| **is_good);
    let good: Vec<&[u8]> = good.map(|(document, _)| document.as_slice()).collect();
    let admitted = match good.is_empty() {
        true => None,
        false => {
            let admitted = lane.admit(&good).await;
            Some(admitted.map_err(|refusal| Problem::refused(&refusal))?)
        }
    };
    Ok((admitted, rejected))
}

/// Returns the error of a request that could not be parsed.
fn unread(error: &LogsError) -> Problem {
    let status = match error.is_too_large() {
        true => StatusCode::PAYLOAD_TOO_LARGE,
        false => StatusCode::BAD_REQUEST,
    };
    Problem {
        status,
        ..Problem::illegal(error.to_string())
    }
}

fn no_index(index: &str) -> String {
    format!(
        "there is no index {index:?}: make it with `canter index create --preset otel-logs`, name another with a \
         {INDEX} header or with --otel-index on the server, or have the server make it (--indexes-in and \
         --auto-create-index)"
    )
}

/// Returns an error in the form for exporters: they retry requests that may succeed later, after the given time.
fn refuse(encoding: LogsEncoding, status: StatusCode, message: &str) -> Response {
    // gRPC's codes.
    let code = match status {
        StatusCode::BAD_REQUEST => 3,
        StatusCode::NOT_FOUND => 5,
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::TOO_MANY_REQUESTS => 8,
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

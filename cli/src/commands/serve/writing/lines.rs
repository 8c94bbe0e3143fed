//! Quickwit's `ingest`: lines of JSON.
//! <https://quickwit.io/docs/reference/rest-api#ingest-data-into-an-index>

use axum::http::StatusCode;
use axum::response::Response;
use canter_intake::Acknowledge;
use serde_json::{Value, json};

use super::super::refusal::Refuse;
use super::params::Params;
use super::problem::respond;
use super::writers::{Request, Writers, status_of};

/// Problems that an answer tells of.
const MAX_TOLD: usize = 100;

/// `POST /api/v1/<index>/ingest`.
pub(super) async fn ingest(
    writers: &Writers,
    request: &Request<'_>,
    index: &str,
    body: &[u8],
) -> Response {
    let read = Params::of(request.query).and_then(|mut params| {
        let acknowledge = match params.text("commit").as_deref() {
            None | Some("auto") => Acknowledge::Durable,
            Some("wait_for") => Acknowledge::Published,
            Some("force") => Acknowledge::PublishedNow,
            Some(other) => {
                return Err(format!(
                    "commit is auto, wait_for or force, and not {other:?}"
                ));
            }
        };
        let is_detailed = params.flag("detailed_response")?.unwrap_or(false);
        params.finish()?;
        Ok((params, acknowledge, is_detailed))
    });
    let (params, acknowledge, is_detailed) = match read {
        Ok(read) => read,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    let Some(lane) = writers.find(index, request).await else {
        let message = format!("index {index:?} is not known");
        return request.api.refusal(StatusCode::NOT_FOUND, &message);
    };
    let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let lines: Vec<&[u8]> = body
        .split(|byte| *byte == b'\n')
        .filter(|line| !is_blank(line))
        .collect();
    let problems = tokio::task::block_in_place(|| lane.problems(lines.iter().copied()));
    let problems = match problems {
        Ok(problems) => problems,
        Err(refusal) => {
            return request
                .api
                .refusal(status_of(&refusal), &refusal.to_string());
        }
    };
    let (mut good, mut failures) = (Vec::new(), Vec::new());
    for (line, problem) in lines.iter().zip(&problems) {
        match problem {
            None => good.push(*line),
            Some(problem) => failures.push((line, problem)),
        }
    }
    if let Err(refusal) = lane.add(&good, acknowledge).await {
        return request
            .api
            .refusal(status_of(&refusal), &refusal.to_string());
    }
    let mut answer = json!({
        "num_docs_for_processing": lines.len(),
        "num_ingested_docs": good.len(),
        "num_rejected_docs": failures.len(),
    });
    if is_detailed {
        let told = failures.iter().take(MAX_TOLD).map(|(line, problem)| {
            json!({
                "message": problem.message, "reason": problem.reason, "document": String::from_utf8_lossy(line),
            })
        });
        answer["parse_failures"] = told.collect::<Vec<Value>>().into();
    }
    respond(request, &params, StatusCode::OK, answer)
}

//! Quickwit's `ingest`: lines of JSON.
//! <https://quickwit.io/docs/reference/rest-api#ingest-data-into-an-index>

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use canter_index_builder::DocumentProblem;
use canter_intake::{Acknowledge, Lane};
use serde_json::{Value, json};

use super::super::refusal::Refuse;
use super::adding::{Absent, add_to};
use super::params::Params;
use super::problem::{Problem, respond};
use super::writers::{Request, Writers};

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
    let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let lines: Vec<&[u8]> = body
        .split(|byte| *byte == b'\n')
        .filter(|line| !is_blank(line))
        .collect();
    let all = lines.as_slice();
    let add = |lane: Arc<Lane>| async move { add_good(&lane, all, acknowledge).await };
    let problems = match add_to(writers, request, index, Absent::Left, add).await {
        Ok(problems) => problems,
        Err(problem) => {
            let message = match problem.is_no_index() {
                true => format!("index {index:?} is not known"),
                false => problem.reason,
            };
            return request.api.refusal(problem.status, &message);
        }
    };
    let pairs = lines.iter().zip(&problems);
    let failures = pairs.filter_map(|(line, problem)| Some((line, problem.as_ref()?)));
    let failures: Vec<(&&[u8], &DocumentProblem)> = failures.collect();
    let mut answer = json!({
        "num_docs_for_processing": lines.len(),
        "num_ingested_docs": lines.len() - failures.len(),
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

/// Adds the lines in which nothing is wrong, and says what is wrong with the others.
///
/// # Errors
/// If none of them could be added.
async fn add_good(
    lane: &Lane,
    lines: &[&[u8]],
    acknowledge: Acknowledge,
) -> Result<Vec<Option<DocumentProblem>>, Problem> {
    let problems = tokio::task::block_in_place(|| lane.problems(lines.iter().copied()));
    let problems = problems.map_err(|refusal| Problem::refused(&refusal))?;
    let pairs = lines.iter().zip(&problems);
    let good = pairs.filter(|(_, problem)| problem.is_none());
    let good: Vec<&[u8]> = good.map(|(line, _)| *line).collect();
    let added = lane.add(&good, acknowledge).await;
    added.map_err(|refusal| Problem::refused(&refusal))?;
    Ok(problems)
}

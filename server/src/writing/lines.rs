//! Quickwit's `ingest`: lines of JSON.
//! <https://quickwit.io/docs/reference/rest-api#ingest-data-into-an-index>

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use canter_index_builder::DocumentProblem;
use canter_intake::{Acknowledge, Lane};
use serde_json::{Value, json};

use super::adding::{Absent, add_to};
use crate::http::Refuse;
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Params, Problem, respond};

/// Maximum number of problems in an answer.
const MAX_TOLD: usize = 100;

/// Maximum number of bytes of a document that such an answer shows.
const MAX_SHOWN_BYTES: usize = 16 << 10;

/// Handles `POST /api/v1/<index>/ingest`.
pub(super) async fn ingest(
    writers: &Writers,
    request: &ChangeRequest<'_>,
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
    let lines = match lines_of(writers, body).await {
        Ok(lines) => lines,
        Err(problem) => return request.api.refusal(problem.status, &problem.reason),
    };
    let all = lines.as_slice();
    let target = match request.target(index, false) {
        Ok(target) => target,
        Err(problem) => return request.api.refusal(problem.status, &problem.reason),
    };
    let index = &*target;
    let add = |lane: Arc<Lane>| async move { add_good(writers, &lane, all, acknowledge).await };
    let rejected = match add_to(writers, request, index, Absent::Left, add).await {
        Ok(rejected) => rejected,
        Err(problem) => {
            let message = match problem.is_no_index() {
                true => format!("index {index:?} is not known"),
                false => problem.reason,
            };
            return request.api.refusal(problem.status, &message);
        }
    };
    let mut answer = json!({
        "num_docs_for_processing": lines.len(),
        "num_ingested_docs": lines.len() - rejected.num,
        "num_rejected_docs": rejected.num,
    });
    if is_detailed {
        let told = rejected.first.iter().map(|(ord, problem)| {
            let line = lines.get(*ord).copied().unwrap_or_default();
            json!({"message": problem.message, "reason": problem.reason, "document": shown(line)})
        });
        answer["parse_failures"] = told.collect::<Vec<Value>>().into();
    }
    respond(request, &params, StatusCode::OK, answer)
}

/// Returns the documents of a body, one per line.
///
/// # Errors
/// If there are too many.
async fn lines_of<'b>(writers: &Writers, body: &'b [u8]) -> Result<Vec<&'b [u8]>, Problem> {
    let _turn = writers.turn_to_read().await?;
    let max_items = writers.max_items;
    let lines: Vec<&[u8]> = tokio::task::block_in_place(|| {
        let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
        let lines = body.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !is_blank(line));
        // One more shows that there are too many.
        lines.take(max_items.saturating_add(1)).collect()
    });
    match lines.len() > max_items {
        true => Err(Problem {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            ..Problem::illegal(format!(
                "the body has more than {max_items} documents: send fewer at once, or raise --max-write-items"
            ))
        }),
        false => Ok(lines),
    }
}

/// Lines that were not accepted.
#[derive(Default)]
struct Rejected {
    num: usize,
    /// The first of them, with their numbers and problems.
    first: Vec<(usize, DocumentProblem)>,
}

/// Returns the beginning of a document that was not accepted.
fn shown(line: &[u8]) -> String {
    let beginning = line.get(..MAX_SHOWN_BYTES);
    let mut shown = String::from_utf8_lossy(beginning.unwrap_or(line)).into_owned();
    if beginning.is_some_and(|beginning| beginning.len() < line.len()) {
        shown.push('…');
    }
    shown
}

/// Adds the valid lines, and returns the problems of the others.
///
/// # Errors
/// If none of them could be added.
async fn add_good(
    writers: &Writers,
    lane: &Lane,
    lines: &[&[u8]],
    acknowledge: Acknowledge,
) -> Result<Rejected, Problem> {
    let turn = writers.turn_to_read().await?;
    let (mut rejected, mut good, mut ord) = (Rejected::default(), Vec::new(), 0);
    let checked = tokio::task::block_in_place(|| {
        lane.check_each(lines.iter().copied(), &mut |problem| {
            match problem {
                None => good.extend(lines.get(ord)),
                Some(problem) => {
                    rejected.num += 1;
                    if rejected.first.len() < MAX_TOLD {
                        rejected.first.push((ord, problem));
                    }
                }
            }
            ord += 1;
        })
    });
    drop(turn);
    checked.map_err(|refusal| Problem::refused(&refusal))?;
    let added = lane.add(&good, acknowledge).await;
    added.map_err(|refusal| Problem::refused(&refusal))?;
    Ok(rejected)
}

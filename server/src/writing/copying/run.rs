//! Goes through the pages of a search, and writes each.

use axum::http::StatusCode;
use canter_runtime::session::HttpRequest;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::super::adding::lanes_of;
use super::super::bulk::{Piping, check_shows_whole};
use super::page::write;
use super::what::{Copying, Counts};
use crate::indexes::{Writers, resolved};
use crate::requests::{ChangeRequest, Problem};

/// Documents that are read and written at once.
const PAGE_DOCS: u64 = 1000;

pub(super) async fn copy(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    copying: &Copying,
) -> Result<Counts, Problem> {
    // Documents accepted before this request count as present.
    for (index, writer) in lanes_of(writers, request, &copying.from)? {
        check_shows_whole(&writer.lane, &index)?;
        let published = writer.lane.publish_now().await;
        published.map_err(|refusal| Problem::refused(&refusal))?;
    }
    let mut piping = Piping::of(request, copying.pipeline.as_deref(), 0).await?;
    let mut counts = Counts::default();
    let mut search = copying.search.clone();
    search.insert("size".to_owned(), PAGE_DOCS.min(copying.max_docs).into());
    search.insert("seq_no_primary_term".to_owned(), true.into());
    search.insert("version".to_owned(), true.into());
    let encoded = utf8_percent_encode(&copying.from, NON_ALPHANUMERIC);
    let mut page = asked(
        request,
        format!("/{encoded}/_search"),
        "scroll=1m",
        search.into(),
    )
    .await?;
    loop {
        let hits = page.pointer_mut("/hits/hits").map(Value::take);
        let Some(Value::Array(mut hits)) = hits.filter(|hits| hits != &json!([])) else {
            return Ok(counts);
        };
        let left = usize::try_from(copying.max_docs - counts.num_read).unwrap_or(usize::MAX);
        hits.truncate(left);
        counts.num_batches += 1;
        counts.num_read += hits.len() as u64;
        write(
            writers,
            request,
            (copying, piping.as_mut()),
            &hits,
            &mut counts,
        )
        .await?;
        let is_over =
            counts.num_read >= copying.max_docs || counts.num_conflicts > 0 && !copying.proceeds;
        let Some(scroll_id) = page.get("_scroll_id").filter(|_| !is_over) else {
            return Ok(counts);
        };
        let next = json!({"scroll": "1m", "scroll_id": scroll_id});
        page = asked(request, "/_search/scroll".to_owned(), "", next).await?;
    }
}

/// Sends a request to the search API.
async fn asked(
    request: &ChangeRequest<'_>,
    path: String,
    query: &str,
    body: Value,
) -> Result<Value, Problem> {
    let search = HttpRequest {
        method: "POST".to_owned(),
        path,
        query: query.to_owned(),
        body: body.to_string().into_bytes(),
    };
    let known = || request.searcher.index_names();
    let search = match request.root {
        Some(root) => resolved(search, &root.aliases(), known)?,
        None => search,
    };
    let answer = request
        .searcher
        .http(search, request.caller, request.limits)
        .await
        .response;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is_partial = body.pointer("/_shards/failed").and_then(Value::as_u64) > Some(0);
    match answer.status {
        200 if !is_partial => Ok(body),
        status => Err(Problem {
            detail: None,
            status: StatusCode::from_u16(status)
                .ok()
                .filter(|_| !is_partial)
                .unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
            kind: "search_phase_execution_exception",
            reason: body
                .pointer("/error/reason")
                .and_then(Value::as_str)
                .unwrap_or("the documents cannot be read")
                .to_owned(),
        }),
    }
}

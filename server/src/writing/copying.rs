//! Elasticsearch's `_update_by_query`, and `_reindex` within a server: documents that a search finds are written again, page
//! by page, as a script makes them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use canter_index_builder::LiveVersion;
use canter_intake::{Acknowledge, Condition, Lane, LineOutcome, Operation};
use canter_runtime::session::HttpRequest;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::adding::{Absent, add_to, lanes_of};
use super::bulk::{check_shows_whole, millis, no_deleting};
use super::declaring::declare;
use super::scripts::{Scripting, Seen, Use, Wanted};
use crate::indexes::{Writers, resolved};
use crate::requests::{ChangeRequest, Params, Problem, fail, json_of, refused_document, respond};

/// Documents that are read and written at once.
const PAGE_DOCS: u64 = 1000;

/// Maximum number of indexes that a script writes documents of a page into.
const MAX_INDEXES: usize = 64;

/// What became of the documents so far.
#[derive(Default)]
struct Counts {
    num_read: u64,
    num_created: u64,
    num_updated: u64,
    num_conflicts: u64,
    num_deleted: u64,
    num_unchanged: u64,
    num_batches: u64,
}

/// What is copied.
struct Copying {
    /// Names and patterns of the indexes that are searched.
    from: String,
    search: Map<String, Value>,
    max_docs: u64,
    /// The index to write into; that of each document if absent.
    to: Option<String>,
    /// Whether documents that are there stay as they are.
    creates: bool,
    /// Whether conflicts are counted, and end nothing.
    proceeds: bool,
    script: Option<Scripting>,
}

/// Handles `POST /<indexes>/_update_by_query`.
pub(super) async fn update_by_query(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    indexes: &str,
    body: &[u8],
) -> Response {
    let read = || {
        let mut params = Params::of(request.query).map_err(Problem::illegal)?;
        let proceeds = params.text("conflicts").as_deref() == Some("proceed");
        let mut body = object(json_of(body)?, "the body")?;
        let script = body.remove("script").filter(|script| !script.is_null());
        let script = script.map(|script| Scripting::read(script, false));
        let script = script.transpose()?;
        let of_url = params
            .text("q")
            .map(|query| json!({"query_string": {"query": query}}));
        let query = body
            .remove("query")
            .or(of_url)
            .unwrap_or_else(|| json!({"match_all": {}}));
        let copying = Copying {
            from: indexes.to_owned(),
            search: Map::from_iter([("query".to_owned(), query)]),
            max_docs: max_docs(&mut params, &mut body)?,
            to: None,
            creates: false,
            proceeds: proceeds || body.remove("conflicts") == Some("proceed".into()),
            script,
        };
        finished(&mut params, &body)?;
        Ok((params, copying))
    };
    copied(writers, request, read()).await
}

/// Handles `POST /_reindex`.
pub(super) async fn reindex(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    body: &[u8],
) -> Response {
    let read = || {
        let mut params = Params::of(request.query).map_err(Problem::illegal)?;
        let mut body = object(json_of(body)?, "the body")?;
        let script = body.remove("script").filter(|script| !script.is_null());
        let script = script.map(|script| Scripting::read(script, false));
        let script = script.transpose()?;
        let mut source = object(body.remove("source").unwrap_or_default(), "[source]")?;
        let mut to = object(body.remove("dest").unwrap_or_default(), "[dest]")?;
        let from = match source.remove("index") {
            Some(Value::String(name)) => name,
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(","),
            _ => String::new(),
        };
        let Some(index) = to
            .remove("index")
            .and_then(|index| index.as_str().map(str::to_owned))
        else {
            return Err(Problem::illegal("[dest] needs an [index]"));
        };
        if from.is_empty() {
            return Err(Problem::illegal("[source] needs an [index]"));
        }
        let creates = match to.remove("op_type") {
            None => false,
            Some(Value::String(verb)) if verb == "index" => false,
            Some(Value::String(verb)) if verb == "create" => true,
            Some(other) => return Err(Problem::illegal(format!("[op_type] cannot be [{other}]"))),
        };
        let mut search = Map::new();
        for key in ["query", "_source"] {
            search.extend(source.remove(key).map(|value| (key.to_owned(), value)));
        }
        source.remove("size");
        for (what, rest) in [("source", &source), ("dest", &to)] {
            if let Some(key) = rest.keys().next() {
                return Err(Problem::illegal(format!(
                    "[{key}] of [{what}] is not supported"
                )));
            }
        }
        let copying = Copying {
            from,
            search,
            max_docs: max_docs(&mut params, &mut body)?,
            to: Some(request.target(&index, false)?.into_owned()),
            creates,
            proceeds: body.remove("conflicts") == Some("proceed".into()),
            script,
        };
        finished(&mut params, &body)?;
        Ok((params, copying))
    };
    copied(writers, request, read()).await
}

fn object(value: Value, what: &str) -> Result<Map<String, Value>, Problem> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(object) => Ok(object),
        _ => Err(Problem::invalid(
            "parsing_exception",
            format!("{what} is no object"),
        )),
    }
}

pub(super) fn max_docs(params: &mut Params, body: &mut Map<String, Value>) -> Result<u64, Problem> {
    let of_url = params.text("max_docs").map(|text| text.parse().ok());
    let of_body = body.remove("max_docs").map(|value| value.as_u64());
    match of_url.or(of_body) {
        None => Ok(u64::MAX),
        Some(Some(max @ 1..)) => Ok(max),
        Some(_) => Err(Problem::illegal("[max_docs] is a number from 1")),
    }
}

/// Refuses what was not used.
fn finished(params: &mut Params, body: &Map<String, Value>) -> Result<(), Problem> {
    if let Some(key) = body.keys().next() {
        return Err(Problem::illegal(format!(
            "unknown field [{key}] in the body"
        )));
    }
    let mut take = || {
        params.one_of("wait_for_completion", &["true", ""])?;
        params.one_of("slices", &["1", "auto"])?;
        params.one_of("requests_per_second", &["-1"])?;
        for flag in [
            "refresh",
            "ignore_unavailable",
            "allow_no_indices",
            "request_cache",
        ] {
            params.flag(flag)?;
        }
        for text in [
            "expand_wildcards",
            "scroll",
            "scroll_size",
            "search_timeout",
            "search_type",
            "preference",
        ] {
            params.text(text);
        }
        params.finish()
    };
    take().map_err(Problem::illegal)
}

async fn copied(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    read: Result<(Params, Copying), Problem>,
) -> Response {
    let started = Instant::now();
    let carried_out = async {
        let (params, copying) = read?;
        let counts = copy(writers, request, &copying).await?;
        Ok::<_, Problem>((params, copying, counts))
    };
    let (params, copying, counts) = match carried_out.await {
        Ok(done) => done,
        Err(problem) => return fail(request, &problem),
    };
    let status = match counts.num_conflicts > 0 && !copying.proceeds {
        true => StatusCode::CONFLICT,
        false => StatusCode::OK,
    };
    let answer = json!({
        "took": millis(started), "timed_out": false, "total": counts.num_read, "updated": counts.num_updated,
        "created": counts.num_created, "deleted": counts.num_deleted, "batches": counts.num_batches,
        "version_conflicts": counts.num_conflicts, "noops": counts.num_unchanged, "retries": {"bulk": 0, "search": 0},
        "throttled_millis": 0, "requests_per_second": -1.0, "throttled_until_millis": 0, "failures": [],
    });
    respond(request, &params, status, answer)
}

async fn copy(
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
        write(writers, request, copying, &hits, &mut counts).await?;
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

/// Document of a page, as it is written.
struct Hit {
    index: String,
    id: String,
    routing: Option<String>,
    /// The document; it is deleted if absent.
    source: Option<Box<RawValue>>,
    seq_no: Option<u64>,
}

/// Returns what is written of a document that was found; nothing if it stays as it is.
///
/// # Errors
/// The script fails, or asks for what cannot be done.
fn hit_of(
    request: &ChangeRequest<'_>,
    copying: &Copying,
    found: &Value,
) -> Result<Option<Hit>, Problem> {
    let text = |key: &str| found[key].as_str().map(str::to_owned);
    let seen = Seen {
        index: text("_index").unwrap_or_default(),
        id: text("_id").unwrap_or_default(),
        routing: text("_routing"),
        version: found["_version"].as_u64(),
    };
    let to = copying.to.clone().unwrap_or_else(|| seen.index.clone());
    let raw = |source: String| RawValue::from_string(source).ok();
    let mut hit = Hit {
        index: to,
        id: seen.id.clone(),
        routing: seen.routing.clone(),
        source: None,
        seq_no: found["_seq_no"].as_u64(),
    };
    let Some(script) = &copying.script else {
        hit.source = raw(found["_source"].to_string());
        return Ok(Some(hit));
    };
    let source = found["_source"].as_object().cloned().unwrap_or_default();
    let of = match copying.to {
        Some(_) => Use::Copy,
        None => Use::ByQuery,
    };
    let made = script.run(source, &seen, of)?;
    if made.seen.index != seen.index {
        hit.index = request.target(&made.seen.index, false)?.into_owned();
    }
    (hit.id, hit.routing) = (made.seen.id, made.seen.routing);
    match made.wanted {
        Wanted::Unchanged => return Ok(None),
        Wanted::Deleted if !request.may_delete => return Err(no_deleting()),
        Wanted::Deleted => {}
        Wanted::Written => hit.source = raw(Value::Object(made.source).to_string()),
    }
    Ok(Some(hit))
}

async fn write(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    copying: &Copying,
    hits: &[Value],
    counts: &mut Counts,
) -> Result<(), Problem> {
    let mut by_index: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
    for found in hits {
        match hit_of(request, copying, found)? {
            Some(hit) => by_index.entry(hit.index.clone()).or_default().push(hit),
            None => counts.num_unchanged += 1,
        }
    }
    if copying.script.is_some() && by_index.len() > MAX_INDEXES {
        return Err(Problem::illegal(format!(
            "the script writes into more than {MAX_INDEXES} indexes at once"
        )));
    }
    for (index, page) in &by_index {
        let page = page.as_slice();
        let sources = page.iter().map(|hit| hit.source.as_ref());
        let sources: Vec<Option<&[u8]>> = sources
            .map(|source| source.map(|source| source.get().as_bytes()))
            .collect();
        let target = (index.as_str(), Absent::MadeForCopies);
        let problems = declare(writers, request, target, &sources).await?;
        if let Some(problem) = problems.into_iter().flatten().next() {
            return Err(problem);
        }
        let add = |lane: Arc<Lane>| async move { add_page(writers, &lane, copying, page).await };
        for outcome in add_to(writers, request, index, Absent::MadeForCopies, add).await? {
            match outcome {
                LineOutcome::Added(_) | LineOutcome::Created(_) => counts.num_created += 1,
                LineOutcome::Updated(_) => counts.num_updated += 1,
                LineOutcome::Conflict(_) => counts.num_conflicts += 1,
                LineOutcome::Deleted(_) => counts.num_deleted += 1,
                LineOutcome::NotFound(_) => {}
            }
        }
    }
    Ok(())
}

/// Writes documents into an index, all or none of a page.
async fn add_page(
    writers: &Writers,
    lane: &Lane,
    copying: &Copying,
    page: &[Hit],
) -> Result<Vec<LineOutcome>, Problem> {
    let turn = writers.turn_to_read().await?;
    let checked = tokio::task::block_in_place(|| {
        let id_field = lane
            .id_field()
            .map_err(|refusal| Problem::refused(&refusal))?;
        let mut problem = None;
        let documents = page.iter().filter_map(|hit| hit.source.as_ref());
        let documents = documents.map(|source| source.get().as_bytes());
        let told = lane.check_each(documents, &mut |found| problem = problem.take().or(found));
        told.map_err(|refusal| Problem::refused(&refusal))?;
        let keeps_routing = lane
            .keeps_routing()
            .map_err(|refusal| Problem::refused(&refusal))?;
        match problem {
            Some(problem) => Err(refused_document(problem)),
            None => Ok((id_field, keeps_routing)),
        }
    });
    let (id_field, keeps_routing) = checked?;
    drop(turn);
    let changes_ids = copying.to.is_none() || page.iter().any(|hit| hit.source.is_none());
    if id_field.is_none() && changes_ids {
        return Err(Problem::illegal(
            "documents are written again by their ids, and this index takes none: its config has no id_field",
        ));
    }
    let has_ids = id_field.is_some();
    let operations: Vec<Operation<'_>> = page
        .iter()
        .map(|hit| {
            let condition = match (copying.creates, &copying.to, hit.seq_no) {
                (true, ..) => Some(Condition::Absent),
                (false, None, Some(seq_no)) => Some(Condition::SeqNo(seq_no)),
                _ => None,
            };
            Operation {
                id: has_ids.then_some(hit.id.as_str()),
                document: hit.source.as_ref().map(|source| source.get().as_bytes()),
                routing: hit.routing.as_deref().filter(|_| keeps_routing),
                condition: condition.filter(|_| has_ids),
            }
        })
        .collect();
    let taken = lane
        .perform(&operations, id_field.as_deref(), Acknowledge::PublishedNow)
        .await;
    let taken = taken.map_err(|refusal| Problem::refused(&refusal))?;
    match taken.outcomes.is_empty() {
        true => {
            let first = LiveVersion {
                version: 1,
                seq_no: None,
            };
            Ok(vec![LineOutcome::Added(first); page.len()])
        }
        false => Ok(taken.outcomes),
    }
}

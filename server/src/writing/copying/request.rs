//! Reads requests, and answers them.

use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::super::bulk::millis;
use super::super::scripts::{Scripting, stored_scripts};
use super::run::copy;
use super::what::Copying;
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Params, Problem, fail, json_of, respond};

/// Handles `POST /<indexes>/_update_by_query`.
pub(in crate::writing) async fn update_by_query(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    indexes: &str,
    body: &[u8],
) -> Response {
    let stored = match stored_scripts(request, Some(body)).await {
        Ok(stored) => stored,
        Err(problem) => return fail(request, &problem),
    };
    let read = || {
        let mut params = Params::of(request.query).map_err(Problem::illegal)?;
        let proceeds = params.text("conflicts").as_deref() == Some("proceed");
        let mut body = object(json_of(body)?, "the body")?;
        let script = body.remove("script").filter(|script| !script.is_null());
        let script = script.map(|script| Scripting::read(script, false, stored.as_deref()));
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
            pipeline: params.text("pipeline"),
        };
        finished(&mut params, &body)?;
        Ok((params, copying))
    };
    copied(writers, request, read()).await
}

/// Handles `POST /_reindex`.
pub(in crate::writing) async fn reindex(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    body: &[u8],
) -> Response {
    let stored = match stored_scripts(request, Some(body)).await {
        Ok(stored) => stored,
        Err(problem) => return fail(request, &problem),
    };
    let read = || {
        let mut params = Params::of(request.query).map_err(Problem::illegal)?;
        let mut body = object(json_of(body)?, "the body")?;
        let script = body.remove("script").filter(|script| !script.is_null());
        let script = script.map(|script| Scripting::read(script, false, stored.as_deref()));
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
        let pipeline = to.remove("pipeline");
        let pipeline = pipeline.and_then(|name| name.as_str().map(str::to_owned));
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
            pipeline,
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

pub(in crate::writing) fn max_docs(
    params: &mut Params,
    body: &mut Map<String, Value>,
) -> Result<u64, Problem> {
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

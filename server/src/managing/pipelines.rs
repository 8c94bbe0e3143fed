//! Elasticsearch's `_ingest/pipeline/_simulate`: what pipelines make of documents, without adding them.

use std::sync::Arc;

use axum::http::StatusCode;
use canter_index_builder::unix_time_ms;
use canter_pipelines::{
    Document, Metadata, Outcome, Pipeline, Pipelines, Step, StepStatus, builtin_patterns,
};
use serde_json::{Map, Value, json};

use super::answered::{Answered, finish};
use crate::indexes::{Kept, Root, utc_of};
use crate::requests::{Params, Problem, json_of};

/// Maximum number of documents of a request.
const MAX_DOCUMENTS: usize = 1_000;

/// Maximum number of documents of which each step is shown.
const MAX_VERBOSE: usize = 20;

/// Reads a pipeline.
///
/// # Errors
/// It is invalid.
pub(super) fn compiled(body: &Value) -> Result<Pipeline, Problem> {
    Pipeline::read(body).map_err(|error| Problem {
        detail: Some(Box::new(error.detail().into())).filter(|detail| detail != &json!({}).into()),
        ..Problem::invalid(error.kind, error.reason.clone())
    })
}

/// Handles `GET /_ingest/processor/grok`.
pub(super) fn patterns(params: &mut Params) -> Answered {
    params.flag("s").map_err(Problem::illegal)?;
    params.text("ecs_compatibility");
    finish(params)?;
    Ok((StatusCode::OK, json!({"patterns": builtin_patterns()})))
}

/// Handles `POST /_ingest/pipeline/<name>/_simulate`.
pub(super) async fn simulate(
    root: &Arc<Root>,
    params: &mut Params,
    name: Option<&str>,
    body: &[u8],
) -> Answered {
    let is_verbose = params.flag("verbose").map_err(Problem::illegal)?;
    let is_verbose = is_verbose.unwrap_or(false);
    finish(params)?;
    let mut body: Map<String, Value> = match json_of(body)? {
        Value::Object(body) => body,
        _ => return Err(Problem::parsing("the body is an object")),
    };
    let kept = root.kept().await?;
    let (name, pipeline) = pipeline_of(&kept, name, body.remove("pipeline"))?;
    let documents = match body.remove("docs") {
        Some(Value::Array(documents)) if !documents.is_empty() => documents,
        _ => {
            return Err(Problem::illegal(
                "must specify at least one document in [docs]",
            ));
        }
    };
    if let Some(unknown) = body.keys().next() {
        return Err(Problem::parsing(format!(
            "unknown key [{unknown}] in the body"
        )));
    }
    let most = if is_verbose {
        MAX_VERBOSE
    } else {
        MAX_DOCUMENTS
    };
    if documents.len() > most {
        return Err(Problem::illegal(format!(
            "at most {most} documents are simulated at once"
        )));
    }
    let now_ms = unix_time_ms();
    let told = tokio::task::block_in_place(|| {
        let told = documents.into_iter().map(|document| {
            let mut document = document_of(document, now_ms)?;
            let with = (name, &pipeline);
            Ok(of_one(
                &kept.pipelines,
                with,
                &mut document,
                (now_ms, is_verbose),
            ))
        });
        told.collect::<Result<Vec<Value>, Problem>>()
    });
    Ok((StatusCode::OK, json!({ "docs": told? })))
}

/// Returns the pipeline that is simulated, and its name: a stored one, or that of the body.
fn pipeline_of<'n>(
    kept: &Kept,
    name: Option<&'n str>,
    given: Option<Value>,
) -> Result<(&'n str, Pipeline), Problem> {
    match (name, given) {
        (None, Some(pipeline)) => Ok(("_simulate_pipeline", compiled(&pipeline)?)),
        (None, None) => Err(Problem::invalid(
            "parse_exception",
            "[pipeline] required property is missing",
        )),
        (Some(_), Some(_)) => Err(Problem::parsing(
            "[pipeline] of the body and a name in the path exclude each other",
        )),
        (Some(name), None) => {
            let stored = kept.templates.pipelines.get(name);
            let stored = stored
                .ok_or_else(|| Problem::illegal(format!("pipeline [{name}] does not exist")))?;
            Ok((name, compiled(stored)?))
        }
    }
}

fn document_of(given: Value, now_ms: u64) -> Result<Document, Problem> {
    let Value::Object(mut given) = given else {
        return Err(Problem::parsing("an element of [docs] is an object"));
    };
    let Some(Value::Object(source)) = given.remove("_source") else {
        return Err(Problem::invalid(
            "parse_exception",
            "[_source] required property is missing",
        ));
    };
    let mut text = |name: &str| match given.remove(name) {
        Some(Value::String(text)) => Some(text),
        Some(value @ Value::Number(_)) => Some(value.to_string()),
        _ => None,
    };
    let meta = Metadata {
        index: text("_index").unwrap_or_else(|| "_index".to_owned()),
        id: Some(text("_id").unwrap_or_else(|| "_id".to_owned())),
        routing: text("_routing"),
    };
    Ok(Document::new(source, meta, &utc_of(now_ms)))
}

fn of_one(
    pipelines: &Pipelines,
    with: (&str, &Pipeline),
    document: &mut Document,
    (now_ms, is_verbose): (u64, bool),
) -> Value {
    let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
    let (outcome, steps) = pipelines.simulate(with, document, (now, is_verbose));
    if is_verbose {
        let ingest = json!({"timestamp": utc_of(now_ms), "pipeline": with.0});
        let steps = steps.iter().map(|step| step_as_json(step, &ingest));
        return json!({"processor_results": steps.collect::<Vec<_>>()});
    }
    match outcome {
        Err(failure) => json!({"error": failure.to_json()}),
        Ok(Outcome::Dropped) => Value::Null,
        Ok(Outcome::Passed) => {
            let ingest = document.ingest.clone().into();
            json!({"doc": as_json(&document.source, &document.meta, &ingest)})
        }
    }
}

fn as_json(source: &Map<String, Value>, meta: &Metadata, ingest: &Value) -> Value {
    let mut told = json!({
        "_index": meta.index, "_version": "-3", "_id": meta.id, "_source": source, "_ingest": ingest,
    });
    if let Some(routing) = &meta.routing {
        told["_routing"] = routing.as_str().into();
    }
    told
}

fn step_as_json(step: &Step, ingest: &Value) -> Value {
    let mut told = json!({"processor_type": step.kind});
    for (name, value) in [("tag", &step.tag), ("description", &step.description)] {
        if let Some(value) = value {
            told[name] = value.as_str().into();
        }
    }
    told["status"] = match &step.status {
        StepStatus::Success => "success",
        StepStatus::Skipped => "skipped",
        StepStatus::Dropped => "dropped",
        StepStatus::Ignored(_) => "error_ignored",
        StepStatus::Failed(_) => "error",
    }
    .into();
    match &step.status {
        StepStatus::Ignored(failure) => told["ignored_error"] = json!({"error": failure.to_json()}),
        StepStatus::Failed(failure) => told["error"] = failure.to_json(),
        _ => {}
    }
    if let Some((source, meta)) = &step.document {
        told["doc"] = as_json(source, meta, ingest);
    }
    told
}

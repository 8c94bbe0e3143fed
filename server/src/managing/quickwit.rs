//! Quickwit's requests to create, clear and delete indexes.
//! <https://quickwit.io/docs/reference/rest-api#index-api>

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::IndexSettings;
use serde_json::{Value, json};

use super::answered::{Answered, check_allowed, finish};
use crate::indexes::Root;
use crate::requests::{ChangeRequest, Params, Problem, check_values};

/// Maximum size of an index config in YAML, whose parser takes a hundred times its input.
const MAX_YAML_BYTES: usize = 512 << 10;

/// Handles `POST /api/v1/indexes`: an index config in JSON or YAML.
pub(super) async fn create(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    body: &[u8],
) -> Answered {
    let overwrites = params.flag("overwrite").map_err(Problem::illegal)?;
    finish(params)?;
    let config = tokio::task::block_in_place(|| read_config(request, body))?;
    let name = config.index_id.clone();
    check_allowed(request, &name)?;
    let shown = serde_json::to_value(&config)
        .map_err(|error| Problem::internal(format!("the index config: {error}")))?;
    let replaces = overwrites.unwrap_or(false);
    let of_work = name.clone();
    let created_at = root
        .work(move |root| {
            match replaces {
                true => root.look()?,
                false => root.check_new(&of_work)?,
            }
            root.make(&of_work, &config, (false, &IndexSettings::new()), replaces)?;
            Ok(root
                .entry(&of_work)
                .map(|entry| entry.created_at_ms / 1_000))
        })
        .await?;
    let answer = json!({
        "version": shown["version"], "index_uid": name, "index_config": shown, "checkpoint": {},
        "create_timestamp": created_at, "sources": [],
    });
    Ok((StatusCode::OK, answer))
}

fn read_config(request: &ChangeRequest<'_>, body: &[u8]) -> Result<IndexConfig, Problem> {
    let kind = request.headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    check_values(body).map_err(Problem::illegal)?;
    let config = match kind {
        "application/yaml" | "application/x-yaml" | "text/yaml" if body.len() > MAX_YAML_BYTES => {
            return Err(Problem {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                ..Problem::illegal(format!(
                    "the index config has {} bytes, more than the {MAX_YAML_BYTES} that are read of YAML: send it as JSON",
                    body.len()
                ))
            });
        }
        // Clients must not learn the server's environment variables.
        "application/yaml" | "application/x-yaml" | "text/yaml" => std::str::from_utf8(body)
            .map_err(|error| Problem::illegal(format!("the body is no UTF-8: {error}")))
            .map(|text| IndexConfig::from_yaml(text, |_| None))?,
        "" | "application/json" | "application/x-www-form-urlencoded" => {
            IndexConfig::from_json(body)
        }
        other => {
            return Err(Problem {
                detail: None,
                status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
                kind: "illegal_argument_exception",
                reason: format!(
                    "an index config in {other:?} is not read: send application/json or application/yaml"
                ),
            });
        }
    };
    config.map_err(|error| Problem::illegal(format!("index config: {error}")))
}

/// Handles `DELETE /api/v1/indexes/<index>`.
pub(super) async fn delete(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    name: &str,
) -> Answered {
    params
        .one_of("dry_run", &["false"])
        .map_err(Problem::illegal)?;
    finish(params)?;
    let name = known(request, name)?;
    let removed = root
        .work(move |root| {
            check_not_fixed(root, &name)?;
            let removed = root.delete(&name)?;
            removed.ok_or_else(|| no_index(&name))
        })
        .await?;
    let splits = removed.iter().filter_map(|(object, num_bytes)| {
        let (folder, file) = object.rsplit_once('/')?;
        let is_split = folder.ends_with("/splits");
        is_split.then(|| {
            let id = file.strip_suffix(".split").unwrap_or(file);
            json!({"split_id": id, "file_name": file, "file_size_bytes": num_bytes})
        })
    });
    let splits: Vec<Value> = splits.collect();
    Ok((StatusCode::OK, splits.into()))
}

/// Handles `PUT /api/v1/indexes/<index>/clear`: the same index without documents.
pub(super) async fn clear(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    name: &str,
) -> Answered {
    finish(params)?;
    let name = known(request, name)?;
    root.work(move |root| {
        check_not_fixed(root, &name)?;
        root.look()?;
        let entry = root.entry(&name).ok_or_else(|| no_index(&name))?;
        let mut config = root.catalog.store_of(&entry)?.load_config()?;
        // The history of the old index.
        config.doc_mapping.added_fields.clear();
        root.make(
            &name,
            &config,
            (entry.is_data_stream, &entry.settings),
            true,
        )
    })
    .await?;
    Ok((StatusCode::OK, Value::Null))
}

/// Returns the name, if a token allows indexes with it; others do not exist for its holder.
fn known(request: &ChangeRequest<'_>, name: &str) -> Result<String, Problem> {
    match request.allows(name) {
        true => Ok(name.to_owned()),
        false => Err(no_index(name)),
    }
}

fn no_index(name: &str) -> Problem {
    Problem {
        reason: format!("index {name:?} is not known"),
        ..Problem::no_index(name)
    }
}

fn check_not_fixed(root: &Root, name: &str) -> Result<(), Problem> {
    match root.is_fixed(name) {
        false => Ok(()),
        true => Err(Problem::illegal(format!(
            "the index {name:?} was named with --index: only those under --indexes-in can be changed here"
        ))),
    }
}

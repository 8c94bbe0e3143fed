//! Elasticsearch's data streams, as far as shippers use them: here each is one index, created from the template that
//! declares it.

use std::sync::Arc;

use axum::http::StatusCode;
use canter_access::matches_any;
use serde_json::{Value, json};

use super::answered::{Answered, check_allowed, finish};
use super::indexes::{delete_all, names_of};
use crate::indexes::{Root, kept_settings, set_of};
use crate::requests::{ChangeRequest, Params, Problem};

/// Handles `PUT /_data_stream/<name>`.
pub(super) async fn create(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    name: &str,
) -> Answered {
    finish(params)?;
    check_allowed(request, name)?;
    let name = name.to_owned();
    root.work(move |root| {
        root.check_new(&name)?;
        let templated = root.templated(&name)?;
        let Some(templated) = templated.filter(|templated| templated.is_data_stream) else {
            return Err(Problem::illegal(format!(
                "no matching index template found for data stream [{name}]: put one with [data_stream] first"
            )));
        };
        let config = templated.index_config(&name, None)?;
        let settings = kept_settings(Some(&templated), None)?;
        root.make(&name, &config, (true, &settings), false)
    })
    .await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

/// Handles `GET /_data_stream/<names>`.
pub(super) async fn show(root: &Arc<Root>, params: &mut Params, names: Option<&str>) -> Answered {
    params.text("expand_wildcards");
    params.flag("include_defaults").map_err(Problem::illegal)?;
    params.flag("verbose").map_err(Problem::illegal)?;
    finish(params)?;
    root.refresh().await?;
    let streams: Vec<String> = root
        .entries()
        .into_iter()
        .filter(|(_, entry)| entry.is_data_stream)
        .map(|(name, _)| name)
        .collect();
    if names == Some("_stats") {
        return Ok((StatusCode::OK, stats(&streams)));
    }
    let patterns: Vec<String> = names.unwrap_or("*").split(',').map(str::to_owned).collect();
    let is_missing =
        |pattern: &&String| !pattern.contains('*') && !streams.iter().any(|name| name == *pattern);
    if let Some(missing) = patterns.iter().find(is_missing) {
        return Err(Problem::no_index(missing));
    }
    let kept = root.kept().await?;
    let shown = streams
        .iter()
        .filter(|name| matches_any(&patterns, name))
        .map(|name| {
            // It may have been deleted since.
            let template = set_of(&kept.templates).name_of(name).ok().flatten();
            json!({
                "template": template,
                "name": name, "timestamp_field": {"name": "@timestamp"}, "generation": 1, "status": "GREEN",
                "indices": [{"index_name": name, "index_uuid": name}],
                "hidden": false, "system": false, "allow_custom_routing": false, "replicated": false,
            })
        });
    let shown: Vec<Value> = shown.collect();
    Ok((StatusCode::OK, json!({"data_streams": shown})))
}

/// Returns the numbers of data streams. Their sizes are those of `_stats`.
fn stats(streams: &[String]) -> Value {
    let shown = streams.iter();
    let shown = shown.map(|name| json!({"data_stream": name, "backing_indices": 1}));
    json!({
        "_shards": {"total": streams.len(), "successful": streams.len(), "failed": 0},
        "data_stream_count": streams.len(), "backing_indices": streams.len(),
        "data_streams": shown.collect::<Vec<_>>(),
    })
}

/// Handles `DELETE /_data_stream/<names>`.
pub(super) async fn delete(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    names: &str,
) -> Answered {
    params.text("expand_wildcards");
    finish(params)?;
    let names = names_of(names)?;
    let not_one = |name: &&String| {
        let entry = root.entry(name).filter(|_| request.allows(name));
        entry.is_some_and(|entry| !entry.is_data_stream)
    };
    if let Some(name) = names.iter().find(not_one) {
        return Err(Problem::illegal(format!(
            "[{name}] is an index, and no data stream: delete it as an index"
        )));
    }
    delete_all(root, request, names, false).await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

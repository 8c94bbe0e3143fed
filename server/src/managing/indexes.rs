//! Elasticsearch's `PUT /<index>` and `DELETE /<indexes>`.

use std::sync::Arc;

use axum::http::StatusCode;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::unix_time_ms;
use canter_intake::{IndexParts, MappingError, with_mapping, with_settings};
use canter_names::{MayBeAbsent, listed_names};
use serde_json::{Value, json};

use super::answered::{Answered, check_allowed, finish};
use crate::indexes::{Root, written_out};
use crate::requests::{ChangeRequest, Params, Problem, json_of};

/// Handles `PUT /<index>`.
pub(super) async fn create(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    name: &str,
    body: &[u8],
) -> Answered {
    // Mappings have had no types since version 8 of Elasticsearch.
    if params.flag("include_type_name").map_err(Problem::illegal)? == Some(true) {
        return Err(Problem::illegal(
            "[include_type_name] can only be false: mappings have no types",
        ));
    }
    finish(params)?;
    let dated = written_out(name, unix_time_ms())?;
    let name = dated.as_deref().unwrap_or(name);
    check_allowed(request, name)?;
    let own = IndexParts::read(&json_of(body)?, "the body")?;
    let of_work = name.to_owned();
    root.work(move |root| root.make_of(&of_work, own)).await?;
    let answer = json!({"acknowledged": true, "shards_acknowledged": true, "index": name});
    Ok((StatusCode::OK, answer))
}

/// Handles `PUT /<index>/_mapping`.
pub(super) async fn put_mapping(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    name: &str,
    body: &[u8],
) -> Answered {
    ignore_selection(params)?;
    finish(params)?;
    let mapping = json_of(body)?;
    change(root, request, name, move |config| {
        with_mapping(config, &mapping)
    })
    .await
}

/// Handles `PUT /<index>/_settings`.
pub(super) async fn put_settings(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    name: &str,
    body: &[u8],
) -> Answered {
    ignore_selection(params)?;
    params.flag("flat_settings").map_err(Problem::illegal)?;
    if params.flag("preserve_existing").map_err(Problem::illegal)? == Some(true) {
        return Err(Problem::illegal(
            "[preserve_existing] can only be false: name the settings that are to change",
        ));
    }
    params.text("timeout");
    finish(params)?;
    let settings = json_of(body)?;
    set(root, request, name, settings).await
}

/// Handles `PUT /<indexes>/_block/<block>`.
pub(super) async fn block(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    (names, block): (&str, &str),
) -> Answered {
    ignore_selection(params)?;
    finish(params)?;
    if !["write", "read_only"].contains(&block) {
        return Err(Problem::illegal(format!(
            "the block [{block}] is not supported here: there are write and read_only"
        )));
    }
    let listed = listed(root, request, names).await?;
    let setting = format!("index.blocks.{block}");
    set(root, request, names, json!({ setting: true })).await?;
    let indices = listed.iter();
    let indices = indices.map(|name| json!({"name": name, "blocked": true}));
    let answer = json!({
        "acknowledged": true, "shards_acknowledged": true, "indices": indices.collect::<Vec<_>>(),
    });
    Ok((StatusCode::OK, answer))
}

/// Changes settings: of configs, and those that servers heed.
async fn set(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    names: &str,
    settings: Value,
) -> Answered {
    let listed = listed(root, request, names).await?;
    root.work(move |root| {
        for name in &listed {
            root.change_config(name, &|config| with_settings(config, &settings))?;
            root.change_settings(name, &settings)?;
        }
        Ok(())
    })
    .await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

/// Takes the parameters by which Elasticsearch selects indexes, and which change nothing here.
fn ignore_selection(params: &mut Params) -> Result<(), Problem> {
    params
        .flag("ignore_unavailable")
        .map_err(Problem::illegal)?;
    params.flag("allow_no_indices").map_err(Problem::illegal)?;
    params.text("expand_wildcards");
    Ok(())
}

/// Changes the configs of the indexes of a name or pattern.
async fn change(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    name: &str,
    to: impl Fn(&IndexConfig) -> Result<IndexConfig, MappingError> + Send + 'static,
) -> Answered {
    let listed = listed(root, request, name).await?;
    root.work(move |root| {
        for name in &listed {
            if let Some(problem) = root.block_on_changes(name) {
                return Err(problem);
            }
            root.change_config(name, &to)?;
        }
        Ok(())
    })
    .await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

/// Returns the indexes of a name or pattern that can be changed.
async fn listed(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    name: &str,
) -> Result<Vec<String>, Problem> {
    root.refresh().await?;
    let known: Vec<String> = root
        .entries()
        .into_keys()
        .filter(|name| request.allows(name))
        .collect();
    let names = request.expanded(name, &known)?.names;
    let listed = listed_names(&names, &known, MayBeAbsent::Patterns).map_err(|name| match root.is_fixed(name) {
        true => Problem::illegal(format!(
            "the index [{name}] was named with --index: only those under --indexes-in can be changed here"
        )),
        false => Problem::no_index(name),
    })?;
    match listed.is_empty() {
        true => Err(Problem::no_index(name)),
        false => Ok(listed.into_iter().map(|listed| listed.name).collect()),
    }
}

/// Handles `DELETE /<indexes>`.
pub(super) async fn delete(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    params: &mut Params,
    names: &str,
) -> Answered {
    let ignores_missing = params
        .flag("ignore_unavailable")
        .map_err(Problem::illegal)?;
    params.flag("allow_no_indices").map_err(Problem::illegal)?;
    params.text("expand_wildcards");
    finish(params)?;
    let names = names_of(names)?;
    delete_all(root, request, names, ignores_missing.unwrap_or(false)).await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

/// Returns the names in a list. Patterns are refused, so that a mistake cannot delete everything.
pub(super) fn names_of(names: &str) -> Result<Vec<String>, Problem> {
    let names: Vec<String> = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let may_be_several =
        |name: &String| name == "_all" || name.contains('*') || name.starts_with('-');
    match names.is_empty() || names.iter().any(may_be_several) {
        true => Err(Problem::illegal(
            "Wildcard expressions or all indices are not allowed: name each index that is to be deleted",
        )),
        false => Ok(names),
    }
}

/// Deletes all of these, or, if one of them cannot be deleted, none.
pub(super) async fn delete_all(
    root: &Arc<Root>,
    request: &ChangeRequest<'_>,
    names: Vec<String>,
    ignores_missing: bool,
) -> Result<(), Problem> {
    let mut allowed = Vec::new();
    for name in names {
        match request.allows(&name) {
            true => allowed.push(name),
            false if ignores_missing => {}
            false => return Err(Problem::no_index(&name)),
        }
    }
    root.work(move |root| {
        root.look()?;
        let mut found = Vec::new();
        for name in &allowed {
            if root.is_fixed(name) {
                return Err(Problem::illegal(format!(
                    "the index [{name}] was named with --index: only those under --indexes-in can be deleted here"
                )));
            }
            match root.entry(name) {
                None if root.aliases().contains_key(name) => {
                    return Err(Problem::illegal(format!(
                        "The provided expression [{name}] matches an alias, specify the corresponding concrete indices instead."
                    )));
                }
                Some(_) => match root.block_on_changes(name) {
                    Some(problem) => return Err(problem),
                    None => found.push(name),
                },
                None if ignores_missing => {}
                None => return Err(Problem::no_index(name)),
            }
        }
        for name in found {
            // Another server may have deleted it at the same time.
            root.delete(name)?;
        }
        Ok(())
    })
    .await
}

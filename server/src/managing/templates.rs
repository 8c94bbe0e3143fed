//! Templates: putting, showing and deleting them. They are checked when they are put, and when an index is created from
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use canter_access::matches_any;
use canter_index_builder::Templates;
use canter_intake::{TemplateKind, check_template};
use serde_json::{Map, Value, json};

use super::answered::{Answered, finish};
use super::pipelines::compiled;
use crate::indexes::{Root, set_of};
use crate::requests::{Params, Problem, json_of};
use crate::writing::check_script;

/// Maximum number of templates of one kind.
const MAX_TEMPLATES: usize = 500;

/// Handles `PUT /_index_template/<name>` and the like.
pub(super) async fn put(
    root: &Arc<Root>,
    params: &mut Params,
    kind: TemplateKind,
    name: &str,
    body: &[u8],
) -> Answered {
    let must_be_new = params.flag("create").map_err(Problem::illegal)?;
    let must_be_new = must_be_new.unwrap_or(false);
    params.text("cause");
    let order = params.text("order");
    finish(params)?;
    let mut body = json_of(body)?;
    if let (Some(order), Some(body)) = (order, body.as_object_mut()) {
        // Only legacy templates have it.
        let order: i64 = order
            .parse()
            .map_err(|_| Problem::illegal(format!("[order] is a number, and not [{order}]")))?;
        body.insert("order".to_owned(), order.into());
    }
    check_programs(kind, &body)?;
    let name = name.to_owned();
    root.work(move |root| {
        let changed = root.catalog.change_templates(|templates| {
            let is_there = of_kind(templates, kind).contains_key(&name);
            if is_there && must_be_new {
                return Err(Problem::illegal(format!(
                    "{} [{name}] already exists",
                    called(kind)
                )));
            }
            if !is_there && of_kind(templates, kind).len() >= MAX_TEMPLATES {
                return Err(Problem::illegal(format!(
                    "there are {MAX_TEMPLATES} templates of this kind, which is as many as may be: delete some"
                )));
            }
            check_template(kind, &name, &body, set_of(templates))?;
            if kind == TemplateKind::Component {
                check_users(templates, &name, &body)?;
            }
            of_kind_mut(templates, kind).insert(name.clone(), body.clone());
            Ok(())
        });
        root.forget_kept();
        changed?
    })
    .await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

/// Compiles what is run for documents.
fn check_programs(kind: TemplateKind, body: &Value) -> Result<(), Problem> {
    match kind {
        TemplateKind::Pipeline => compiled(body).map(drop),
        TemplateKind::Search if body["script"]["lang"] == "painless" => {
            check_script(&body["script"])
        }
        _ => Ok(()),
    }
}

/// Checks that the templates composed of a changed component remain valid.
fn check_users(templates: &Templates, name: &str, body: &Value) -> Result<(), Problem> {
    let users = set_of(templates).composed_of(name);
    if users.is_empty() {
        return Ok(());
    }
    let mut changed = templates.clone();
    changed.component.insert(name.to_owned(), body.clone());
    for user in users {
        if let Some(template) = templates.index.get(user) {
            check_template(TemplateKind::Index, user, template, set_of(&changed))?;
        }
    }
    Ok(())
}

/// Handles `GET` and `HEAD /_index_template/<names>` and the like.
pub(super) async fn show(
    root: &Arc<Root>,
    params: &mut Params,
    kind: TemplateKind,
    names: Option<&str>,
) -> Answered {
    for means_nothing in ["local", "flat_settings", "include_defaults"] {
        params.flag(means_nothing).map_err(Problem::illegal)?;
    }
    finish(params)?;
    let templates = root
        .work(|root| root.catalog.templates().map_err(Problem::from))
        .await?;
    let all = of_kind(&templates, kind);
    if kind == TemplateKind::Search {
        return Ok(shown_search(all, names.unwrap_or_default()));
    }
    let patterns: Vec<String> = names.unwrap_or("*").split(',').map(str::to_owned).collect();
    let is_missing = |pattern: &&String| !pattern.contains('*') && !all.contains_key(*pattern);
    if let Some(missing) = patterns.iter().find(is_missing) {
        if kind == TemplateKind::Legacy {
            return Ok((StatusCode::NOT_FOUND, json!({})));
        }
        return Err(Problem {
            detail: None,
            status: StatusCode::NOT_FOUND,
            kind: "resource_not_found_exception",
            reason: format!("{} matching [{missing}] not found", called(kind)),
        });
    }
    let found = all.iter().filter(|(name, _)| matches_any(&patterns, name));
    let answer = match kind {
        TemplateKind::Index => {
            let list = found.map(|(name, body)| json!({"name": name, "index_template": body}));
            json!({"index_templates": list.collect::<Vec<_>>()})
        }
        TemplateKind::Component => {
            let list = found.map(|(name, body)| json!({"name": name, "component_template": body}));
            json!({"component_templates": list.collect::<Vec<_>>()})
        }
        TemplateKind::Legacy
        | TemplateKind::Search
        | TemplateKind::Policy
        | TemplateKind::Pipeline => {
            let by_name = found.map(|(name, body)| (name.clone(), body.clone()));
            by_name.collect::<Map<String, Value>>().into()
        }
    };
    Ok((StatusCode::OK, answer))
}

/// Handles `POST /_index_template/_simulate_index/<name>`.
pub(super) async fn simulate(root: &Arc<Root>, params: &mut Params, name: &str) -> Answered {
    params.flag("include_defaults").map_err(Problem::illegal)?;
    finish(params)?;
    let name = name.to_owned();
    let answer = root.work(move |root| {
        let templates = root.catalog.templates()?;
        let set = set_of(&templates);
        let Some(templated) = set.of_index(&name)? else {
            return Ok(json!({}));
        };
        let others = set.overlapping(&name)?.into_iter();
        let others =
            others.map(|(name, patterns)| json!({"name": name, "index_patterns": patterns}));
        Ok::<_, Problem>(json!({
            "template": templated.shown(&name)?, "overlapping": others.collect::<Vec<_>>(),
        }))
    });
    Ok((StatusCode::OK, answer.await?))
}

/// Returns the answer to `GET /_scripts/<id>`.
fn shown_search(all: &BTreeMap<String, Value>, id: &str) -> (StatusCode, Value) {
    match all.get(id) {
        Some(body) => {
            let answer = json!({"_id": id, "found": true, "script": body["script"]});
            (StatusCode::OK, answer)
        }
        None => (StatusCode::NOT_FOUND, json!({"_id": id, "found": false})),
    }
}

/// Handles `DELETE /_index_template/<names>` and the like.
pub(super) async fn delete(
    root: &Arc<Root>,
    params: &mut Params,
    kind: TemplateKind,
    names: &str,
) -> Answered {
    finish(params)?;
    let names: Vec<String> = names.split(',').map(str::to_owned).collect();
    root.work(move |root| {
        let changed = root.catalog.change_templates(|templates| {
            for name in &names {
                if kind == TemplateKind::Component {
                    check_unused(templates, name)?;
                }
                let removed = of_kind_mut(templates, kind).remove(name);
                if removed.is_none() {
                    return Err(Problem {
                        detail: None,
                        status: StatusCode::NOT_FOUND,
                        kind: "resource_not_found_exception",
                        reason: format!(
                            "{} [{name}] missing: templates are deleted by their names",
                            called(kind)
                        ),
                    });
                }
            }
            Ok(())
        });
        root.forget_kept();
        changed?
    })
    .await?;
    Ok((StatusCode::OK, json!({"acknowledged": true})))
}

fn check_unused(templates: &Templates, name: &str) -> Result<(), Problem> {
    let users = set_of(templates).composed_of(name);
    match users.is_empty() {
        true => Ok(()),
        false => Err(Problem::illegal(format!(
            "component templates [{name}] cannot be removed as they are still in use by index templates [{}]",
            users.join(", ")
        ))),
    }
}

fn of_kind(templates: &Templates, kind: TemplateKind) -> &BTreeMap<String, Value> {
    match kind {
        TemplateKind::Index => &templates.index,
        TemplateKind::Component => &templates.component,
        TemplateKind::Legacy => &templates.legacy,
        TemplateKind::Search => &templates.searches,
        TemplateKind::Policy => &templates.policies,
        TemplateKind::Pipeline => &templates.pipelines,
    }
}

fn of_kind_mut(templates: &mut Templates, kind: TemplateKind) -> &mut BTreeMap<String, Value> {
    match kind {
        TemplateKind::Index => &mut templates.index,
        TemplateKind::Component => &mut templates.component,
        TemplateKind::Legacy => &mut templates.legacy,
        TemplateKind::Search => &mut templates.searches,
        TemplateKind::Policy => &mut templates.policies,
        TemplateKind::Pipeline => &mut templates.pipelines,
    }
}

/// Returns Elasticsearch's name for a kind of template in messages.
fn called(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::Index => "index template",
        TemplateKind::Component => "component template",
        TemplateKind::Legacy => "template",
        TemplateKind::Search => "stored script",
        TemplateKind::Policy => "lifecycle policy",
        TemplateKind::Pipeline => "pipeline",
    }
}

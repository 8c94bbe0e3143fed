//! `PUT /_cluster/settings`: settings of nodes that change nothing here are taken, all others are refused by name.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::answered::{Answered, finish};
use crate::requests::{Params, Problem, json_of};

/// Prefixes of settings of nodes, disks, memory and other products, of which there is nothing here.
const WITHOUT_EFFECT: [&str; 16] = [
    "cluster.info.update.interval",
    "cluster.max_shards_per_node",
    "cluster.no_master_block",
    "cluster.routing.",
    "cluster.service.slow",
    "gateway.",
    "indices.breaker.",
    "indices.recovery.",
    "ingest.geoip.downloader",
    "logger.",
    "network.breaker.",
    "plugins.ml_commons.",
    "search.allow_expensive_queries",
    "slm.",
    "stack.templates.enabled",
    "xpack.",
];

/// Handles `PUT /_cluster/settings`.
pub(super) fn put_settings(params: &mut Params, body: &[u8]) -> Answered {
    params.flag("flat_settings").map_err(Problem::illegal)?;
    params.text("timeout");
    params.text("cluster_manager_timeout");
    finish(params)?;
    let body = json_of(body)?;
    let body = body.as_object().cloned().unwrap_or_default();
    let kinds = ["persistent", "transient"];
    if let Some(other) = body.keys().find(|key| !kinds.contains(&key.as_str())) {
        return Err(Problem::illegal(format!(
            "unknown key [{other}]: there are persistent and transient"
        )));
    }
    let empty = Value::Object(Map::new());
    let given = kinds.map(|kind| {
        body.get(kind)
            .filter(|value| !value.is_null())
            .unwrap_or(&empty)
    });
    if given
        .iter()
        .all(|settings| settings.as_object().is_none_or(Map::is_empty))
    {
        return Err(Problem::invalid(
            "action_request_validation_exception",
            "Validation Failed: 1: no settings to update;",
        ));
    }
    for settings in given {
        check("", settings)?;
    }
    let [persistent, transient] = given;
    Ok((
        StatusCode::OK,
        json!({"acknowledged": true, "persistent": persistent, "transient": transient}),
    ))
}

/// Checks that settings have no effect here; one that is null has its default.
fn check(path: &str, settings: &Value) -> Result<(), Problem> {
    match settings {
        Value::Object(inner) => inner.iter().try_for_each(|(key, value)| {
            let path = match path {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            check(&path, value)
        }),
        Value::Null => Ok(()),
        _ if WITHOUT_EFFECT.iter().any(|prefix| path.starts_with(prefix)) => Ok(()),
        _ => Err(Problem::illegal(format!(
            "the cluster setting [{path}] is not supported: what this server does is set when it starts"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(body: &Value) -> Answered {
        let mut params = Params::of("flat_settings=true").unwrap();
        put_settings(&mut params, body.to_string().as_bytes())
    }

    #[test]
    fn settings_of_nodes_are_taken_and_others_refused() {
        let (status, answer) = put(&json!({
            "persistent": {"cluster": {"routing": {"allocation.enable": "all"}}, "search.max_buckets": null},
            "transient": {"logger.org": "DEBUG"},
        }))
        .unwrap();
        assert_eq!(status, StatusCode::OK);
        assert_eq!(answer["transient"]["logger.org"], "DEBUG");
        for (body, named) in [
            (
                json!({"persistent": {"search": {"max_buckets": 5}}}),
                "[search.max_buckets]",
            ),
            (
                json!({"transient": {"action.auto_create_index": false}}),
                "[action.auto_create_index]",
            ),
            (json!({"defaults": {}}), "[defaults]"),
            (json!({}), "no settings"),
        ] {
            let problem = put(&body).unwrap_err();
            assert_eq!(problem.status, StatusCode::BAD_REQUEST);
            assert!(problem.reason.contains(named), "{}", problem.reason);
        }
    }
}

//! Answers to the first requests of Elasticsearch's clients, about the cluster.

use canter_names::{ELASTIC_VERSION, MayBeAbsent, listed_names};
use canter_protocol::HttpResponse;
use serde_json::{Map, Value, json};

use crate::SearchError;
use crate::api::elastic::errors::elastic_text;
use crate::api::elastic::given::names::ALL;
use crate::api::elastic::given::params::{Common, UrlParams};
use crate::api::settings::ApiSettings;
use crate::root::{put, to_json};

/// The name of the cluster, which is a fiction for clients.
pub(in crate::api::elastic) const CLUSTER: &str = "canter";

/// An answer that is the same for all, and the parameters that have no effect on it.
pub(in crate::api::elastic) struct Fixed {
    pub(in crate::api::elastic) text: fn() -> String,
    pub(in crate::api::elastic) params: &'static [&'static str],
}

/// The answer at the root.
pub(in crate::api::elastic) const INFO: Fixed = Fixed {
    text: info,
    params: &[],
};
pub(in crate::api::elastic) const NODES: Fixed = Fixed {
    text: nodes,
    params: &["flat_settings"],
};
pub(in crate::api::elastic) const LICENSE: Fixed = Fixed {
    text: license,
    params: &["accept_enterprise", "human"],
};
/// The cluster has no settings.
pub(in crate::api::elastic) const SETTINGS: Fixed = Fixed {
    text: || "{\"persistent\":{},\"transient\":{}}".to_owned(),
    params: &["flat_settings", "include_defaults"],
};

/// Returns the answer at the root.
fn info() -> String {
    format!(
        "{{\"name\":\"{CLUSTER}\",\"cluster_name\":\"{CLUSTER}\",\"cluster_uuid\":\"{CLUSTER}\",\"version\":{{\
         \"number\":\"{ELASTIC_VERSION}\",\"build_flavor\":\"default\",\"build_type\":\"canter\",\"build_hash\":\"{}\",\
         \"build_date\":\"1970-01-01T00:00:00Z\",\"build_snapshot\":false,\"lucene_version\":\"9.12.0\",\
         \"minimum_wire_compatibility_version\":\"7.17.0\",\"minimum_index_compatibility_version\":\"7.0.0\"}},\
         \"tagline\":\"You Know, for Search\"}}",
        crate::version()
    )
}

/// Answers a request for the health of indexes; of all, if `names` is absent.
///
/// # Errors
/// If a parameter is invalid.
pub(in crate::api::elastic) fn asked_health(
    names: Option<&str>,
    params: &mut UrlParams,
    common: &Common,
    settings: &ApiSettings,
) -> Result<HttpResponse, SearchError> {
    for without_effect in [
        "wait_for_active_shards",
        "wait_for_events",
        "wait_for_no_initializing_shards",
        "wait_for_no_relocating_shards",
        "wait_for_nodes",
        "timeout",
    ] {
        params.text(without_effect);
    }
    params.choice("wait_for_status", &["green", "yellow", "red"])?;
    let level = params.choice("level", &["cluster", "indices", "shards"])?;
    let may_be_absent = match common.ignores_unavailable {
        true => MayBeAbsent::Everything,
        false => MayBeAbsent::Patterns,
    };
    let listed = listed_names(names.unwrap_or(ALL), &settings.indexes, may_be_absent).ok();
    let listed = listed.map(|listed| listed.into_iter().map(|listed| listed.name).collect());
    let listed: Option<Vec<String>> = listed;
    let (status, health) = health(listed.as_deref(), level);
    Ok(elastic_text(status, to_json(&health, common.is_pretty)?))
}

/// Returns the health of indexes, which is always good, and its status. It is none if one of them does not exist: others
/// would wait for that in vain. `level` is how much is told of each index.
fn health(names: Option<&[String]>, level: Option<&str>) -> (u16, Value) {
    let num_indexes = names.map_or(0, <[String]>::len);
    let colour = if names.is_some() { "green" } else { "red" };
    let mut health = json!({
        "cluster_name": CLUSTER, "status": colour, "timed_out": names.is_none(), "number_of_nodes": 1,
        "number_of_data_nodes": 1, "active_primary_shards": num_indexes, "active_shards": num_indexes,
        "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0, "delayed_unassigned_shards": 0,
        "number_of_pending_tasks": 0, "number_of_in_flight_fetch": 0, "task_max_waiting_in_queue_millis": 0,
        "active_shards_percent_as_number": 100.0,
    });
    if let Some(level @ ("indices" | "shards")) = level {
        let of_index = |name: &String| {
            let mut health = json!({
                "status": "green", "number_of_shards": 1, "number_of_replicas": 0, "active_primary_shards": 1,
                "active_shards": 1, "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0,
            });
            if level == "shards" {
                let shard = json!({
                    "status": "green", "primary_active": true, "active_shards": 1, "relocating_shards": 0,
                    "initializing_shards": 0, "unassigned_shards": 0,
                });
                put(&mut health, "shards", json!({ "0": shard }));
            }
            (name.clone(), health)
        };
        let indices: Map<String, Value> = names.into_iter().flatten().map(of_index).collect();
        put(&mut health, "indices", indices.into());
    }
    (if names.is_some() { 200 } else { 408 }, health)
}

/// Returns an active license, without which shippers send nothing. It does not concern the license of Canter.
fn license() -> String {
    format!(
        "{{\"license\":{{\"status\":\"active\",\"uid\":\"{CLUSTER}\",\"type\":\"basic\",\"issued_to\":\"{CLUSTER}\",\
         \"issuer\":\"{CLUSTER}\",\"start_date_in_millis\":-1}}}}"
    )
}

/// Returns nodes without addresses, so that a client keeps its current one.
fn nodes() -> String {
    format!(
        "{{\"_nodes\":{{\"total\":1,\"successful\":1,\"failed\":0}},\"cluster_name\":\"{CLUSTER}\",\"nodes\":{{}}}}"
    )
}

/// Returns lines of text for people.
pub(in crate::api::elastic) fn text(body: String) -> HttpResponse {
    let mut response = elastic_text(200, body);
    for (name, value) in &mut response.headers {
        if name == "content-type" {
            "text/plain; charset=utf-8".clone_into(value);
        }
    }
    response
}

/// Returns the answer of `_resolve/index`.
pub(in crate::api::elastic) fn resolved(names: &[&str]) -> Value {
    let indices = names
        .iter()
        .map(|name| json!({"name": name, "attributes": ["open"]}));
    json!({"indices": indices.collect::<Vec<_>>(), "aliases": [], "data_streams": []})
}

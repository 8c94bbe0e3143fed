//! Answers to the first requests of Elasticsearch's clients, about the cluster.

use canter_protocol::HttpResponse;
use serde_json::{Value, json};

use crate::api::elastic::errors::elastic_text;

/// The implemented version of the API, not of this program.
const VERSION: &str = "8.17.0";

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
         \"number\":\"{VERSION}\",\"build_flavor\":\"default\",\"build_type\":\"canter\",\"build_hash\":\"{}\",\
         \"build_date\":\"1970-01-01T00:00:00Z\",\"build_snapshot\":false,\"lucene_version\":\"9.12.0\",\
         \"minimum_wire_compatibility_version\":\"7.17.0\",\"minimum_index_compatibility_version\":\"7.0.0\"}},\
         \"tagline\":\"You Know, for Search\"}}",
        crate::version()
    )
}

/// Returns the health of the cluster, which is always good.
pub(in crate::api::elastic) fn health(num_indexes: usize) -> String {
    format!(
        "{{\"cluster_name\":\"{CLUSTER}\",\"status\":\"green\",\"timed_out\":false,\"number_of_nodes\":1,\
         \"number_of_data_nodes\":1,\"active_primary_shards\":{num_indexes},\"active_shards\":{num_indexes},\
         \"relocating_shards\":0,\"initializing_shards\":0,\"unassigned_shards\":0,\"delayed_unassigned_shards\":0,\
         \"number_of_pending_tasks\":0,\"number_of_in_flight_fetch\":0,\"task_max_waiting_in_queue_millis\":0,\
         \"active_shards_percent_as_number\":100.0}}"
    )
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

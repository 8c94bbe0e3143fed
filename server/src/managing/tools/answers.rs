//! Answers to requests of tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use canter_access::matches_any;
use canter_index_builder::{Aliases, Templates, unix_time_ms};
use canter_names::{MayBeAbsent, listed_names};
use canter_runtime::{Caller, Limits, Searcher};
use serde_json::{Map, Value, json};

use super::asked::{Absent, Asked};
use super::figures::{Figures, asked_of_guest, figures, sum};
use super::table::{Form, Table, text};
use super::tables::{NODE, list, table, templates_table};
use crate::http::{Api, Refuse};
use crate::indexes::{Root, expand};
use crate::requests::{Params, Problem};

/// Name of the cluster, as the guest has it.
const CLUSTER: &str = NODE;

/// Columns of the table of nodes that are shown if they are asked for, and are not known.
const UNKNOWN_OF_NODES: [&str; 17] = [
    "id",
    "pid",
    "port",
    "http_address",
    "version",
    "type",
    "build",
    "jdk",
    "uptime",
    "disk.total",
    "disk.used",
    "disk.avail",
    "disk.used_percent",
    "heap.current",
    "heap.max",
    "ram.current",
    "ram.max",
];

/// Parameters that have no effect on these answers.
const WITHOUT_EFFECT: [&str; 43] = [
    "accept_enterprise",
    "actions",
    "categories",
    "cluster_manager_timeout",
    "completion_fields",
    "detailed",
    "expand_wildcards",
    "fielddata",
    "fielddata_fields",
    "fields",
    "file",
    "flat_settings",
    "flush",
    "full_id",
    "groups",
    "ignore_throttled",
    "include_segment_file_sizes",
    "include_unloaded_segments",
    "level",
    "local",
    "master_timeout",
    "max_num_segments",
    "metric",
    "nodes",
    "only_errors",
    "only_expunge_deletes",
    "only_managed",
    "parent_task_id",
    "preference",
    "query",
    "request",
    "request_cache",
    "routing",
    "size",
    "summary",
    "time",
    "types",
    "verbose",
    "wait_for_completion",
    "wait_for_metadata_version",
    "wait_for_timeout",
    "with_limited_by",
    "write_index_only",
];

/// A request, and what is needed to answer it.
pub(crate) struct Asking<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) api: Api,
    pub(crate) searcher: &'a Searcher,
    pub(crate) limits: &'a Limits,
    pub(crate) caller: &'a Caller,
    pub(crate) aliases: &'a Aliases,
    /// Where templates are, if anywhere.
    pub(crate) root: Option<&'a Arc<Root>>,
    /// The indexes that the caller may know of.
    pub(crate) indexes: &'a (dyn Fn() -> Vec<String> + Sync),
    /// Whether callers need tokens.
    pub(crate) is_gated: bool,
}

/// Answers a request of a tool; `None` for other requests, which the guest answers.
pub(crate) async fn told(asking: &Asking<'_>) -> Option<Response> {
    let asked = Asked::of(&asking.parts.method, asking.parts.uri.path())?;
    Some(match answered(asking, &asked).await {
        Ok(response) => response,
        Err(problem) => asking
            .api
            .refusal_of(problem.status, problem.kind, &problem.reason),
    })
}

fn written(asking: &Asking<'_>, table: Table, form: Option<&Form>) -> Result<Response, Problem> {
    match form {
        Some(form) => table.write(form, asking.api),
        None => Err(Problem::internal("a table has no form")),
    }
}

/// Returns the table of templates.
///
/// # Errors
/// If the caller may not see all indexes, or the catalog cannot be read.
async fn templates(asking: &Asking<'_>, is_component: bool, names: &str) -> Result<Table, Problem> {
    let stored = stored(asking).await?;
    let patterns: Vec<String> = names.split(',').map(str::to_owned).collect();
    let mut table = templates_table(stored.as_ref(), is_component);
    table.rows.retain(|row| {
        let name = row.first();
        name.is_some_and(|name| matches_any(&patterns, name))
    });
    Ok(table)
}

/// Returns the policies of these names.
///
/// # Errors
/// As of [`stored`]; one that is named does not exist.
async fn policies(asking: &Asking<'_>, names: &str) -> Result<Value, Problem> {
    let stored = stored(asking).await?.unwrap_or_default().policies;
    let patterns: Vec<String> = names.split(',').map(str::to_owned).collect();
    let is_missing = |name: &&String| !name.contains('*') && !stored.contains_key(*name);
    if let Some(missing) = patterns.iter().find(is_missing) {
        return Err(Problem {
            status: StatusCode::NOT_FOUND,
            ..Problem::invalid(
                "resource_not_found_exception",
                format!("Lifecycle policy not found: {missing}"),
            )
        });
    }
    let found = stored
        .iter()
        .filter(|(name, _)| matches_any(&patterns, name));
    let shown = found.map(|(name, body)| {
        let used_by = json!({"indices": [], "data_streams": [], "composable_templates": []});
        let policy = json!({
            "version": 1, "modified_date": "1970-01-01T00:00:00.000Z", "policy": body["policy"], "in_use_by": used_by,
        });
        (name.clone(), policy)
    });
    Ok(Value::Object(shown.collect()))
}

/// Returns the templates and policies of the root; `None` if there is no root.
///
/// # Errors
/// If the caller may not see all indexes, or the catalog cannot be read.
async fn stored(asking: &Asking<'_>) -> Result<Option<Templates>, Problem> {
    if asking.caller.indexes.is_some() {
        return Err(Problem {
            status: StatusCode::FORBIDDEN,
            ..Problem::invalid(
                "security_exception",
                "templates are about indexes of any name: they need a token for all indexes",
            )
        });
    }
    match asking.root {
        Some(root) => {
            let read = root.work(|root| root.catalog.templates().map_err(Problem::from));
            read.await.map(Some)
        }
        None => Ok(None),
    }
}

async fn answered(asking: &Asking<'_>, asked: &Asked) -> Result<Response, Problem> {
    let query = asking.parts.uri.query().unwrap_or_default();
    let (form, mut params) = match asked {
        Asked::Table(..) | Asked::Tables | Asked::Templates(..) => {
            let (form, params) = Form::read(query).map_err(Problem::illegal)?;
            (Some(form), params)
        }
        _ => (None, Params::of(query).map_err(Problem::illegal)?),
    };
    for name in WITHOUT_EFFECT {
        params.text(name);
    }
    let ignores_missing = params
        .flag("ignore_unavailable")
        .map_err(Problem::illegal)?;
    params.flag("allow_no_indices").map_err(Problem::illegal)?;
    let bytes = params.text("bytes");
    let grouped = params.text("group_by");
    let has_defaults = params.flag("include_defaults").map_err(Problem::illegal)?;
    params.finish().map_err(Problem::illegal)?;
    let named = |names: &str| asking.named(names, ignores_missing == Some(true));
    let answer = match asked {
        Asked::Refused(reason) => return Err(Problem::illegal(*reason)),
        Asked::Missing(reason) => {
            return Err(Problem {
                detail: None,
                status: StatusCode::NOT_FOUND,
                kind: "resource_not_found_exception",
                reason: reason.clone(),
            });
        }
        Asked::Tables => return Ok(text(list())),
        Asked::Table(name, names) => {
            let indexes = figures(asking, &named(names)?).await?;
            let mut table = table(name, &indexes, bytes.as_deref())?;
            if let (Some(form), "nodes") = (&form, name.as_str()) {
                table.add_asked(form, &UNKNOWN_OF_NODES);
            }
            return written(asking, table, form.as_ref());
        }
        Asked::Templates(is_component, names) => {
            let table = templates(asking, *is_component, names).await?;
            return written(asking, table, form.as_ref());
        }
        Asked::NodesInfo => asked_of_guest(asking, "/_nodes".to_owned(), "").await?,
        Asked::Absent(Absent::HotThreads) => return Ok(text(String::new())),
        Asked::Absent(absent) => nothing_of(*absent),
        Asked::ClusterSettings => match has_defaults {
            Some(true) => json!({"persistent": {}, "transient": {}, "defaults": {}}),
            _ => json!({"persistent": {}, "transient": {}}),
        },
        Asked::Tasks => match grouped.as_deref() {
            None | Some("nodes") => json!({"nodes": {}}),
            Some("none") => json!({"tasks": []}),
            Some("parents") => json!({"tasks": {}}),
            Some(other) => {
                return Err(Problem::illegal(format!(
                    "[group_by] is nodes, parents or none, and not [{other}]"
                )));
            }
        },
        Asked::Policies(names) => policies(asking, names).await?,
        Asked::ClusterStats => cluster_stats(&figures(asking, &named("_all")?).await?),
        Asked::NodesStats => nodes_stats(&figures(asking, &named("_all")?).await?),
        Asked::Segments(names) => segments(&figures(asking, &named(names)?).await?),
        Asked::ClusterState(parts, names) => state(parts, &named(names)?, asking.aliases),
        Asked::IlmExplain(names) => {
            let managed = |name: String| (name.clone(), json!({"index": name, "managed": false}));
            let indices: Map<String, Value> = named(names)?.into_iter().map(managed).collect();
            json!({ "indices": indices })
        }
        Asked::SearchShards(names) => search_shards(&named(names)?),
        Asked::DoneAnyway(names) => {
            let num = named(names)?.len();
            json!({"_shards": {"total": num, "successful": num, "failed": 0}})
        }
        Asked::Open(names) => {
            named(names)?;
            json!({"acknowledged": true, "shards_acknowledged": true})
        }
        Asked::WhoAsks => who_asks(asking.is_gated),
        of_cluster => about_cluster(of_cluster),
    };
    let answer = match &params.filter_path {
        Some(filter) => filter.apply(answer),
        None => answer,
    };
    Ok(asking.api.answer(StatusCode::OK, &answer, params.is_pretty))
}

impl Asking<'_> {
    /// Returns the indexes that a list of names, patterns and aliases stands for.
    fn named(&self, names: &str, ignores_missing: bool) -> Result<Vec<String>, Problem> {
        let indexes = (self.indexes)();
        let list = expand(names, self.aliases, &indexes, unix_time_ms())?.names;
        let may_be_absent = match ignores_missing {
            true => MayBeAbsent::Everything,
            false => MayBeAbsent::Patterns,
        };
        let listed = listed_names(&list, &indexes, may_be_absent);
        let listed = listed.map_err(Problem::no_index)?.into_iter();
        Ok(listed.map(|listed| listed.name).collect())
    }
}

/// Returns the form of something of which there is nothing.
fn nothing_of(absent: Absent) -> Value {
    match absent {
        Absent::Usage => json!({
            "_nodes": {"total": 1, "successful": 1, "failed": 0}, "cluster_name": CLUSTER,
            "nodes": {NODE: {"rest_actions": {}, "aggregations": {}}},
        }),
        Absent::Features => json!({"features": []}),
        Absent::Dangling => json!({"dangling_indices": []}),
        Absent::Problems => json!({"status": "green", "cluster_name": CLUSTER, "indicators": {}}),
        Absent::Certificates | Absent::HotThreads => json!([]),
    }
}

/// Returns an answer that is the same for all.
fn about_cluster(asked: &Asked) -> Value {
    match asked {
        Asked::IlmStatus => json!({"operation_mode": "RUNNING"}),
        Asked::PendingTasks => json!({"tasks": []}),
        Asked::Xpack => {
            let absent = [
                "ilm",
                "ml",
                "monitoring",
                "rollup",
                "security",
                "sql",
                "watcher",
            ];
            let absent = absent.map(|name| {
                let feature = json!({"available": false, "enabled": false});
                (name.to_owned(), feature)
            });
            json!({
                "build": {"hash": env!("CARGO_PKG_VERSION"), "date": "1970-01-01T00:00:00.000Z"},
                "license": {"uid": CLUSTER, "type": "basic", "mode": "basic", "status": "active"},
                "features": Map::from_iter(absent),
                "tagline": "You know, for X",
            })
        }
        Asked::Version => {
            let version = env!("CARGO_PKG_VERSION");
            json!({"build": {"version": version, "cargo_pkg_version": version}, "runtime": {}})
        }
        // Of this list there is nothing.
        _ => json!({}),
    }
}

/// Returns what is known of a client: whether it showed a token. Its name is the token's own affair.
fn who_asks(is_gated: bool) -> Value {
    let (name, realm, kind) = match is_gated {
        true => ("_token", "tokens", "token"),
        false => ("_anonymous", "__anonymous", "anonymous"),
    };
    let realm = json!({"name": realm, "type": realm});
    json!({
        "username": name, "roles": [], "full_name": null, "email": null, "metadata": {}, "enabled": true,
        "authentication_realm": realm, "lookup_realm": realm, "authentication_type": kind,
    })
}

/// Returns the state of the cluster: the wanted parts.
fn state(parts: &str, names: &[String], aliases: &Aliases) -> Value {
    let of_index = |name: &String| {
        let own = aliases.iter().filter(|(_, of)| of.contains_key(name));
        let own: Vec<&String> = own.map(|(alias, _)| alias).collect();
        (name.clone(), json!({"state": "open", "aliases": own}))
    };
    let routed = |name: &String| (name.clone(), json!({"shards": {"0": [shard(name)]}}));
    let indices: Map<String, Value> = names.iter().map(of_index).collect();
    let routing: Map<String, Value> = names.iter().map(routed).collect();
    let wanted: Vec<&str> = parts.split(',').map(str::trim).collect();
    let all = [
        ("version", json!(1)),
        ("state_uuid", json!(CLUSTER)),
        ("master_node", json!(NODE)),
        ("blocks", json!({})),
        ("nodes", json!({NODE: {"name": NODE}})),
        (
            "metadata",
            json!({"cluster_uuid": CLUSTER, "indices": indices}),
        ),
        ("routing_table", json!({ "indices": routing })),
    ];
    let mut state = json!({"cluster_name": CLUSTER, "cluster_uuid": CLUSTER});
    for (name, part) in all {
        if wanted.contains(&"_all") || wanted.contains(&name) {
            state[name] = part;
        }
    }
    state
}

fn shard(index: &str) -> Value {
    json!({
        "state": "STARTED", "primary": true, "node": NODE, "relocating_node": null, "shard": 0, "index": index,
    })
}

fn search_shards(names: &[String]) -> Value {
    let indices = names.iter().map(|name| (name.clone(), json!({})));
    let shards: Vec<Value> = names.iter().map(|name| json!([shard(name)])).collect();
    json!({
        "nodes": {NODE: {"name": NODE}},
        "indices": indices.collect::<Map<String, Value>>(),
        "shards": shards,
    })
}

/// Returns figures in the form of Elasticsearch's statistics; those that are not known are absent.
fn totals(of: &BTreeMap<String, Figures>) -> Map<String, Value> {
    let mut totals = Map::new();
    let all = |figure: fn(&Figures) -> Option<u64>| sum(of, figure);
    if let (Some(count), Some(deleted)) = (all(|own| own.num_docs), all(|own| own.num_deleted)) {
        totals.insert(
            "docs".to_owned(),
            json!({"count": count, "deleted": deleted}),
        );
    }
    if let Some(size) = all(|own| own.num_bytes) {
        totals.insert("store".to_owned(), json!({"size_in_bytes": size}));
    }
    if let Some(count) = all(|own| own.num_segments) {
        totals.insert("segments".to_owned(), json!({"count": count}));
    }
    totals
}

fn cluster_stats(of: &BTreeMap<String, Figures>) -> Value {
    let num = of.len();
    let mut indices = totals(of);
    indices.insert("count".to_owned(), num.into());
    indices.insert("shards".to_owned(), json!({"total": num, "primaries": num}));
    json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": CLUSTER, "cluster_uuid": CLUSTER, "status": "green",
        "indices": indices,
        "nodes": {"count": {"total": 1, "data": 1}},
    })
}

fn nodes_stats(of: &BTreeMap<String, Figures>) -> Value {
    json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": CLUSTER,
        "nodes": {NODE: {"name": NODE, "roles": ["data"], "indices": totals(of)}},
    })
}

/// Returns the numbers of segments. Which they are is not told.
fn segments(of: &BTreeMap<String, Figures>) -> Value {
    let of_index = |(name, own): (&String, &Figures)| {
        let shard = json!({
            "routing": {"state": "STARTED", "primary": true, "node": NODE},
            "num_committed_segments": own.num_segments, "num_search_segments": own.num_segments,
            "segments": {},
        });
        (name.clone(), json!({"shards": {"0": [shard]}}))
    };
    let indices: Map<String, Value> = of.iter().map(of_index).collect();
    let num = indices.len();
    json!({
        "_shards": {"total": num, "successful": num, "failed": 0},
        "indices": indices,
    })
}

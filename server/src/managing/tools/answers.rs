//! Answers to requests of tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use canter_index_builder::{Aliases, unix_time_ms};
use canter_names::{MayBeAbsent, listed_names};
use canter_runtime::{Caller, Limits, Searcher};
use serde_json::{Map, Value, json};

use super::asked::{Absent, Asked};
use super::figures::{Figures, figures, sum};
use super::nodes::nodes;
use super::stored::{pipelines, policies, templates};
use super::table::{Form, Table, text};
use super::tables::{NODE, list, table};
use crate::http::{Api, Refuse};
use crate::indexes::{Root, expand};
use crate::requests::{Params, Problem, Tasks};

/// Time for which an answer waits for the end of a task.
const MAX_WAIT: Duration = Duration::from_secs(30);

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
const WITHOUT_EFFECT: [&str; 42] = [
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
    pub(crate) tasks: &'a Tasks,
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

/// The parameters of a request.
struct Given {
    /// The form of a table; `None` for other answers.
    form: Option<Form>,
    ignores_missing: bool,
    bytes: Option<String>,
    waits: bool,
    grouped: Option<String>,
    has_defaults: bool,
    /// What all requests may have.
    shared: Params,
}

impl Given {
    fn read(asked: &Asked, query: &str) -> Result<Self, String> {
        let (form, mut params) = match asked {
            Asked::Table(..) | Asked::Tables | Asked::Templates(..) => {
                let (form, params) = Form::read(query)?;
                (Some(form), params)
            }
            _ => (None, Params::of(query)?),
        };
        for name in WITHOUT_EFFECT {
            params.text(name);
        }
        params.flag("allow_no_indices")?;
        let given = Self {
            form,
            ignores_missing: params.flag("ignore_unavailable")? == Some(true),
            bytes: params.text("bytes"),
            waits: params.flag("wait_for_completion")? == Some(true),
            grouped: params.text("group_by"),
            has_defaults: params.flag("include_defaults")? == Some(true),
            shared: params,
        };
        given.shared.finish()?;
        Ok(given)
    }
}

async fn answered(asking: &Asking<'_>, asked: &Asked) -> Result<Response, Problem> {
    let query = asking.parts.uri.query().unwrap_or_default();
    let given = Given::read(asked, query).map_err(Problem::illegal)?;
    let table = match asked {
        Asked::Refused(reason) => return Err(Problem::illegal(*reason)),
        Asked::Tables => return Ok(text(list())),
        Asked::Absent(Absent::HotThreads) => return Ok(text(String::new())),
        Asked::Table(name, names) => {
            let names = asking.named(names, given.ignores_missing)?;
            let indexes = figures(asking, &names).await?;
            let mut table = table(name, &indexes, given.bytes.as_deref())?;
            if let (Some(form), "nodes") = (&given.form, name.as_str()) {
                table.add_asked(form, &UNKNOWN_OF_NODES);
            }
            Some(table)
        }
        Asked::Templates(is_component, names) => {
            Some(templates(asking, *is_component, names).await?)
        }
        _ => None,
    };
    if let Some(table) = table {
        return written(asking, table, given.form.as_ref());
    }
    let answer = told_as_json(asking, asked, &given).await?;
    let answer = match &given.shared.filter_path {
        Some(filter) => filter.apply(answer),
        None => answer,
    };
    let is_pretty = given.shared.is_pretty;
    Ok(asking.api.answer(StatusCode::OK, &answer, is_pretty))
}

async fn told_as_json(asking: &Asking<'_>, asked: &Asked, given: &Given) -> Result<Value, Problem> {
    let named = |names: &str| asking.named(names, given.ignores_missing);
    Ok(match asked {
        Asked::Absent(absent) => nothing_of(*absent),
        Asked::ClusterSettings if given.has_defaults => {
            json!({"persistent": {}, "transient": {}, "defaults": {}})
        }
        Asked::ClusterSettings => json!({"persistent": {}, "transient": {}}),
        Asked::Tasks => tasks_by(given.grouped.as_deref())?,
        Asked::Policies(names) => policies(asking, names).await?,
        Asked::Pipelines(names) => pipelines(asking, names).await?,
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
        Asked::Nodes => nodes(asking.parts),
        Asked::Task(id) => {
            let task = asking.tasks.named(id)?;
            if given.waits {
                task.wait(MAX_WAIT).await;
            }
            task.shown()
        }
        of_cluster => about_cluster(of_cluster),
    })
}

/// Returns the list of running tasks, of which none is told: who began one knows its id.
fn tasks_by(group: Option<&str>) -> Result<Value, Problem> {
    match group {
        None | Some("nodes") => Ok(json!({"nodes": {}})),
        Some("none") => Ok(json!({"tasks": []})),
        Some("parents") => Ok(json!({"tasks": {}})),
        Some(other) => Err(Problem::illegal(format!(
            "[group_by] is nodes, parents or none, and not [{other}]"
        ))),
    }
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
        Absent::Transforms => json!({"count": 0, "transforms": []}),
        Absent::Enriching => json!({"policies": []}),
        Absent::Languages => json!({
            "types_allowed": ["inline", "stored"],
            "language_contexts": [
                {"language": "mustache", "contexts": ["template"]},
                {"language": "painless", "contexts": ["bucket_aggregation", "ingest", "update"]},
            ],
        }),
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

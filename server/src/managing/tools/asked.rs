//! Requests of tools: from a method and a path to what is asked for.

use axum::http::Method;
use percent_encoding::percent_decode_str;

/// What a tool asks for. Names of indexes are lists that may have patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A list of which there is nothing.
    Nothing,
    IlmStatus,
    IlmExplain(String),
    /// The state of the cluster: these parts, of these indexes.
    ClusterState(String, String),
    ClusterStats,
    NodesStats,
    /// What is known of the node.
    Nodes,
    ClusterSettings,
    Tasks,
    /// A task by its id.
    Task(String),
    PendingTasks,
    Xpack,
    /// A list of features or the like, of which there is nothing, in the form of its path.
    Absent(Absent),
    /// The version of this program, as in Quickwit's API.
    Version,
    WhoAsks,
    SearchShards(String),
    Segments(String),
    /// Something that is done without being asked for.
    DoneAnyway(String),
    Open(String),
    /// The list of tables.
    Tables,
    Table(String, String),
    /// Policies of these names.
    Policies(String),
    /// Pipelines of these names.
    Pipelines(String),
    /// The table of templates, or of component templates, of these names.
    Templates(bool, String),
    /// Something that would not be done, with the reason.
    Refused(&'static str),
}

/// Things of which there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    Usage,
    HotThreads,
    Features,
    Certificates,
    Dangling,
    /// Problems in a report of health.
    Problems,
    Transforms,
    /// Policies that enrich documents.
    Enriching,
    /// Languages and contexts of scripts, of which there are some.
    Languages,
}

/// Parts of what is known of a node.
const METRICS: [&str; 12] = [
    "_all",
    "aggregations",
    "http",
    "indices",
    "ingest",
    "jvm",
    "os",
    "plugins",
    "process",
    "settings",
    "thread_pool",
    "transport",
];

/// All indexes.
const ALL: &str = "_all";

const NO_CLOSING: &str = "[_close] is not supported: an index stays open, and costs nothing but its objects while nothing \
                          searches it. Delete it if it is not needed";
const NO_TERM_VECTORS: &str = "[_termvectors] is not supported: the words of single documents are not stored. [_analyze] divides a text into \
                               words, and [more_like_this] finds similar documents";
const NO_RANK_EVAL: &str = "[_rank_eval] is not supported: send the searches with [_msearch], and rate their hits in the client";
const NO_SINGLE_SEGMENTS: &str = "[_cat/segments] is not supported: segments are not listed one by one; [_stats] has their number";

impl Asked {
    /// Returns what a request asks for; `None` if it is no request of this kind.
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        if path == "/api/v1/version" && method == Method::GET {
            return Some(Self::Version);
        }
        let path = path.strip_prefix("/api/v1/_elastic").unwrap_or(path);
        let segments = path.split('/').filter(|part| !part.is_empty());
        let segments: Vec<String> = segments
            .map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned())
            .collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match method.as_str() {
            "GET" | "HEAD" => Self::shown(&segments).or_else(|| Self::of_indexes(&segments)),
            "POST" => Self::done(&segments),
            _ => None,
        }
    }

    /// Returns what a request to show something asks for.
    fn shown(segments: &[&str]) -> Option<Self> {
        Some(match *segments {
            ["_slm", "policy"] | ["_snapshot"] | ["_snapshot", "_all" | "*"] => Self::Nothing,
            ["_ilm", "policy"] => Self::Policies("*".to_owned()),
            ["_remote", "info"] => Self::Nothing,
            ["_ingest", "pipeline"] => Self::Pipelines("*".to_owned()),
            ["_ingest", "pipeline", names] => Self::Pipelines(names.to_owned()),
            ["_ilm", "policy", names] => Self::Policies(names.to_owned()),
            ["_tasks", id] => Self::Task(id.to_owned()),
            ["_ilm", "status"] => Self::IlmStatus,
            ["_cluster", "state"] => Self::ClusterState(ALL.to_owned(), ALL.to_owned()),
            ["_cluster", "state", parts] => Self::ClusterState(parts.to_owned(), ALL.to_owned()),
            ["_cluster", "state", parts, names] => {
                Self::ClusterState(parts.to_owned(), names.to_owned())
            }
            ["_cluster", "stats"] | ["_cluster", "stats", "nodes", _] => Self::ClusterStats,
            ["_cluster", "pending_tasks"] => Self::PendingTasks,
            ["_cluster", "settings"] => Self::ClusterSettings,
            ["_nodes", "stats", ..] | ["_nodes", _, "stats", ..] => Self::NodesStats,
            ["_nodes"] | ["_nodes", "_all" | "_local"] => Self::Nodes,
            ["_nodes", "usage"] | ["_nodes", _, "usage"] => Self::Absent(Absent::Usage),
            ["_nodes", "hot_threads"] | ["_nodes", _, "hot_threads"] => {
                Self::Absent(Absent::HotThreads)
            }
            ["_nodes", metrics] | ["_nodes", _, metrics] if are_metrics(metrics) => Self::Nodes,
            ["_features"] => Self::Absent(Absent::Features),
            ["_ssl", "certificates"] => Self::Absent(Absent::Certificates),
            ["_dangling"] => Self::Absent(Absent::Dangling),
            ["_transform"] | ["_transform", "_all" | "*"] => Self::Absent(Absent::Transforms),
            ["_enrich", "policy"] => Self::Absent(Absent::Enriching),
            ["_script_language"] => Self::Absent(Absent::Languages),
            ["_health_report"] => Self::Absent(Absent::Problems),
            ["_xpack", "usage"] => Self::Nothing,
            ["_tasks"] => Self::Tasks,
            ["_xpack"] => Self::Xpack,
            ["_security", "_authenticate"] => Self::WhoAsks,
            ["_cat"] => Self::Tables,
            ["_cat", "segments", ..] => Self::Refused(NO_SINGLE_SEGMENTS),
            ["_cat", "templates"] => Self::Templates(false, "*".to_owned()),
            ["_cat", "templates", names] => Self::Templates(false, names.to_owned()),
            ["_cat", "component_templates"] => Self::Templates(true, "*".to_owned()),
            ["_cat", "component_templates", names] => Self::Templates(true, names.to_owned()),
            ["_cat", table] => Self::Table(table.to_owned(), ALL.to_owned()),
            ["_cat", table, names] => Self::Table(table.to_owned(), names.to_owned()),
            _ => return None,
        })
        .filter(|asked| !matches!(asked, Self::Table(table, _) if is_elsewhere(table)))
    }

    /// Returns what a request to show something of indexes asks for.
    fn of_indexes(segments: &[&str]) -> Option<Self> {
        let (names, what) = indexes_in(segments)?;
        Some(match what {
            ["_ilm", "explain"] => Self::IlmExplain(names),
            ["_search_shards"] => Self::SearchShards(names),
            ["_segments"] => Self::Segments(names),
            ["_termvectors" | "_mtermvectors", ..] => Self::Refused(NO_TERM_VECTORS),
            ["_rank_eval"] => Self::Refused(NO_RANK_EVAL),
            _ => return None,
        })
    }

    fn done(segments: &[&str]) -> Option<Self> {
        let (names, what) = indexes_in(segments)?;
        Some(match what {
            ["_search_shards"] => Self::SearchShards(names),
            ["_forcemerge"] | ["_cache", "clear"] | ["_flush", "synced"] => Self::DoneAnyway(names),
            ["_open"] => Self::Open(names),
            ["_close"] => Self::Refused(NO_CLOSING),
            ["_termvectors" | "_mtermvectors", ..] => Self::Refused(NO_TERM_VECTORS),
            ["_rank_eval"] => Self::Refused(NO_RANK_EVAL),
            _ => return None,
        })
    }
}

/// Returns whether a list names parts of what is known of a node.
fn are_metrics(list: &str) -> bool {
    list.split(',').all(|name| METRICS.contains(&name))
}

/// Returns whether something else answers with a table.
fn is_elsewhere(table: &str) -> bool {
    matches!(table, "indices" | "count" | "health" | "aliases")
}

/// Returns the names of indexes before a word, all if there are none, and that word with what follows.
fn indexes_in<'s>(segments: &'s [&'s str]) -> Option<(String, &'s [&'s str])> {
    match segments {
        [first, ..] if first.starts_with('_') && *first != ALL => Some((ALL.to_owned(), segments)),
        [names, what @ ..] => Some(((*names).to_owned(), what)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_tools_are_told_from_those_of_the_guest() {
        let all = || ALL.to_owned();
        let check = |method: Method, path: &str, expected: Option<Asked>| {
            assert_eq!(Asked::of(&method, path), expected, "{method} {path}");
        };
        check(Method::GET, "/_slm/policy", Some(Asked::Nothing));
        let pipelines = Asked::Pipelines("*".to_owned());
        check(Method::GET, "/_ingest/pipeline", Some(pipelines));
        check(Method::GET, "/api/v1/_elastic/_tasks", Some(Asked::Tasks));
        check(Method::GET, "/_nodes/http", Some(Asked::Nodes));
        let table = Asked::Table("shards".to_owned(), "lo*".to_owned());
        check(Method::GET, "/_cat/shards/lo*", Some(table));
        check(Method::GET, "/_segments", Some(Asked::Segments(all())));
        let done = Asked::DoneAnyway("logs".to_owned());
        check(Method::POST, "/logs/_forcemerge", Some(done));
        check(
            Method::POST,
            "/logs/_close",
            Some(Asked::Refused(NO_CLOSING)),
        );
        let policies = Asked::Policies("days".to_owned());
        check(Method::GET, "/_ilm/policy/days", Some(policies));
        for path in [
            "/",
            "/_search",
            "/logs/_search",
            "/_cat/indices",
            "/_cat/count/logs",
            "/_cluster/health",
            "/logs",
        ] {
            check(Method::GET, path, None);
        }
        check(Method::POST, "/logs/_bulk", None);
        check(Method::PUT, "/logs/_doc/1", None);
    }
}

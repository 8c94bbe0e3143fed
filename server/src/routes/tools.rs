//! The paths of what tools ask for at their start, which this server answers without the guest.

use super::param::{JSON, Param, flag, text};
use super::reads::Route;

const GET: &[&str] = &["get"];
const POST: &[&str] = &["post"];

const SHARED: &[Param] = &[
    flag("pretty", "With line breaks."),
    text(
        "filter_path",
        "**",
        "The parts of the answer that are wanted.",
    ),
    flag("local", "Has no effect."),
    text("master_timeout", "1m", "Has no effect."),
    text("timeout", "1m", "Has no effect."),
];

const OF_INDEXES: &[Param] = &[
    flag(
        "ignore_unavailable",
        "Leave out indexes that there are not.",
    ),
    flag("allow_no_indices", "Has no effect."),
    text("expand_wildcards", "open", "Has no effect."),
];

const TABLE: &[Param] = &[
    text("format", "json", "`json`, or text."),
    flag("v", "With a line of headings."),
    flag("help", "The columns."),
    text("bytes", "kb", "The unit of sizes, which are numbers then."),
    text("time", "s", "Has no effect."),
];

/// The parameters of figures of indexes.
pub(super) const OF_STATS: &[Param] = &[
    text("level", "indices", "Has no effect."),
    text("metric", "docs", "Has no effect."),
    text("fields", "*", "Has no effect."),
];

/// The paths of figures of indexes.
pub(super) const STATS: [&str; 4] = [
    "/_stats",
    "/{index}/_stats",
    "/_stats/docs",
    "/{index}/_stats/docs",
];

/// The path outside Elasticsearch's API.
pub(super) const VERSION: &[Route] = &[Route {
    paths: &["/api/v1/version"],
    about: "The version of this program.",
    ..SHOWN
}];

/// Defaults of a row: something that is shown.
const SHOWN: Route = Route {
    paths: &[],
    methods: GET,
    about: "",
    params: &[SHARED],
    body: None,
    answers: JSON,
};

/// The paths.
pub(super) const TOOLS: &[Route] = &[
    Route {
        paths: &[
            "/_ingest/pipeline",
            "/_ilm/policy",
            "/_slm/policy",
            "/_snapshot",
            "/_remote/info",
            "/_tasks",
            "/_cluster/pending_tasks",
        ],
        about: "Lists of which there is nothing.",
        ..SHOWN
    },
    Route {
        paths: &["/_ilm/status", "/_xpack", "/_security/_authenticate"],
        about: "What there is of Elasticsearch's features, and how the client is known.",
        ..SHOWN
    },
    Route {
        paths: &[
            "/_cluster/state",
            "/_cluster/state/metadata",
            "/_cluster/state/metadata/{index}",
            "/_cluster/stats",
            "/_nodes",
            "/_nodes/http",
            "/_nodes/_all",
            "/_nodes/_local",
            "/_nodes/_all/http",
            "/_nodes/stats",
        ],
        about: "State and figures, as of a cluster of one node.",
        ..SHOWN
    },
    Route {
        paths: &[
            "/{index}/_ilm/explain",
            "/_search_shards",
            "/{index}/_search_shards",
            "/_segments",
            "/{index}/_segments",
        ],
        about: "Indexes as of a cluster of one node: each is one shard, without a policy.",
        params: &[SHARED, OF_INDEXES],
        ..SHOWN
    },
    Route {
        paths: &["/_cat"],
        about: "The list of tables.",
        ..SHOWN
    },
    Route {
        paths: &[
            "/_cat/allocation",
            "/_cat/component_templates",
            "/_cat/fielddata",
            "/_cat/master",
            "/_cat/nodeattrs",
            "/_cat/nodes",
            "/_cat/pending_tasks",
            "/_cat/plugins",
            "/_cat/recovery",
            "/_cat/repositories",
            "/_cat/shards",
            "/_cat/shards/{index}",
            "/_cat/snapshots",
            "/_cat/tasks",
            "/_cat/templates",
            "/_cat/thread_pool",
        ],
        about: "Tables for people.",
        params: &[SHARED, TABLE],
        ..SHOWN
    },
    Route {
        paths: &[
            "/_forcemerge",
            "/{index}/_forcemerge",
            "/_cache/clear",
            "/{index}/_cache/clear",
            "/{index}/_open",
        ],
        methods: POST,
        about: "Has no effect: splits are merged without being asked for it, caches hold what never changes, and all \
                indexes are open.",
        params: &[SHARED, OF_INDEXES],
        ..SHOWN
    },
];

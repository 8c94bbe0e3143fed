//! The paths of both APIs, with their parameters and an example of each.

use super::param::{JSON, Param, flag, number, text};
use super::params::{
    ALIASES, CAT, COMMON, FORM, HITS, OF_DOCUMENT, OF_DOCUMENTS, OF_SOURCE, QUERY, SEARCH,
    WITHOUT_EFFECT,
};
use super::tools::{OF_STATS, STATS};

/// A path, or several equivalent ones.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) paths: &'static [&'static str],
    pub(super) methods: &'static [&'static str],
    pub(super) about: &'static str,
    pub(super) params: &'static [&'static [Param]],
    /// Content type and an example.
    pub(super) body: Option<(&'static str, &'static str)>,
    /// Content type of the answer.
    pub(super) answers: &'static str,
}

const GET: &[&str] = &["get"];
const BOTH: &[&str] = &["get", "post"];

const SEARCH_BODY: Option<(&str, &str)> = Some((
    JSON,
    "{\"query\":{\"match\":{\"body\":\"error\"}},\"size\":5}",
));
const QUERY_BODY: Option<(&str, &str)> =
    Some((JSON, "{\"query\":{\"match\":{\"body\":\"error\"}}}"));
const MANY_BODY: Option<(&str, &str)> = Some((
    "application/x-ndjson",
    "{\"index\":\"logs\"}\n{\"size\":1}\n",
));

/// Routes outside Elasticsearch's API.
pub(super) const OWN: &[Route] = &[
    Route {
        paths: &["/api/v1/{index}/search", "/api/v1/indexes/{index}/search"],
        methods: BOTH,
        about: "Search an index. Parameters may stand in the URL or in the body.",
        params: &[SEARCH, FORM],
        body: Some((JSON, "{\"query\":\"error\",\"max_hits\":5}")),
        answers: JSON,
    },
    Route {
        paths: &["/api/v1/indexes"],
        methods: GET,
        about: "The indexes, with their configs.",
        params: &[
            FORM,
            &[text(
                "index_id_patterns",
                "l*",
                "Those of these names, in which `*` stands for anything.",
            )],
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/api/v1/indexes/{index}"],
        methods: GET,
        about: "An index, with its config.",
        params: &[FORM],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/api/v1/indexes/{index}/describe"],
        methods: GET,
        about: "How much is in an index, and of which time.",
        params: &[FORM],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/health/livez"],
        methods: GET,
        about: "Whether the server lives. Needs no token.",
        params: &[],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/health/readyz"],
        methods: GET,
        about: "Whether every index can be read.",
        params: &[],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/metrics"],
        methods: GET,
        about: "What was searched and fetched, for Prometheus.",
        params: &[],
        body: None,
        answers: "application/openmetrics-text",
    },
    Route {
        paths: &["/openapi.json"],
        methods: GET,
        about: "This. Needs no token.",
        params: &[],
        body: None,
        answers: JSON,
    },
];

/// Routes of Elasticsearch's API, at the root.
pub(super) const ELASTICSEARCH: &[Route] = &[
    Route {
        paths: &["/"],
        methods: GET,
        about: "Name and version.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_license", "/_xpack/license"],
        methods: GET,
        about: "A license that shippers ask for before they send anything.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_search", "/{index}/_search"],
        methods: BOTH,
        about: "Search an index.",
        params: &[QUERY, HITS, COMMON, WITHOUT_EFFECT],
        body: SEARCH_BODY,
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_doc/{id}"],
        methods: GET,
        about: "The document with this id.",
        params: &[OF_SOURCE, OF_DOCUMENTS, OF_DOCUMENT, COMMON],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_source/{id}"],
        methods: GET,
        about: "The same, without anything around it.",
        params: &[OF_SOURCE, OF_DOCUMENTS, OF_DOCUMENT, COMMON],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_mget", "/{index}/_mget"],
        methods: &["post"],
        about: "Documents with these ids.",
        params: &[OF_DOCUMENTS, COMMON],
        body: Some((JSON, "{\"docs\":[{\"_index\":\"logs\",\"_id\":\"7\"}]}")),
        answers: JSON,
    },
    Route {
        paths: &["/_search/scroll", "/_search/scroll/{scroll_id}"],
        methods: &["get", "post", "delete"],
        about: "The next page of a search that goes through all hits.",
        params: &[
            &[
                text("scroll", "1m", "Has no effect."),
                text("scroll_id", "…", "What the page before said."),
                flag(
                    "rest_total_hits_as_int",
                    "The number of hits as a bare number.",
                ),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: Some((JSON, "{\"scroll_id\":\"…\"}")),
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_pit", "/{index}/_search/point_in_time"],
        methods: &["post"],
        about: "Take a point in time: an index as it is now, to be searched for a while.",
        params: &[
            &[text(
                "keep_alive",
                "1m",
                "Must be there. How long it is kept says the cache.",
            )],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_pit"],
        methods: &["delete"],
        about: "Let a point in time go.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: Some((JSON, "{\"id\":\"…\"}")),
        answers: JSON,
    },
    Route {
        paths: &["/_search/point_in_time"],
        methods: &["delete"],
        about: "Let points in time go, in OpenSearch's form.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: Some((JSON, "{\"pit_id\":[\"…\"]}")),
        answers: JSON,
    },
    Route {
        paths: &["/_search/point_in_time/_all"],
        methods: &["get", "delete"],
        about: "The open points in time, in OpenSearch's form; or let all of them go.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_async_search"],
        methods: &["post"],
        about: "A search that is answered at once, in the form of one that runs in the background.",
        params: &[
            &[
                text("wait_for_completion_timeout", "1s", "Has no effect."),
                text("keep_alive", "1m", "Has no effect."),
                flag("keep_on_completion", "Has no effect."),
            ],
            QUERY,
            HITS,
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: SEARCH_BODY,
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_explain/{id}"],
        methods: BOTH,
        about: "Whether a document matches a query, and its score.",
        params: &[QUERY, OF_SOURCE, COMMON, WITHOUT_EFFECT],
        body: QUERY_BODY,
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_terms_enum"],
        methods: &["post"],
        about: "Terms of a field that begin with a text.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: Some((JSON, "{\"field\":\"severity_text\",\"string\":\"E\"}")),
        answers: JSON,
    },
    Route {
        paths: &["/_analyze", "/{index}/_analyze"],
        methods: &["post"],
        about: "The words of a text.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: Some((JSON, "{\"analyzer\":\"standard\",\"text\":\"Disk full\"}")),
        answers: JSON,
    },
    Route {
        paths: &["/_msearch", "/{index}/_msearch"],
        methods: BOTH,
        about: "Several searches in one request: lines of JSON, a header and a search in turn.",
        params: &[
            &[
                flag(
                    "rest_total_hits_as_int",
                    "The number of hits as a bare number.",
                ),
                flag(
                    "typed_keys",
                    "The names of aggregations begin with their types.",
                ),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: MANY_BODY,
        answers: JSON,
    },
    Route {
        paths: &["/_count", "/{index}/_count"],
        methods: BOTH,
        about: "How many documents match.",
        params: &[QUERY, COMMON, WITHOUT_EFFECT],
        body: QUERY_BODY,
        answers: JSON,
    },
    Route {
        paths: &["/_validate/query", "/{index}/_validate/query"],
        methods: BOTH,
        about: "Whether a query is right, and what is wrong with it.",
        params: &[
            QUERY,
            &[
                flag("explain", "Say what is wrong."),
                flag("rewrite", "Has no effect."),
                flag("all_shards", "Has no effect."),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: QUERY_BODY,
        answers: JSON,
    },
    Route {
        paths: &["/_field_caps", "/{index}/_field_caps"],
        methods: BOTH,
        about: "Fields, their types, and what they can be used for.",
        params: &[
            &[
                text(
                    "fields",
                    "severity_*",
                    "Names of fields, or patterns with `*`.",
                ),
                flag("include_unmapped", "With the indexes that lack a field."),
                flag("include_empty_fields", "Has no effect."),
                text("filters", "-metadata", "Has no effect."),
                text("types", "keyword", "Only fields of these types."),
                number(
                    "start_timestamp",
                    0,
                    "Of fields without a mapping only those of this time, in seconds, or later.",
                ),
                number(
                    "end_timestamp",
                    4_102_444_800,
                    "The same, before this time.",
                ),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: Some((JSON, "{\"fields\":[\"*\"]}")),
        answers: JSON,
    },
    Route {
        paths: &[
            "/_mapping",
            "/_mappings",
            "/_mapping/field/{field}",
            "/_mappings/field/{field}",
            "/{index}/_mapping",
            "/{index}/_mappings",
            "/{index}/_mapping/field/{field}",
            "/{index}/_mappings/field/{field}",
        ],
        methods: GET,
        about: "Fields as an index's mapping.",
        params: &[
            &[flag("include_defaults", "Has no effect.")],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/{index}"],
        methods: GET,
        about: "Mapping and settings of an index.",
        params: &[
            &[
                flag("include_defaults", "Has no effect."),
                flag("flat_settings", "Has no effect."),
                text("features", "mappings", "Has no effect."),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_cat/indices", "/_cat/indices/{index}"],
        methods: GET,
        about: "Indexes as lines of text.",
        params: &[
            CAT,
            &[
                text("bytes", "b", "The unit of sizes, which are numbers then."),
                text("health", "green", "Only such indexes: all are green."),
                flag("pri", "Has no effect."),
                flag("include_unloaded_segments", "Has no effect."),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &[
            "/_alias",
            "/_alias/{name}",
            "/{index}/_alias",
            "/{index}/_alias/{name}",
        ],
        methods: GET,
        about: "Further names of indexes.",
        params: &[ALIASES],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_cat/aliases", "/_cat/aliases/{name}"],
        methods: GET,
        about: "Further names of indexes as lines of text.",
        params: &[
            &[
                text("format", "json", "`json`, or text."),
                text("h", "alias,index", "Columns that are shown."),
                flag("v", "With a line of headings."),
                text(
                    "s",
                    "index",
                    "Columns that rows are sorted by, with `:desc` behind them.",
                ),
                flag("help", "The columns."),
            ],
            ALIASES,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_cat/health"],
        methods: GET,
        about: "Health as a line of text.",
        params: &[CAT, &[flag("ts", "Has no effect.")], COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &STATS,
        methods: GET,
        about: "Documents and bytes of indexes.",
        params: &[OF_STATS, COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_resolve/index/{index}"],
        methods: GET,
        about: "Indexes that names and patterns stand for.",
        params: &[COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_cluster/health", "/_cluster/health/{index}"],
        methods: GET,
        about: "Health, as of a cluster of one node.",
        params: &[
            &[
                text("wait_for_status", "yellow", "Has no effect: it is green."),
                text("timeout", "10s", "Has no effect."),
                text("level", "indices", "How much is told of each index."),
                flag("wait_for_no_relocating_shards", "Has no effect."),
                flag("wait_for_no_initializing_shards", "Has no effect."),
                text("wait_for_nodes", ">=1", "Has no effect: there is one."),
                text("wait_for_active_shards", "1", "Has no effect."),
                text("wait_for_events", "normal", "Has no effect."),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: None,
        answers: JSON,
    },
];

//! The paths of both APIs, with their parameters and an example of each.

use super::JSON;

/// A path, or several that mean the same.
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

/// A parameter in the URL.
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) example: Example,
    pub(super) about: &'static str,
}

/// A value that a parameter may have.
pub(super) enum Example {
    Text(&'static str),
    Number(i64),
    Flag(bool),
}

/// What stands for a part of a path.
pub(super) const PATH_PARAMS: [(&str, &str); 4] = [
    (
        "index",
        "The name of an index; in Elasticsearch's API also several with commas, and patterns with `*`.",
    ),
    ("field", "The name of a field, or a pattern with `*`."),
    ("scroll_id", "What the page before said."),
    (
        "name",
        "The name of a template or a data stream; to be shown also several with commas, and patterns with `*`.",
    ),
];

const GET: &[&str] = &["get"];
const BOTH: &[&str] = &["get", "post"];

pub(super) const fn text(name: &'static str, example: &'static str, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Text(example),
        about,
    }
}

const fn number(name: &'static str, example: i64, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Number(example),
        about,
    }
}

pub(super) const fn flag(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Flag(true),
        about,
    }
}

/// A flag that may only be false.
pub(super) const fn unset(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        example: Example::Flag(false),
        about,
    }
}

const FORM: &[Param] = &[
    text("format", "json", "`json` or `pretty_json`."),
    flag("pretty", "With line breaks."),
];

const SEARCH: &[Param] = &[
    text(
        "query",
        "severity_text:ERROR",
        "What to look for, in the query language; `*` is everything.",
    ),
    number("start_timestamp", 0, "Seconds since 1970: not before."),
    number(
        "end_timestamp",
        4_102_444_800,
        "Seconds since 1970: before.",
    ),
    number("start_offset", 1, "Hits that are left out at first."),
    number("max_hits", 5, "Hits that are shown."),
    text("search_field", "body", "Fields for words that name none."),
    text("search_fields", "body", "The same."),
    text(
        "snippet_fields",
        "body",
        "Fields of which the passages that match are shown.",
    ),
    text(
        "sort_by",
        "-timestamp",
        "Up to three fields, `_score` or `_doc`; `-` before one turns its order.",
    ),
    text("sort_by_field", "-timestamp", "The same."),
    unset(
        "count_all",
        "Whether all hits are counted, or as many as are shown.",
    ),
    text(
        "track_total_hits",
        "true",
        "Whether hits are counted, or how many at most.",
    ),
    text(
        "aggs",
        "{\"levels\":{\"terms\":{\"field\":\"severity_text\"}}}",
        "Aggregations, as JSON.",
    ),
    text("aggregations", "{}", "The same."),
    number(
        "now_ms",
        1_700_000_000_000,
        "What `now` is, in milliseconds since 1970.",
    ),
    flag("profile", "Say what the search took."),
    text(
        "budget",
        "{\"max_requests\":1000}",
        "What it may take at most, as JSON: requests, bytes, waves.",
    ),
];

/// Of every request of Elasticsearch's API that names indexes.
const COMMON: &[Param] = &[
    flag("pretty", "With line breaks."),
    flag(
        "ignore_unavailable",
        "Leave out indexes that there are not.",
    ),
    flag("allow_no_indices", "Patterns may stand for no index."),
    text(
        "filter_path",
        "**",
        "The parts of the answer that are wanted.",
    ),
    text("expand_wildcards", "open", "Has no effect."),
];

/// What is taken of every client, and has no effect here.
const WITHOUT_EFFECT: &[Param] = &[
    flag("allow_partial_search_results", "Has no effect."),
    number("batched_reduce_size", 512, "Has no effect."),
    flag("ccs_minimize_roundtrips", "Has no effect."),
    flag("error_trace", "Has no effect."),
    flag("human", "Has no effect."),
    flag("ignore_throttled", "Has no effect."),
    flag("include_named_queries_score", "Has no effect."),
    flag("local", "Has no effect."),
    text("master_timeout", "30s", "Has no effect."),
    number("max_concurrent_searches", 5, "Has no effect."),
    number("max_concurrent_shard_requests", 5, "Has no effect."),
    number("pre_filter_shard_size", 128, "Has no effect."),
    text("preference", "_local", "Has no effect."),
    flag("request_cache", "Has no effect."),
    text("routing", "a", "Has no effect."),
    text("search_type", "query_then_fetch", "Has no effect."),
];

const QUERY: &[Param] = &[
    text(
        "q",
        "severity_text:ERROR",
        "What to look for, in the query language.",
    ),
    text("df", "body", "The field for words that name none."),
    text("default_operator", "AND", "`AND` or `OR` between words."),
    flag("analyze_wildcard", "Has no effect."),
    flag(
        "lenient",
        "Words that a field cannot have match nothing, and are no error.",
    ),
];

const HITS: &[Param] = &[
    flag(
        "typed_keys",
        "The names of aggregations begin with their types.",
    ),
    number("size", 5, "Hits that are shown."),
    number("from", 1, "Hits that are left out at first."),
    text(
        "sort",
        "timestamp:desc",
        "Up to three fields with their order.",
    ),
    text(
        "track_total_hits",
        "true",
        "Whether hits are counted, or how many at most.",
    ),
    flag(
        "rest_total_hits_as_int",
        "The number of hits as a bare number.",
    ),
    text(
        "_source",
        "body,timestamp",
        "Whether documents are shown, or which of their fields.",
    ),
    text(
        "_source_includes",
        "body",
        "Fields of documents that are shown.",
    ),
    text(
        "_source_excludes",
        "body",
        "Fields of documents that are not.",
    ),
    text(
        "docvalue_fields",
        "severity_text",
        "Fields that are shown as lists of values.",
    ),
    text(
        "scroll",
        "1m",
        "Begin to go through all hits, page by page.",
    ),
    text("timeout", "10s", "How long the search may take."),
    unset(
        "track_scores",
        "Refused if it is set, but for a search in the order of `_score`.",
    ),
    unset("explain", "Refused if it is set."),
];

const CAT: &[Param] = &[
    text("format", "json", "`json`, or text."),
    text("h", "index,health", "Columns that are shown."),
    flag("v", "With a line of headings."),
    text("s", "index", "Has no effect."),
    text("time", "ms", "Has no effect."),
];

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

/// What is not Elasticsearch's.
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

/// Elasticsearch's, as they are at the root.
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
        paths: &["/_search/scroll", "/_search/scroll/{scroll_id}"],
        methods: &["get", "post", "delete"],
        about: "The next page of a search that goes through all hits.",
        params: &[
            &[
                text("scroll", "1m", "Has no effect."),
                text("scroll_id", "…", "What the page before said."),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: Some((JSON, "{\"scroll_id\":\"…\"}")),
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_pit"],
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
                flag("include_unmapped", "Has no effect."),
                flag("include_empty_fields", "Has no effect."),
                text("filters", "-metadata", "Has no effect."),
                text("types", "keyword", "Has no effect."),
                number("start_timestamp", 0, "Has no effect."),
                number("end_timestamp", 4_102_444_800, "Has no effect."),
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
                text("bytes", "b", "Has no effect."),
                text("health", "green", "Has no effect."),
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
        paths: &["/_cat/health"],
        methods: GET,
        about: "Health as a line of text.",
        params: &[CAT, &[flag("ts", "Has no effect.")], COMMON, WITHOUT_EFFECT],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_stats", "/{index}/_stats"],
        methods: GET,
        about: "Documents and bytes of indexes.",
        params: &[
            &[
                text("level", "indices", "Has no effect."),
                text("metric", "docs", "Has no effect."),
                text("fields", "*", "Has no effect."),
            ],
            COMMON,
            WITHOUT_EFFECT,
        ],
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
                text("level", "cluster", "Has no effect."),
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
    Route {
        paths: &[
            "/_nodes",
            "/_nodes/http",
            "/_nodes/_all",
            "/_nodes/_local",
            "/_nodes/_all/http",
        ],
        methods: GET,
        about: "Nodes, as clients ask for them at their start: there is one.",
        params: &[
            &[flag("flat_settings", "Has no effect.")],
            COMMON,
            WITHOUT_EFFECT,
        ],
        body: None,
        answers: JSON,
    },
];

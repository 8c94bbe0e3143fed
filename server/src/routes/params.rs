//! The parameters of requests, in groups that routes share.

use super::param::{Param, flag, number, text, unset};

/// Placeholders in paths.
pub(super) const PATH_PARAMS: [(&str, &str); 5] = [
    (
        "index",
        "The name of an index; in Elasticsearch's API also several with commas, and patterns with `*`.",
    ),
    ("id", "The id of a document."),
    ("field", "The name of a field, or a pattern with `*`."),
    ("scroll_id", "What the page before said."),
    (
        "name",
        "The name of a template, a data stream or an alias; to be shown also several with commas, and patterns with `*`.",
    ),
];

pub(super) const ALIASES: &[Param] = &[
    flag("local", "Has no effect."),
    flag(
        "ignore_unavailable",
        "Leave out indexes that there are not.",
    ),
    text(
        "filter_path",
        "**",
        "The parts of the answer that are wanted.",
    ),
];

pub(super) const FORM: &[Param] = &[
    text("format", "json", "`json` or `pretty_json`."),
    flag("pretty", "With line breaks."),
];

pub(super) const SEARCH: &[Param] = &[
    text(
        "query",
        "severity_text:ERROR",
        "What to look for, in the query language; `*` is everything.",
    ),
    text(
        "language",
        "canter",
        "The language of the query: `canter`, or `kql` for Kibana's.",
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

/// Parameters of every request in Elasticsearch's API that names indexes.
pub(super) const COMMON: &[Param] = &[
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
    text(
        "expand_wildcards",
        "open",
        "All indexes are open: patterns need `open` or `all`.",
    ),
];

/// Parameters that are accepted without effect.
pub(super) const WITHOUT_EFFECT: &[Param] = &[
    flag("allow_partial_search_results", "Has no effect."),
    number("batched_reduce_size", 512, "Has no effect; at least 2."),
    flag("ccs_minimize_roundtrips", "Has no effect."),
    flag("error_trace", "Has no effect."),
    flag("human", "Has no effect."),
    flag("ignore_throttled", "Has no effect."),
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

/// Parameters that say which part of a document is shown.
pub(super) const OF_SOURCE: &[Param] = &[
    text(
        "_source",
        "body,timestamp",
        "The fields to show; `false`: none.",
    ),
    text("_source_includes", "body", "Only these fields."),
    text("_source_excludes", "body", "All but these fields."),
];

/// Parameters of documents by their ids.
pub(super) const OF_DOCUMENTS: &[Param] = &[
    flag(
        "realtime",
        "Has no effect: documents are found once they are published.",
    ),
    flag("refresh", "Has no effect."),
    text(
        "stored_fields",
        "timestamp",
        "Fields whose values stand under `fields`; without `_source` among them, the document is left out.",
    ),
    text(
        "routing",
        "a",
        "The routing that the document must have been written with.",
    ),
];

/// Parameters of one document by its id.
pub(super) const OF_DOCUMENT: &[Param] = &[
    number("version", 3, "The version that the document must be."),
    text("version_type", "external", "Has no effect."),
];

pub(super) const QUERY: &[Param] = &[
    text(
        "q",
        "severity_text:ERROR",
        "What to look for, in the query language.",
    ),
    text("df", "body", "The field for words that name none."),
    text(
        "language",
        "lucene",
        "The language of `q`: `lucene` or `kql`.",
    ),
    text("default_operator", "AND", "`AND` or `OR` between words."),
    text(
        "extra_filters",
        "severity_text:ERROR",
        "Queries, separated by commas, that documents must match, too.",
    ),
    flag("analyze_wildcard", "Has no effect."),
    flag(
        "lenient",
        "Words that a field cannot have match nothing, and are no error.",
    ),
    text(
        "source",
        "{}",
        "The body, for clients that cannot send one.",
    ),
    text(
        "source_content_type",
        "application/json",
        "The content type of `source`.",
    ),
];

pub(super) const HITS: &[Param] = &[
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
    flag(
        "include_named_queries_score",
        "Hits show the score of each named clause that they match.",
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
        "stored_fields",
        "severity_text",
        "Fields that are shown as lists of values, in place of documents.",
    ),
    text(
        "scroll",
        "1m",
        "Begin to go through all hits, page by page.",
    ),
    text("timeout", "10s", "How long the search may take."),
    unset(
        "track_scores",
        "Refused if it is set where hits have different scores and are not sorted by `_score`.",
    ),
    number(
        "terminate_after",
        100_000,
        "Has no effect: all hits are counted.",
    ),
    unset("explain", "Refused if it is set."),
];

pub(super) const CAT: &[Param] = &[
    text("format", "json", "`json`, or text."),
    text("h", "index,health", "Columns that are shown."),
    flag("v", "With a line of headings."),
    text(
        "s",
        "status",
        "Columns that rows are sorted by, with `:desc` behind them.",
    ),
    text("time", "ms", "Has no effect."),
];

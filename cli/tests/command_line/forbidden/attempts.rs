//! Tables of requests, by the information they might reveal.

use reqwest::Method;
use serde_json::{Value, json};

/// A request.
pub(super) struct Attempt {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: String,
}

/// Requests of one kind.
#[derive(Default)]
pub(super) struct Attempts(pub(super) Vec<Attempt>);

impl Attempts {
    fn add(&mut self, method: Method, path: &str, body: &Value) {
        let body = match body {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        self.0.push(Attempt {
            method,
            path: path.to_owned(),
            body,
        });
    }
}

/// Queries that name forbidden values, or try to escape the filter: each in three APIs.
pub(super) fn queries() -> Attempts {
    let mut all = Attempts::default();
    for query in [
        "*",
        "tenant_id:8",
        "tenant_id:7 OR tenant_id:8",
        "NOT tenant_id:7",
        "-tenant_id:7",
        "tenant_id:[0 TO 100]",
        "tenant_id:>7",
        "tenant_id:IN [7 8]",
        "zebra",
        "zeb*",
        "body:zebra",
        "body:\"zebra crossing\"",
        "body:\"zebra cros\"*",
        "zebr~1",
        "level:FATAL",
        "user:mallory",
        "user:mal*",
        "latency:>1000",
        "client:66.6.6.6",
        "client:[60.0.0.0 TO 70.0.0.0]",
        "shape.secret_key:*",
        "shape.secret_key:>0",
        "shape.colour:red",
        "ts:<1700001200",
        "ts:>1700022800",
        ") OR tenant_id:8 OR (",
        "*) OR (tenant_id:8",
        "tenant_id:8)",
        "(tenant_id:8",
        "room OR zebra",
        "room NOT zebra",
        "request AND NOT user:mallory",
        "NOT (NOT zebra)",
        "_exists_:shape.secret_key",
        "body:/zeb.*/",
        "body:\"request q\"*",
        "body:\"crossing request q\"*",
        "body:\"took a w\"*",
        "body:q*",
        "body:/q.*/",
        "q003x00~2",
        "room NOT body:\"request q\"*",
        "mixed:madness",
        "mixed:>3",
        "mixed:*",
        "mixed:m*",
        "plan:gold",
        "plan:*",
        "nowhere:*",
    ] {
        let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        all.add(
            Method::GET,
            &format!("/api/v1/logs/search?query={encoded}&max_hits=50"),
            &Value::Null,
        );
        all.add(
            Method::GET,
            &format!("/logs/_search?q={encoded}&size=50"),
            &Value::Null,
        );
        all.add(
            Method::POST,
            "/logs/_count",
            &json!({"query": {"query_string": {"query": query}}}),
        );
    }
    all
}

/// Aggregations that could reveal forbidden documents.
pub(super) fn aggregations() -> Attempts {
    let mut all = Attempts::default();
    for aggs in [
        json!({"terms": {"field": "tenant_id"}}),
        json!({"terms": {"field": "user", "size": 100}}),
        json!({"terms": {"field": "user", "min_doc_count": 0, "size": 100}}),
        json!({"terms": {"field": "level", "min_doc_count": 0, "order": {"_key": "asc"}}}),
        json!({"terms": {"field": "level", "missing": "none"}}),
        json!({"terms": {"field": "shape.secret_key"}}),
        json!({"terms": {"field": "shape.colour"}, "aggs": {"l": {"max": {"field": "latency"}}}}),
        json!({"terms": {"field": "client", "include": ["66.6.6.6"]}}),
        json!({"missing": {"field": "shape.secret_key"}}),
        json!({"filter": {"term": {"tenant_id": 8}}}),
        json!({"filters": {"filters": {"a": {"match_all": {}}, "b": {"term": {"level": "FATAL"}}}}}),
        json!({"filters": {"other_bucket": true, "filters": {"b": {"term": {"tenant_id": 7}}}}}),
        json!({"histogram": {"field": "latency", "interval": 100_000, "min_doc_count": 0}}),
        json!({"histogram": {"field": "latency", "interval": 1, "min_doc_count": 1}}),
        json!({"date_histogram": {"field": "ts", "fixed_interval": "1h", "min_doc_count": 0}}),
        json!({"date_histogram": {"field": "ts", "fixed_interval": "1m"}}),
        json!({"date_range": {"field": "ts", "ranges": [{"to": 1_700_001_200_000_i64}]}}),
        json!({"range": {"field": "latency", "ranges": [{"from": 1000}]}}),
        json!({"ip_range": {"field": "client", "ranges": [{"mask": "66.0.0.0/8"}]}}),
        json!({"composite": {"size": 100, "sources": [{"u": {"terms": {"field": "user"}}}]}}),
        json!({"max": {"field": "latency"}}),
        json!({"min": {"field": "ts"}}),
        json!({"max": {"field": "ts"}}),
        json!({"extended_stats": {"field": "latency"}}),
        json!({"percentiles": {"field": "latency"}}),
        json!({"cardinality": {"field": "user"}}),
        json!({"value_count": {"field": "shape.secret_key"}}),
        json!({"top_hits": {"size": 3, "sort": [{"latency": "desc"}]}}),
        json!({"global": {}, "aggs": {"n": {"value_count": {"field": "tenant_id"}}}}),
        json!({"top_hits": {"size": 2, "sort": [{"mixed": "desc"}]}}),
        json!({"terms": {"field": "user"}, "aggs": {"t": {"top_hits": {"size": 1, "sort": [{"plan": "desc"}]}}}}),
        json!({"date_histogram": {"field": "ts", "calendar_interval": "hour"}, "aggs": {"r": {"rate": {"unit": "minute"}}}}),
        json!({"date_histogram": {"field": "ts", "calendar_interval": "hour"}, "aggs": {"r": {"rate": {"field": "latency"}}}}),
        json!({"auto_date_histogram": {"field": "ts", "buckets": 5}}),
        json!({"auto_date_histogram": {"field": "times"}}),
        json!({"rare_terms": {"field": "user", "max_doc_count": 100}}),
        json!({"string_stats": {"field": "user"}}),
        json!({"terms": {"field": "user", "include": "m.*"}}),
        json!({"terms": {"field": "user", "show_term_doc_count_error": true, "shard_size": 1, "size": 1}}),
    ] {
        let body = json!({"size": 0, "aggs": {"a": aggs}});
        all.add(Method::POST, "/logs/_search", &body);
        all.add(
            Method::POST,
            "/api/v1/logs/search",
            &json!({"query": "*", "max_hits": 0, "aggs": {"a": aggs}}),
        );
    }
    all
}

/// Fields whose values have several types, or that only forbidden documents have, in every place that accepts a field.
pub(super) fn fields() -> Attempts {
    let mut all = Attempts::default();
    for field in ["mixed", "plan", "times", "shape.secret_key", "nowhere"] {
        for body in [
            json!({"sort": [{field: "desc"}], "size": 5}),
            json!({"sort": [{field: {"order": "asc", "missing": "_first"}}], "size": 5}),
            json!({"sort": [{field: {"order": "desc", "unmapped_type": "long"}}], "size": 5}),
            json!({"sort": [{field: "desc"}], "search_after": [5], "size": 5}),
            json!({"sort": [{field: "desc"}], "search_after": ["m"], "size": 5}),
            json!({"query": {"exists": {"field": field}}, "size": 1}),
            json!({"query": {"term": {field: "madness"}}}),
            json!({"query": {"term": {field: 1.5}}}),
            json!({"query": {"range": {field: {"gte": 1}}}, "size": 3}),
            json!({"query": {"range": {field: {"gte": "a"}}}, "size": 3}),
            json!({"query": {"match": {field: "gold"}}, "highlight": {"fields": {field: {}, "body": {}}}}),
            json!({"docvalue_fields": [field], "fields": [field], "size": 3}),
        ] {
            all.add(Method::POST, "/logs/_search", &body);
        }
        for aggs in [
            json!({"terms": {"field": field}}),
            json!({"rare_terms": {"field": field}}),
            json!({"multi_terms": {"terms": [{"field": field}, {"field": "user"}]}}),
            json!({"composite": {"sources": [{"m": {"terms": {"field": field, "missing_bucket": true}}}]}}),
            json!({"composite": {"sources": [{"m": {"histogram": {"field": field, "interval": 1}}}]}}),
            json!({"histogram": {"field": field, "interval": 1}}),
            json!({"histogram": {"field": field, "interval": 1, "min_doc_count": 0}}),
            json!({"range": {"field": field, "ranges": [{"from": 1}]}}),
            json!({"date_range": {"field": field, "ranges": [{"from": 0}]}}),
            json!({"missing": {"field": field}}),
            json!({"value_count": {"field": field}}),
            json!({"cardinality": {"field": field}}),
            json!({"extended_stats": {"field": field}}),
            json!({"percentiles": {"field": field}}),
            json!({"string_stats": {"field": field}}),
            json!({"top_metrics": {"metrics": [{"field": field}], "sort": {field: "desc"}}}),
            json!({"weighted_avg": {"value": {"field": field}, "weight": {"field": "latency"}}}),
        ] {
            let body = json!({"size": 0, "aggs": {"a": aggs}});
            all.add(Method::POST, "/logs/_search", &body);
        }
    }
    all
}

/// Order, scores, pages, highlights, named clauses, explanations.
pub(super) fn searches() -> Attempts {
    let mut all = Attempts::default();
    for body in [
        json!({"sort": [{"latency": "desc"}], "size": 5}),
        json!({"sort": [{"user": "asc"}], "size": 5}),
        json!({"sort": [{"ts": "asc"}], "size": 1}),
        json!({"sort": [{"ts": "desc"}], "size": 1}),
        json!({"sort": [{"latency": "desc"}], "search_after": [100.0], "size": 5}),
        json!({"query": {"match": {"body": "room request"}}, "size": 20}),
        json!({"query": {"match": {"body": "zebra room"}}, "size": 20}),
        json!({"query": {"match_phrase_prefix": {"body": "zebra cr"}}}),
        json!({"query": {"fuzzy": {"user": "mallor"}}}),
        json!({"query": {"prefix": {"user": "mall"}}}),
        json!({"query": {"wildcard": {"user": "m*y"}}}),
        json!({"query": {"regexp": {"user": "mal.*"}}}),
        json!({"query": {"exists": {"field": "shape.secret_key"}}}),
        json!({"query": {"bool": {"should": [{"term": {"tenant_id": 8}}], "minimum_should_match": 0}}}),
        json!({"query": {"bool": {"must_not": [{"term": {"tenant_id": 7}}]}}}),
        json!({"query": {"constant_score": {"filter": {"term": {"tenant_id": 8}}}}}),
        json!({"query": {"dis_max": {"queries": [{"term": {"level": "FATAL"}}, {"match": {"body": "room"}}]}}, "size": 3}),
        json!({"query": {"boosting": {"positive": {"match": {"body": "room"}}, "negative": {"match": {"body": "zebra"}}, "negative_boost": 0.5}}, "size": 3}),
        json!({"query": {"match": {"body": "room"}}, "highlight": {"fields": {"body": {}}}, "size": 3}),
        json!({"query": {"match": {"body": "zebra"}}, "highlight": {"fields": {"*": {}}}}),
        json!({"docvalue_fields": ["user", "shape.secret_key"], "size": 400}),
        json!({"fields": ["*"], "size": 400}),
        json!({"_source": ["shape.*"], "size": 400}),
        json!({"explain": true, "size": 1}),
        json!({"profile": true, "size": 1}),
        json!({"post_filter": {"term": {"tenant_id": 8}}}),
        json!({"min_score": 0.0, "query": {"match": {"body": "zebra"}}}),
        json!({"from": 290, "size": 100}),
        json!({"size": 1, "track_total_hits": 5}),
        json!({"forced_filter": "tenant_id:8"}),
        json!({"query": {"match_all": {}}, "query": {"term": {"tenant_id": 8}}}),
        json!({"query": {"ids": {"values": ["1"]}}}),
        json!({"runtime_mappings": {"tenant_id": {"type": "long"}}}),
        json!({"suggest": {"s": {"text": "zebr", "term": {"field": "body"}}}}),
        json!({"query": {"simple_query_string": {"query": "\"request q\"* | zeb*", "fields": ["body"]}}}),
        json!({"query": {"multi_match": {"query": "request q", "fields": ["body"], "type": "phrase_prefix"}}}),
        json!({"query": {"match_phrase_prefix": {"body": "request q"}}}),
        json!({"query": {"match_phrase_prefix": {"body": "took a w"}}, "size": 3}),
        json!({"query": {"match_bool_prefix": {"body": "request q"}}, "size": 3}),
        json!({"query": {"fuzzy": {"body": {"value": "q003x00", "fuzziness": 2}}}}),
        json!({"collapse": {"field": "user"}, "size": 20}),
        json!({"collapse": {"field": "level"}, "sort": [{"latency": "desc"}]}),
        json!({"collapse": {"field": "tenant_id"}}),
        json!({"collapse": {"field": "mixed"}, "size": 20}),
        json!({"collapse": {"field": "shape.secret_key"}}),
        json!({"query": {"bool": {"should": [
            {"match": {"body": {"query": "room", "_name": "room"}}}, {"match": {"body": {"query": "zebra", "_name": "zoo"}}},
            {"bool": {"must": {"term": {"tenant_id": 8}}, "_name": "eight"}},
            {"bool": {"must": {"exists": {"field": "shape.secret_key"}}, "_name": "secret"}}]}}, "size": 3}),
        json!({"sort": ["_doc"], "size": 5}),
        json!({"sort": ["_score", "_doc"], "size": 3}),
        json!({"sort": ["_shard_doc"], "size": 5}),
        json!({"pit": {"id": "x", "keep_alive": "1m"}}),
    ] {
        all.add(Method::POST, "/logs/_search", &body);
    }
    for more in [
        "sort_by=-latency&max_hits=3",
        "sort_by=_score&max_hits=9",
        "snippet_fields=body&max_hits=400",
        "profile=true",
        "explain=true",
        "forced_filter=tenant_id:8",
        "count_all=false&max_hits=1",
        "start_offset=295&max_hits=50",
        "search_field=user&max_hits=3",
        "end_timestamp=1700001200",
        "start_timestamp=1700022800",
        "format=json&budget=1",
    ] {
        all.add(
            Method::GET,
            &format!("/api/v1/logs/search?query=room+OR+zebra&{more}"),
            &Value::Null,
        );
    }
    all
}

/// Everything that describes an index without searching it, and other indexes.
pub(super) fn other_paths() -> Attempts {
    let mut all = Attempts::default();
    for path in [
        "/",
        "/_cat/indices",
        "/_cat/indices?format=json",
        "/_cat/indices/logs",
        "/_stats",
        "/logs/_stats",
        "/logs",
        "/logs/_mapping",
        "/_mapping",
        "/logs/_mapping/field/shape.secret_key",
        "/logs/_field_caps?fields=*",
        "/_field_caps?fields=shape.*",
        "/_resolve/index/*",
        "/_cluster/health",
        "/_nodes/http",
        "/_cat/health",
        "/logs/_validate/query?q=tenant_id:8&explain=true",
        "/api/v1/indexes",
        "/api/v1/indexes/logs",
        "/api/v1/indexes/logs/search?query=zebra",
        "/api/v1/_elastic/logs/_search?q=zebra",
        "/logs/_search?scroll=1m&size=400",
        "/other/_search",
        "/oth*/_search",
        "/logs,other/_search",
        "/_all/_search",
        "/*/_search",
        "/_search",
        "/api/v1/other/search?query=*",
        "/api/v1/indexes/other",
        "/other",
        "/other/_mapping",
        "/_resolve/index/other",
        "/api/v1/logs/../other/search?query=*",
        "/api/v1/logs%2F..%2Fother/search?query=*",
        "//other//_search",
        "/logs/_search?q=zebra&request_cache=true",
        "/logs/_search?q=room&filter_path=hits.total",
        "/logs/_search?q=zebra&ignore_unavailable=true",
        "/metrics",
        "/health/readyz",
        "/api/v1/indexes/logs/describe",
        "/logs/_field_caps?fields=mixed,plan,shape.secret_key",
        "/logs/_mapping/field/mixed",
        "/api/v1/logs/search?query=*&sort_by=mixed&max_hits=4",
        "/api/v1/logs/search?query=*&sort_by=-plan&max_hits=4",
        "/api/v1/logs/search?query=*&sort_by=_doc&max_hits=4",
        "/_cat/shards",
        "/_cat/count/logs",
        "/logs/_count",
        "/logs/_search_shards",
        "/logs/_doc/x",
    ] {
        all.add(Method::GET, path, &Value::Null);
    }
    let lines = |index: &str, search: Value| format!("{}\n{search}\n", json!({"index": index}));
    let many = lines("logs", json!({"query": {"term": {"tenant_id": 8}}}))
        + &lines("logs", json!({"size": 1}))
        + &lines("other", json!({}));
    all.add(Method::POST, "/_msearch", &many.into());
    all.add(Method::POST, "/logs/_pit?keep_alive=1m", &Value::Null);
    all.add(
        Method::POST,
        "/logs/_field_caps?fields=*",
        &json!({"index_filter": {"term": {"level": "FATAL"}}}),
    );
    all.add(
        Method::POST,
        "/logs/_terms_enum",
        &json!({"field": "user", "string": "m"}),
    );
    all
}

/// Returns all requests.
pub(super) fn all() -> Attempts {
    let kinds = [
        queries(),
        aggregations(),
        fields(),
        searches(),
        other_paths(),
    ];
    Attempts(kinds.into_iter().flat_map(|kind| kind.0).collect())
}

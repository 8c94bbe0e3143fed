//! Attempts to see, or to infer, documents that a token's filter forbids.
//!
//! Two indexes are served: one with the documents of two tenants, and one with those of the first alone. Whatever the
//! first tenant asks, both must answer alike: what differs would tell of the second.

use std::fmt::Write as _;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_tokens::key;
use crate::support::run;

const CONFIG: &str = r#"
version: 0.8
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: ts
  field_mappings:
    - {name: ts, type: datetime, input_formats: [unix_timestamp], fast: true, fast_precision: seconds}
    - {name: tenant_id, type: u64, fast: true}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: user, type: text, tokenizer: raw, fast: true}
    - {name: latency, type: f64, fast: true}
    - {name: client, type: ip, fast: true}
    - {name: body, type: text, record: position}
search_settings:
  default_search_fields: [body]
"#;

/// What only documents of the second tenant have.
const MARKS: [&str; 6] = [
    "zebra",
    "mallory",
    "FATAL",
    "secret_key",
    "66.6.6.6",
    "987654",
];

/// Documents of the first tenant, and between them, before and behind, those of the second if `with_forbidden`.
fn documents(with_forbidden: bool) -> String {
    let mut lines = String::new();
    for nth in 0..400_u32 {
        let is_forbidden = nth % 4 == 3 || !(20..380).contains(&nth);
        let document = match is_forbidden {
            false => json!({
                "ts": 1_700_000_000 + nth * 60, "tenant_id": 7, "level": (["INFO", "WARN"][nth as usize % 2]),
                "user": format!("user{}", nth % 9), "latency": f64::from(nth % 50) / 4.0,
                "client": format!("10.0.0.{}", nth % 20),
                "body": format!("request {nth} took a while in room {}", nth % 11),
                "shape": {"colour": (["red", "green"][nth as usize / 2 % 2])},
            }),
            true if !with_forbidden => continue,
            true => json!({
                "ts": 1_700_000_000 + nth * 60, "tenant_id": 8, "level": "FATAL", "user": "mallory",
                "latency": 987_654.5, "client": "66.6.6.6",
                "body": format!("zebra crossing request in room {}", nth % 11),
                "shape": {"colour": "red", "secret_key": nth},
            }),
        };
        writeln!(lines, "{document}").unwrap();
    }
    lines
}

fn build(folder: &Path, name: &str, lines: &str) {
    std::fs::write(folder.join("logs.yaml"), CONFIG).unwrap();
    std::fs::write(folder.join(format!("{name}.ndjson")), lines).unwrap();
    run(
        folder,
        &[
            "index",
            "create",
            "--index",
            name,
            "--index-config",
            "logs.yaml",
        ],
        0,
    );
    run(
        folder,
        &[
            "index",
            "ingest",
            "--index",
            name,
            "--input",
            &format!("{name}.ndjson"),
            "--split-num-docs",
            "100",
        ],
        0,
    );
}

/// Requests: method, path, and body or nothing.
fn attempts() -> Vec<(Method, String, String)> {
    let mut all = Vec::new();
    let mut add = |method: Method, path: &str, body: &Value| {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        all.push((method, path.to_owned(), body));
    };
    // Queries that name what is forbidden, or try to get out of the filter: each in three APIs.
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
    ] {
        let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        add(
            Method::GET,
            &format!("/api/v1/logs/search?query={encoded}&max_hits=50"),
            &Value::Null,
        );
        add(
            Method::GET,
            &format!("/logs/_search?q={encoded}&size=50"),
            &Value::Null,
        );
        add(
            Method::POST,
            "/logs/_count",
            &json!({"query": {"query_string": {"query": query}}}),
        );
    }
    // What aggregations could tell.
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
    ] {
        let body = json!({"size": 0, "aggs": {"a": aggs}});
        add(Method::POST, "/logs/_search", &body);
        add(
            Method::POST,
            "/api/v1/logs/search",
            &json!({"query": "*", "max_hits": 0, "aggs": {"a": aggs}}),
        );
    }
    // Order, scores, pages, highlights, explanations.
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
    ] {
        add(Method::POST, "/logs/_search", &body);
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
        add(
            Method::GET,
            &format!("/api/v1/logs/search?query=room+OR+zebra&{more}"),
            &Value::Null,
        );
    }
    // Everything that tells of an index without searching it, and other indexes.
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
    ] {
        add(Method::GET, path, &Value::Null);
    }
    let many = |search: Value| format!("{}\n{search}\n", json!({"index": "logs"}));
    let many = many(json!({"query": {"term": {"tenant_id": 8}}}))
        + &many(json!({"size": 1}))
        + &format!("{}\n{}\n", json!({"index": "other"}), json!({}));
    all.push((Method::POST, "/_msearch".to_owned(), many));
    all
}

/// What of an answer is the request's own, and not the documents'.
fn without_the_moment(answer: &mut Value) {
    match answer {
        Value::Object(object) => {
            for moment in [
                "took",
                "elapsed_time_micros",
                "_scroll_id",
                "_id",
                "pit_id",
                "create_timestamp",
            ] {
                object.remove(moment);
            }
            object.values_mut().for_each(without_the_moment);
        }
        Value::Array(array) => array.iter_mut().for_each(without_the_moment),
        _ => {}
    }
}

#[test]
fn whatever_is_asked_the_answer_is_as_if_forbidden_documents_were_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    build(folder, "mixed", &documents(true));
    build(folder, "alone", &documents(false));
    build(folder, "other", &documents(true));
    let token = key(
        folder,
        &[
            "--id",
            "seven",
            "--index",
            "logs",
            "--filter",
            "tenant_id:7",
        ],
    );
    let serve = |index: &str| {
        let index = format!("logs={index}");
        let args = [
            "--index",
            &index,
            "--index",
            "other",
            "--api-keys",
            "keys.toml",
        ];
        Server::of(folder, &args)
    };
    let (mixed, alone) = (serve("mixed"), serve("alone"));
    let header = format!("Bearer {token}");
    let attempts = attempts();
    assert!(attempts.len() >= 120, "{}", attempts.len());
    let mut leaks = Vec::new();
    for (method, path, body) in &attempts {
        let ask = |server: &Server| {
            let headers = [
                ("authorization", header.as_str()),
                ("content-type", "application/json"),
            ];
            let answer = server.send(method.clone(), path, &headers, body.clone());
            let costs = [
                "server-timing",
                "x-canter-requests",
                "x-canter-bytes",
                "x-canter-waves",
            ];
            assert!(
                costs.iter().all(|cost| answer.header(cost).is_none()),
                "{path} tells its cost"
            );
            let text = answer.text.clone();
            let mut value = value_of(&text);
            without_the_moment(&mut value);
            (answer.status, value, text)
        };
        let (status, value, text) = ask(&mixed);
        let (expected_status, expected, _) = ask(&alone);
        // What the request says itself may come back in an error.
        let places = ids(&value_of(&text))
            .into_iter()
            .filter(|id| id.len() != 32 || id.contains('-'));
        let places: Vec<String> = places.collect();
        assert!(places.is_empty(), "{path} tells places: {places:?}");
        let request = format!("{}{body}", urlencoding(path));
        let shown = MARKS
            .iter()
            .filter(|mark| text.contains(**mark) && !request.contains(**mark));
        let shown: Vec<_> = shown.collect();
        if status != expected_status || value != expected || !shown.is_empty() {
            leaks.push(format!(
                "{method} {path} {body}: {status}, {shown:?}\n  with:    {value}\n  without: {expected}\n"
            ));
        }
    }
    assert!(
        leaks.is_empty(),
        "{} of {}:\n{}",
        leaks.len(),
        attempts.len(),
        leaks.concat()
    );
}

fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// The ids of all hits.
fn ids(answer: &Value) -> Vec<String> {
    let hits = answer.pointer("/hits/hits").and_then(Value::as_array);
    let ids = hits
        .into_iter()
        .flatten()
        .filter_map(|hit| hit["_id"].as_str());
    ids.map(str::to_owned).collect()
}

fn urlencoding(path: &str) -> String {
    let decoded = path
        .split(['?', '&'])
        .flat_map(|part| url::form_urlencoded::parse(part.as_bytes()));
    decoded
        .map(|(name, value)| format!("{name}={value};"))
        .collect()
}

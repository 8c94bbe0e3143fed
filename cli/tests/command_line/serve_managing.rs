//! `canter serve --writable --indexes-in`: indexes are created, found and deleted, by one server and by several.

use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::{Answer, PATIENCE, Server};
use crate::support::run;

pub(crate) fn server(folder: &Path, more: &[&str]) -> Server {
    let args = [
        "--indexes-in",
        "all",
        "--writable",
        "--commit-interval",
        "20ms",
    ];
    Server::of(folder, &[&args[..], more].concat())
}

pub(crate) fn send(server: &Server, method: &str, path: &str, body: &Value) -> Answer {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let headers = [("content-type", "application/json")];
    server.send(method.parse().unwrap(), path, &headers, body)
}

pub(crate) fn put(server: &Server, path: &str, body: &Value) -> Answer {
    send(server, "PUT", path, body)
}

pub(crate) fn delete(server: &Server, path: &str) -> Answer {
    send(server, "DELETE", path, &Value::Null)
}

pub(crate) fn status(server: &Server, method: &str, path: &str) -> u16 {
    send(server, method, path, &Value::Null).status
}

/// Sends documents; returns the status of each.
fn bulk(server: &Server, path: &str, index: &str, documents: &[Value]) -> Vec<u64> {
    let action = json!({"create": {"_index": index}});
    let lines = documents
        .iter()
        .map(|document| format!("{action}\n{document}\n"));
    let headers = [("content-type", "application/x-ndjson")];
    let answer = server.send(Method::POST, path, &headers, lines.collect());
    assert_eq!(answer.status, 200, "{}", answer.text);
    let items = answer.json()["items"].as_array().unwrap().clone();
    items
        .iter()
        .map(|item| item["create"]["status"].as_u64().unwrap())
        .collect()
}

pub(crate) fn count(server: &Server, index: &str) -> u64 {
    let answer = server.get(&format!("/{index}/_count"));
    let count = answer.json()["count"].as_u64();
    count.unwrap_or_else(|| panic!("{index}: {}", answer.text))
}

fn event(n: u32) -> Value {
    json!({
        "@timestamp": format!("2026-11-05T10:00:{:02}.250Z", n % 60),
        "message": format!("number{n} came in"), "level": "INFO", "tags": ["a", "b"],
        "host": {"name": "web-1", "ip": "10.0.0.1"}, "took": 1.5, "other": {"n": n},
    })
}

fn mappings() -> Value {
    json!({"properties": {
        "@timestamp": {"type": "date"},
        "message": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
        "level": {"type": "keyword"},
        "tags": {"type": "keyword", "ignore_above": 1024},
        "host": {"properties": {"name": {"type": "keyword"}, "ip": {"type": "ip"}}},
        "took": {"type": "scaled_float", "scaling_factor": 1000},
    }})
}

/// Waits until a condition holds, as it does once a server has noticed a change.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn documents_make_a_missing_index_unless_the_server_is_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let first = server(folder.path(), &[]);
    let answer = put(
        &first,
        "/fresh/_doc/1?refresh=true",
        &json!({"text": "made"}),
    );
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(
        bulk(
            &first,
            "/_bulk",
            "more",
            &[json!({"n": 1}), json!({"n": 2})]
        ),
        [201, 201]
    );
    assert_eq!((count(&first, "fresh"), count(&first, "more")), (1, 2));
    drop(first);
    let told = server(folder.path(), &["--auto-create-index", "none"]);
    assert_eq!(bulk(&told, "/_bulk", "other", &[json!({"n": 1})]), [404]);
    assert_eq!(status(&told, "HEAD", "/other"), 404);
    assert_eq!(bulk(&told, "/_bulk", "more", &[json!({"n": 3})]), [201]);
}

#[test]
fn an_index_is_made_filled_found_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "none"]);
    assert_eq!(status(&server, "HEAD", "/logs"), 404);
    let body = json!({"settings": {"index": {"number_of_shards": 3}}, "mappings": mappings(), "aliases": {}});
    let made = put(&server, "/logs?timeout=30s&master_timeout=30s", &body);
    let wanted = json!({"acknowledged": true, "shards_acknowledged": true, "index": "logs"});
    assert_eq!((made.status, made.json()), (200, wanted), "{}", made.text);
    assert_eq!(made.header("x-elastic-product"), Some("Elasticsearch"));
    assert_eq!(status(&server, "HEAD", "/logs"), 200);
    let again = put(&server, "/logs", &body);
    assert_eq!(again.status, 400);
    assert_eq!(
        again.json()["error"]["type"],
        "resource_already_exists_exception"
    );
    let mapping = server.get("/logs/_mapping").json();
    let type_of = |path: &str| {
        let path = format!("/logs/mappings/properties/{path}/type");
        mapping.pointer(&path).cloned().unwrap_or_default()
    };
    for (path, kind) in [
        ("@timestamp", "date"),
        ("message", "text"),
        ("level", "keyword"),
        ("host/properties/ip", "ip"),
        ("took", "scaled_float"),
    ] {
        assert_eq!(type_of(path), kind, "{path}: {mapping}");
    }

    let events: Vec<Value> = (0..3).map(event).collect();
    assert_eq!(bulk(&server, "/_bulk", "logs", &events), [201, 201, 201]);
    for (query, hits) in [
        (json!({"match": {"message": "NUMBER1"}}), 1),
        (json!({"term": {"message.keyword": "number1 came in"}}), 1),
        (json!({"term": {"tags": "b"}}), 3),
        (json!({"term": {"host.ip": "10.0.0.0/8"}}), 3),
        (json!({"term": {"other.n": 2}}), 1),
        (json!({"exists": {"field": "message"}}), 3),
        (
            json!({"range": {"@timestamp": {"gte": "2026-11-05T10:00:01Z"}}}),
            2,
        ),
    ] {
        let found = server
            .post_json("/logs/_search", &json!({"query": query}))
            .json();
        assert_eq!(found["hits"]["total"]["value"], hits, "{query}: {found}");
    }
    let search = json!({
        "query": {"match": {"message": "number1"}}, "highlight": {"fields": {"message": {}}},
        "aggs": {"messages": {"terms": {"field": "message"}}},
    });
    let found = server.post_json("/logs/_search", &search).json();
    // Hits show documents unchanged: lists stay lists.
    assert_eq!(found["hits"]["hits"][0]["_source"], event(1), "{found}");
    assert!(
        found["hits"]["hits"][0]["highlight"]["message"].is_array(),
        "{found}"
    );
    assert_eq!(
        found["aggregations"]["messages"]["buckets"][0]["key"],
        "number1 came in"
    );

    for (path, status, part) in [
        ("/lo*", 400, "Wildcard expressions"),
        ("/_all", 400, "Wildcard expressions"),
        ("/*", 400, "Wildcard expressions"),
        ("/logs,missing", 404, "no such index [missing]"),
        ("/missing", 404, "index_not_found_exception"),
        ("/logs?nonsense=1", 400, "nonsense"),
    ] {
        let refused = delete(&server, path);
        assert_eq!(refused.status, status, "{path}: {}", refused.text);
        assert!(refused.text.contains(part), "{path}: {}", refused.text);
    }
    assert_eq!(count(&server, "logs"), 3);
    let deleted = delete(&server, "/logs,missing?ignore_unavailable=true");
    assert_eq!(deleted.json(), json!({"acknowledged": true}));
    assert_eq!(status(&server, "HEAD", "/logs"), 404);
    assert!(!folder.path().join("all/logs").exists());
    assert_eq!(bulk(&server, "/_bulk", "logs", &events[..1]), [404]);
    // The name is free, and nothing of the old index is left.
    assert_eq!(put(&server, "/logs", &Value::Null).status, 200);
    assert_eq!(count(&server, "logs"), 0);
    assert_eq!(server.get("/health/readyz").status, 200);
}

#[test]
fn what_cannot_be_an_index_is_refused_with_what_elasticsearch_calls_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--max-indexes", "2"]);
    let field = |definition: Value| json!({"mappings": {"properties": {"f": definition}}});
    let mapper = "mapper_parsing_exception";
    let illegal = "illegal_argument_exception";
    let name = "invalid_index_name_exception";
    for (path, body, kind, part) in [
        ("/Logs", Value::Null, name, "lowercase"),
        ("/-a", Value::Null, name, "start"),
        ("/a%20b", Value::Null, name, "letters"),
        ("/indexes", Value::Null, name, "path"),
        ("/a", json!([1]), "parse_exception", "object"),
        ("/a", json!({"mapping": {}}), "parse_exception", "[mapping]"),
        (
            "/a",
            field(json!({"type": "sparse_vector"})),
            mapper,
            "sparse_vector",
        ),
        (
            "/a",
            field(json!({"type": "geo_shape"})),
            mapper,
            "geo_shape",
        ),
        (
            "/a",
            field(json!({"type": "text", "analyzer": "mine"})),
            mapper,
            "mine",
        ),
        (
            "/a",
            json!({"settings": {"nonsense": 1}}),
            illegal,
            "index.nonsense",
        ),
        (
            "/a",
            json!({"settings": {"default_pipeline": 7}}),
            illegal,
            "default_pipeline",
        ),
        (
            "/a",
            json!({"aliases": {"b": {"nonsense": 1}}}),
            "x_content_parse_exception",
            "nonsense",
        ),
        ("/a?nonsense=1", Value::Null, illegal, "nonsense"),
    ] {
        let refused = put(&server, path, &body);
        assert_eq!(refused.status, 400, "{path} {body}: {}", refused.text);
        assert_eq!(
            refused.json()["error"]["type"],
            kind,
            "{path} {body}: {}",
            refused.text
        );
        assert!(
            refused.text.contains(part),
            "{path} {body}: {}",
            refused.text
        );
    }
    let headers = [("content-type", "application/json")];
    let broken = server.send(Method::PUT, "/a", &headers, "{".to_owned());
    assert_eq!(broken.json()["error"]["type"], "parse_exception");
    // With two values of one key, the intended one is unknown.
    let fields = r#"{"properties": {"f": {"type": "long", "type": "keyword"}}}"#;
    let patterns = r#""index_patterns": ["a*"]"#;
    for (method, path, body, key) in [
        (
            Method::PUT,
            "/a",
            format!(r#"{{"mappings": {fields}}}"#),
            "type",
        ),
        (
            Method::PUT,
            "/_index_template/t",
            format!(r#"{{{patterns}, "template": {{"mappings": {fields}}}}}"#),
            "type",
        ),
        (
            Method::PUT,
            "/_index_template/t",
            format!("{{{patterns}, {patterns}}}"),
            "index_patterns",
        ),
        (
            Method::PUT,
            "/_component_template/t",
            r#"{"template": {}, "template": {}}"#.to_owned(),
            "template",
        ),
        (
            Method::PUT,
            "/_template/t",
            format!(r#"{{{patterns}, "order": 1, "order": 2}}"#),
            "order",
        ),
    ] {
        let refused = server.send(method, path, &headers, body);
        assert_eq!(refused.status, 400, "{path}: {}", refused.text);
        let error = &refused.json()["error"];
        assert_eq!(error["type"], "parsing_exception", "{path}: {error}");
        let reason = error["reason"].as_str().unwrap();
        assert!(
            reason.contains(&format!("duplicate key {key:?}")),
            "{reason}"
        );
    }
    let config = r#"{"version": "0.9", "index_id": "a", "index_id": "other", "doc_mapping": {}}"#;
    let refused = server.send(Method::POST, "/api/v1/indexes", &headers, config.to_owned());
    assert_eq!(refused.status, 400, "{}", refused.text);
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("duplicate key \"index_id\""), "{message}");
    for (path, status) in [("/a", 200), ("/b", 200), ("/c", 400)] {
        let answer = put(&server, path, &Value::Null);
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        assert_eq!(
            answer.text.contains("--max-indexes"),
            status == 400,
            "{}",
            answer.text
        );
    }
}

#[test]
fn a_deletion_by_query_leaves_out_what_is_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    for index in ["logs-a", "logs-keep"] {
        let made = put(
            &server,
            &format!("/{index}"),
            &json!({"mappings": mappings()}),
        );
        assert_eq!(made.status, 200, "{}", made.text);
        let added = bulk(&server, "/_bulk?refresh=true", index, &[event(1), event(2)]);
        assert_eq!(added, [201, 201]);
    }
    let all = json!({"query": {"match_all": {}}});
    let deleted = server.post_json("/logs-*,-logs-keep*/_delete_by_query", &all);
    assert_eq!(deleted.json()["deleted"], 2, "{}", deleted.text);
    assert_eq!(count(&server, "logs-a"), 0);
    assert_eq!(count(&server, "logs-keep"), 2);
}

#[test]
fn a_document_makes_the_index_that_a_template_describes() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "free-*"]);
    let template = |priority: u32, kind: &str| {
        json!({
            "index_patterns": ["app-*"], "priority": priority, "data_stream": {}, "composed_of": ["hosts"],
            "template": {"settings": {"number_of_shards": 1}, "mappings": {"properties": {"kind": {"type": kind}}}},
        })
    };
    let low = put(&server, "/_index_template/low", &template(1, "long"));
    assert_eq!(low.status, 400, "there is no such component: {}", low.text);
    let hosts =
        json!({"template": {"mappings": {"properties": {"host.name": {"type": "keyword"}}}}});
    for (path, body) in [
        ("/_component_template/hosts", &hosts),
        ("/_index_template/low", &template(1, "long")),
        ("/_index_template/high", &template(2, "keyword")),
    ] {
        let answer = put(&server, path, body);
        assert_eq!(
            answer.json(),
            json!({"acknowledged": true}),
            "{path}: {}",
            answer.text
        );
    }
    let rival = put(&server, "/_index_template/rival", &template(2, "long"));
    assert!(rival.text.contains("same priority"), "{}", rival.text);
    assert_eq!(status(&server, "HEAD", "/_index_template/high"), 200);
    assert_eq!(status(&server, "HEAD", "/_index_template/missing"), 404);
    let shown = server.get("/_index_template/h*").json();
    let shown = &shown["index_templates"][0];
    assert_eq!(
        (&shown["name"], &shown["index_template"]),
        (&json!("high"), &template(2, "keyword"))
    );
    let used = delete(&server, "/_component_template/hosts");
    assert!(
        used.status == 400 && used.text.contains("in use"),
        "{}",
        used.text
    );

    let mut document = event(1);
    document["kind"] = "x".into();
    assert_eq!(
        bulk(&server, "/_bulk", "app-web", &[document.clone()]),
        [201]
    );
    let posted = server.post_json("/app-api/_doc", &document);
    assert_eq!(posted.status, 201, "{}", posted.text);
    assert_eq!(
        (count(&server, "app-web"), count(&server, "app-api")),
        (1, 1)
    );
    let mapping = server.get("/app-web/_mapping").json();
    let properties = &mapping["app-web"]["mappings"]["properties"];
    assert_eq!(properties["kind"]["type"], "keyword", "{mapping}");
    assert_eq!(properties["host"]["properties"]["name"]["type"], "keyword");
    let streams = server.get("/_data_stream/app-*").json();
    assert_eq!(
        streams["data_streams"].as_array().unwrap().len(),
        2,
        "{streams}"
    );
    assert_eq!(
        put(&server, "/_data_stream/app-more", &Value::Null).status,
        200
    );
    assert_eq!(put(&server, "/_data_stream/none", &Value::Null).status, 400);
    assert_eq!(delete(&server, "/_data_stream/app-more").status, 200);

    // Without a template, only names that the server was configured with.
    assert_eq!(
        bulk(&server, "/_bulk", "nowhere", &[document.clone()]),
        [404]
    );
    assert_eq!(
        bulk(&server, "/_bulk", "free-1", &[json!({"a": "some words"})]),
        [201]
    );
    let found = server.get("/free-1/_search?q=a:words").json();
    assert_eq!(found["hits"]["total"]["value"], 1, "{found}");
    // Quickwit's ingest creates none.
    let lines = server.send(
        Method::POST,
        "/api/v1/app-new/ingest",
        &[],
        format!("{document}\n"),
    );
    assert_eq!(lines.status, 404);
    for path in [
        "/_index_template/high",
        "/_index_template/low",
        "/_component_template/hosts",
    ] {
        assert_eq!(delete(&server, path).status, 200, "{path}");
        assert_eq!(delete(&server, path).status, 404, "{path}");
    }
}

#[test]
fn of_two_servers_one_makes_an_index_and_both_serve_it() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [(); 2].map(|()| server(folder.path(), &["--auto-create-index", "none"]));
    for round in 0..8 {
        let path = format!("/race-{round}");
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let making = [&one, &other].map(|server| {
                let path = &path;
                scope.spawn(move || put(server, path, &Value::Null).status)
            });
            making
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(
            statuses.contains(&200) && statuses.contains(&400),
            "{statuses:?}"
        );
    }
    let of_root = |server: &Server| {
        server
            .get("/api/v1/indexes")
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    until("both serve all", || {
        (of_root(&one), of_root(&other)) == (8, 8)
    });

    assert_eq!(bulk(&one, "/_bulk", "race-0", &[json!({"n": 1})]), [201]);
    until("the other finds it", || count(&other, "race-0") == 1);
    assert_eq!(delete(&one, "/race-0").status, 200);
    // A document that the other server acknowledges now would be lost: it checks whether the index exists.
    assert_eq!(
        bulk(&other, "/_bulk?refresh=false", "race-0", &[json!({"n": 2})]),
        [404]
    );
    assert_eq!(delete(&one, "/race-1").status, 200);
    assert_eq!(put(&one, "/race-1", &Value::Null).status, 200);
    assert_eq!(bulk(&other, "/_bulk", "race-1", &[json!({"n": 3})]), [201]);
    assert_eq!(count(&one, "race-1"), 1);
    // Through every API.
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "a"}}]}]}]});
    let lines = "{\"n\": 3}\n".to_owned();
    for (index, path, body) in [
        ("race-2", "/api/v1/race-2/ingest?commit=wait_for", lines),
        ("race-3", "/v1/logs", logs.to_string()),
    ] {
        assert_eq!(delete(&one, &format!("/{index}")).status, 200);
        assert_eq!(put(&one, &format!("/{index}"), &Value::Null).status, 200);
        let headers = [
            ("content-type", "application/json"),
            ("qw-otel-logs-index", index),
        ];
        let answer = other.send(Method::POST, path, &headers, body);
        assert_eq!(answer.status, 200, "{index}: {}", answer.text);
        assert_eq!(count(&one, index), 1, "{index}");
    }
}

#[test]
fn what_was_made_is_there_after_a_kill_and_for_servers_that_only_search() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let killed = server(path, &[]);
    assert_eq!(
        put(&killed, "/logs", &json!({"mappings": mappings()})).status,
        200
    );
    let kept = json!({"index_patterns": ["app-*"]});
    assert_eq!(put(&killed, "/_index_template/kept", &kept).status, 200);
    let acknowledged = bulk(
        &killed,
        "/_bulk?refresh=false",
        "logs",
        &[event(1), event(2)],
    );
    assert_eq!(acknowledged, [201, 201]);
    drop(killed);
    let again = server(path, &[]);
    until("what was acknowledged is published", || {
        count(&again, "logs") == 2
    });
    assert_eq!(bulk(&again, "/_bulk", "app-1", &[event(3)]), [201]);

    let reader = Server::of(path, &["--indexes-in", "all"]);
    assert_eq!(count(&reader, "logs"), 2);
    assert_eq!(put(&reader, "/more", &Value::Null).status, 403);
    assert_eq!(delete(&again, "/logs").status, 200);
    until("it is gone", || status(&reader, "HEAD", "/logs") == 404);
}

#[test]
fn indexes_that_were_named_stay_and_without_a_root_none_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let config = "version: 0.9\nindex_id: named\ndoc_mapping: {mode: dynamic}\n";
    std::fs::write(path.join("named.yaml"), config).unwrap();
    let create = [
        "index",
        "create",
        "--index",
        "named",
        "--index-config",
        "named.yaml",
    ];
    run(path, &create, 0);
    let with_root = server(path, &["--index", "named"]);
    let again = put(&with_root, "/named", &Value::Null);
    assert_eq!(
        again.json()["error"]["type"],
        "resource_already_exists_exception"
    );
    let refused = delete(&with_root, "/named");
    assert!(
        refused.status == 400 && refused.text.contains("--index"),
        "{}",
        refused.text
    );
    assert_eq!(put(&with_root, "/other", &Value::Null).status, 200);
    let without = Server::of(path, &["--index", "named", "--writable"]);
    let refused = put(&without, "/more", &Value::Null);
    assert!(
        refused.status == 400 && refused.text.contains("--indexes-in"),
        "{}",
        refused.text
    );
}

#[test]
fn opentelemetry_s_logs_make_the_index_that_they_are_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "auto*"]);
    let logs = json!({"resourceLogs": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeLogs": [{"logRecords": [
            {"timeUnixNano": "1714557600000000001", "severityText": "INFO", "body": {"stringValue": "hello there"}},
        ]}],
    }]});
    let send_to = |index: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("qw-otel-logs-index", index),
        ];
        server.send(Method::POST, "/v1/logs", &headers, logs.to_string())
    };
    for _ in 0..2 {
        let answer = send_to("auto-otel.logs");
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    assert_eq!(count(&server, "auto-otel.logs"), 2);
    let found = server.get("/auto-otel.logs/_count?q=service_name:shop+AND+body.message:there");
    assert_eq!(found.json()["count"], 2, "{}", found.text);
    let mapping = server.get("/auto-otel.logs/_mapping").text;
    assert!(mapping.contains("timestamp_nanos"), "{mapping}");
    for (index, status, said) in [
        ("other", 404, "--preset otel-logs"),
        ("auto/x", 400, "auto/x"),
    ] {
        let answer = send_to(index);
        assert_eq!(answer.status, status, "{}", answer.text);
        assert!(answer.text.contains(said), "{}", answer.text);
    }
}

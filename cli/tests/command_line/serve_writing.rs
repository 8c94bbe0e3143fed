//! `canter serve --writable`: sent documents can be found, each item gets an answer, and nothing is lost.

use std::path::Path;

use canter_samples::HDFS_LOGS_YAML;
use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Write;
use tempfile::TempDir;

use crate::serve::{Answer, Server};
use crate::serve_tokens::{get, key};
use crate::support::run;

const LOGS: &str = "
version: 0.9
index_id: logs
doc_mapping:
  mode: strict
  timestamp_field: time
  field_mappings:
    - {name: time, type: datetime, fast: true, input_formats: [rfc3339]}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: text, type: text}
search_settings:
  default_search_fields: [text]
";

/// Returns a folder with empty indexes: `logs`, `more` of the same kind, and one of OpenTelemetry's logs.
fn empty() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("logs.yaml"), LOGS).unwrap();
    std::fs::write(path.join("hdfs.yaml"), HDFS_LOGS_YAML).unwrap();
    for index in ["logs", "more"] {
        run(
            path,
            &[
                "index",
                "create",
                "--index",
                index,
                "--index-config",
                "logs.yaml",
            ],
            0,
        );
    }
    run(
        path,
        &[
            "index",
            "create",
            "--index",
            "otel-logs",
            "--preset",
            "otel-logs",
        ],
        0,
    );
    folder
}

const INDEXES: [&str; 6] = [
    "--index",
    "logs=logs",
    "--index",
    "more=more",
    "--index",
    "otel-logs=otel-logs",
];

fn writable(path: &Path, more: &[&str]) -> Server {
    let args = [
        &INDEXES[..],
        &["--writable", "--commit-interval", "50ms"],
        more,
    ]
    .concat();
    Server::of(path, &args)
}

fn document(n: u32) -> Value {
    json!({"time": format!("2024-05-01T10:00:{:02}Z", n % 60), "level": "INFO", "text": format!("number{n} some")})
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn send(server: &Server, path: &str, body: String) -> Answer {
    let headers = [("content-type", "application/x-ndjson")];
    server.send(Method::POST, path, &headers, body)
}

fn count(server: &Server, index: &str, query: &str) -> u64 {
    let answer = server.get(&format!("/{index}/_count?q={query}")).json();
    answer["count"]
        .as_u64()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn each_action_of_a_bulk_request_has_its_own_answer() {
    let folder = empty();
    let server = writable(folder.path(), &[]);
    let body = lines(&[
        json!({"index": {"_index": "logs"}}),
        document(1),
        json!({"create": {}}),
        document(2),
        json!({"create": {"_index": "logs"}}),
        json!({"time": "never", "level": "INFO"}),
        json!({"index": {"_index": "nowhere"}}),
        document(3),
        json!({"index": {"_id": "7"}}),
        document(4),
        json!({"delete": {"_id": "7"}}),
        json!({"update": {"_id": "7"}}),
        json!({"doc": {}}),
        json!({"index": {"pipeline": "p"}}),
        document(5),
        json!({"create": {"_index": "logs"}}),
        json!({"time": "2024-05-01T10:00:00Z", "unknown": 1}),
    ]);
    let answer = send(&server, "/more/_bulk", body);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("x-elastic-product"), Some("Elasticsearch"));
    let answer = answer.json();
    assert_eq!(answer["errors"], true);
    let items: Vec<(&str, &str, u64)> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let (verb, item) = item.as_object().unwrap().iter().next().unwrap();
            let index = item["_index"].as_str().unwrap();
            (verb.as_str(), index, item["status"].as_u64().unwrap())
        })
        .collect();
    let wanted = [
        ("index", "logs", 201),
        ("create", "more", 201),
        ("create", "logs", 400),
        ("index", "nowhere", 404),
        ("index", "more", 400),
        ("delete", "more", 400),
        ("update", "more", 400),
        ("index", "more", 400),
        ("create", "logs", 400),
    ];
    assert_eq!(items, wanted);
    let error = |ord: usize| {
        answer["items"][ord]
            .pointer("/create/error")
            .unwrap()
            .to_string()
    };
    assert!(error(2).contains("never") && error(2).contains("document_parsing_exception"));
    assert!(error(8).contains("unknown"), "{}", error(8));
    // Accepted documents can be found when the answer arrives.
    assert_eq!(
        (count(&server, "logs", "*"), count(&server, "more", "*")),
        (1, 1)
    );
    assert_eq!(count(&server, "logs", "number1"), 1);
    let answer = send(
        &server,
        "/_bulk?filter_path=errors,items.*.error",
        lines(&[json!({"create": {"_index": "logs"}}), document(9)]),
    );
    assert_eq!(answer.json(), json!({"errors": false}));
}

#[test]
fn a_body_that_cannot_be_read_changes_nothing() {
    let folder = empty();
    let server = writable(folder.path(), &["--max-write-bytes", "100kB"]);
    let good = lines(&[json!({"index": {}}), document(1)]);
    for (path, body, status, part) in [
        ("/logs/_bulk", good.trim_end().to_owned(), 400, "line feed"),
        (
            "/logs/_bulk",
            format!("{good}nonsense\n{{}}\n"),
            400,
            "line 3",
        ),
        ("/_bulk", good.clone(), 400, "names no index"),
        ("/logs/_bulk", String::new(), 400, "no action"),
        ("/logs/_bulk?refresh=maybe", good.clone(), 400, "refresh"),
        ("/logs/_bulk?pipeline=p", good.clone(), 400, "pipeline"),
        ("/logs/_bulk?nonsense=1", good.clone(), 400, "nonsense"),
        ("/logs/_bulk", " ".repeat(200_000), 413, "bytes"),
        (
            "/logs/_doc",
            "not json".to_owned(),
            400,
            "document_parsing_exception",
        ),
        ("/logs/_doc/7", document(1).to_string(), 400, "_id"),
        ("/logs/_create/7", document(1).to_string(), 400, "_id"),
        (
            "/nowhere/_doc",
            document(1).to_string(),
            404,
            "index_not_found_exception",
        ),
        (
            "/api/v1/nowhere/ingest",
            lines(&[document(1)]),
            404,
            "nowhere",
        ),
        (
            "/api/v1/logs/ingest?commit=never",
            lines(&[document(1)]),
            400,
            "commit",
        ),
    ] {
        let answer = send(&server, path, body);
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        assert!(answer.text.contains(part), "{path}: {}", answer.text);
    }
    assert_eq!(count(&server, "logs", "*"), 0);
}

#[test]
fn documents_come_in_by_every_door() {
    let folder = empty();
    let server = writable(folder.path(), &[]);
    let pretty = format!("{:#}", document(1));
    let created = send(&server, "/logs/_doc?refresh=true", pretty);
    assert_eq!(
        (created.status, &created.json()["result"]),
        (201, &json!("created"))
    );
    let bad = "{\"time\": 1}\n\n";
    let body = format!("{}{bad}", lines(&[document(2), document(3)]));
    let ingested = send(
        &server,
        "/api/v1/logs/ingest?commit=wait_for&detailed_response=true",
        body,
    );
    let answer = ingested.json();
    assert_eq!(answer["num_docs_for_processing"], 3, "{answer}");
    assert_eq!(
        (&answer["num_ingested_docs"], &answer["num_rejected_docs"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(answer["parse_failures"][0]["document"], "{\"time\": 1}");
    let packed = {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(lines(&[json!({"create": {}}), document(4)]).as_bytes())
            .unwrap();
        gzip.finish().unwrap()
    };
    let headers = [
        ("content-encoding", "gzip"),
        ("content-type", "application/json"),
    ];
    let answer = server.send_bytes(Method::PUT, "/api/v1/_elastic/logs/_bulk", &headers, packed);
    assert_eq!(answer.json()["errors"], false, "{}", answer.text);
    assert_eq!(count(&server, "logs", "some"), 4);

    let logs = json!({"resourceLogs": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeLogs": [{"logRecords": [
            {"timeUnixNano": "1714557600000000001", "severityText": "INFO", "body": {"stringValue": "hello there"}},
            {"timeUnixNano": "1714557600000000002", "body": {"stringValue": "hello again"}},
        ]}],
    }]});
    let answer = server.post_json("/v1/logs", &logs);
    assert_eq!(
        (answer.status, answer.json()),
        (200, json!({})),
        "{}",
        answer.text
    );
    assert_eq!(count(&server, "otel-logs", "service_name:shop"), 2);
    let answer = server.send(
        Method::POST,
        "/v1/logs",
        &[("content-type", "text/plain")],
        String::new(),
    );
    assert_eq!(answer.status, 415);
    let headers = [
        ("content-type", "application/json"),
        ("qw-otel-logs-index", "nowhere"),
    ];
    let answer = server.send(Method::POST, "/v1/logs", &headers, logs.to_string());
    assert_eq!((answer.status, &answer.json()["code"]), (404, &json!(5)));
}

#[test]
fn what_is_only_durable_is_published_soon_and_survives_a_killed_server() {
    let folder = empty();
    let path = folder.path();
    let never = [&INDEXES[..], &["--writable", "--commit-interval", "1h"]].concat();
    let server = Server::of(path, &never);
    let body = lines(&[
        json!({"create": {}}),
        document(1),
        json!({"create": {}}),
        document(2),
    ]);
    let answer = send(&server, "/logs/_bulk?refresh=false", body);
    assert_eq!(answer.json()["errors"], false);
    let path_of_quickwit = "/api/v1/logs/ingest?commit=auto";
    let ingested = send(&server, path_of_quickwit, lines(&[document(3)]));
    assert_eq!(ingested.status, 200, "{}", ingested.text);
    assert_eq!(count(&server, "logs", "*"), 0);
    // Killed instead of stopped.
    drop(server);
    let server = Server::of(path, &never);
    assert_eq!(send(&server, "/logs/_refresh", String::new()).status, 200);
    assert_eq!(count(&server, "logs", "*"), 3);
    assert_eq!(
        std::fs::read_dir(path.join("logs/spool")).unwrap().count(),
        0
    );
}

#[test]
fn a_server_that_is_stopped_publishes_first() {
    let folder = empty();
    let path = folder.path();
    let mut server = Server::of(
        path,
        &[&INDEXES[..], &["--writable", "--commit-interval", "1h"]].concat(),
    );
    let answer = send(
        &server,
        "/api/v1/logs/ingest",
        lines(&[document(1), document(2)]),
    );
    assert_eq!(answer.json()["num_ingested_docs"], 2);
    assert!(server.stop().success());
    let (stdout, _) = run(
        path,
        &[
            "search", "--index", "logs", "--engine", "native", "--query", "*",
        ],
        0,
    );
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["num_hits"], 2);
}

#[test]
fn a_query_deletes_what_it_finds() {
    let folder = empty();
    let server = writable(folder.path(), &[]);
    let documents = (0..20).flat_map(|n| [json!({"create": {}}), document(n)]);
    let body = lines(&documents.collect::<Vec<_>>());
    assert_eq!(
        send(&server, "/logs/_bulk", body.clone()).json()["errors"],
        false
    );
    assert_eq!(
        send(&server, "/more/_bulk?refresh=false", body).json()["errors"],
        false
    );
    let delete = |path: &str, body: &Value| server.post(path, body);
    for (path, body, part) in [
        ("/logs/_delete_by_query", json!({}), "query is missing"),
        (
            "/logs/_delete_by_query?wait_for_completion=maybe",
            json!({"query": {"match_all": {}}}),
            "wait_for_completion",
        ),
        (
            "/logs/_delete_by_query",
            json!({"query": {"nonsense": {}}}),
            "nonsense",
        ),
        (
            "/logs/_delete_by_query",
            json!({"query": {"term": {"nothing": 1}}}),
            "nothing",
        ),
    ] {
        let answer = delete(path, &body);
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text);
        assert!(answer.text.contains(part), "{path} {body}: {}", answer.text);
    }
    // The last of two would delete what the first was meant to spare.
    for (body, key) in [
        (
            r#"{"query": {"match_none": {}}, "query": {"match_all": {}}}"#,
            "query",
        ),
        (
            r#"{"query": {"range": {"n": {"gte": 100, "gte": 0}}}}"#,
            "gte",
        ),
    ] {
        let headers = [("content-type", "application/json")];
        let path = "/logs/_delete_by_query";
        let answer = server.send(Method::POST, path, &headers, body.to_owned());
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "parsing_exception", "{error}");
        let reason = error["reason"].as_str().unwrap();
        assert!(
            reason.contains(&format!("duplicate key {key:?}")),
            "{reason}"
        );
    }
    assert_eq!(count(&server, "logs", "*"), 20);
    let some = json!({"query": {"bool": {"should": [{"match": {"text": "number3"}}, {"match": {"text": "number5"}}]}}});
    let answer = delete("/logs,more/_delete_by_query?conflicts=proceed", &some);
    assert_eq!(
        (answer.status, &answer.json()["deleted"]),
        (200, &json!(4)),
        "{}",
        answer.text
    );
    assert_eq!(
        (count(&server, "logs", "*"), count(&server, "more", "*")),
        (18, 18)
    );
    // Both have the same name in their configs; the one under which they are served counts.
    let of_more = json!({"query": {"bool": {"filter": [{"match": {"text": "number7"}}], "must_not": [{"term": {"_index": "logs"}}]}}});
    let answer = delete("/logs,more/_delete_by_query", &of_more);
    assert_eq!(answer.json()["deleted"], 1, "{}", answer.text);
    assert_eq!(
        (count(&server, "logs", "*"), count(&server, "more", "*")),
        (18, 17)
    );
    assert_eq!(
        delete(
            "/lo*/_delete_by_query",
            &json!({"query": {"match_all": {}}})
        )
        .json()["deleted"],
        18
    );
    assert_eq!(
        (count(&server, "logs", "*"), count(&server, "more", "*")),
        (0, 17)
    );
    assert_eq!(
        delete(
            "/nowhere/_delete_by_query",
            &json!({"query": {"match_all": {}}})
        )
        .status,
        404
    );
}

#[test]
fn tokens_say_who_may_write_and_delete() {
    let folder = empty();
    let path = folder.path();
    let reader = format!("Bearer {}", key(path, &["--id", "reader"]));
    let writer = format!(
        "Bearer {}",
        key(
            path,
            &["--id", "writer", "--right", "write", "--index", "logs"]
        )
    );
    let bounded = key(
        path,
        &[
            "--id",
            "bounded",
            "--right",
            "read",
            "--right",
            "write",
            "--right",
            "delete",
            "--filter",
            "level:WARN",
        ],
    );
    let bounded = format!("Bearer {bounded}");
    let server = writable(path, &["--api-keys", "keys.toml"]);
    let post = |path: &str, token: &str, body: &str| {
        let headers = [
            ("authorization", token),
            ("content-type", "application/json"),
        ];
        server.send(Method::POST, path, &headers, body.to_owned())
    };
    let warning = json!({"time": "2024-05-01T10:00:00Z", "level": "WARN", "text": "some"});
    let body = lines(&[
        json!({"create": {}}),
        document(1),
        json!({"create": {}}),
        warning,
    ]);
    let all = json!({"query": {"match_all": {}}}).to_string();
    assert_eq!(server.post("/logs/_bulk", &json!({})).status, 401);
    assert_eq!(post("/logs/_bulk", &reader, &body).status, 403);
    assert_eq!(post("/logs/_bulk", &bounded, &body).status, 403);
    assert_eq!(post("/v1/logs", &bounded, "{}").status, 403);
    assert_eq!(post("/logs/_bulk", &writer, &body).json()["errors"], false);
    let elsewhere = post("/more/_bulk", &writer, &body).json();
    let nowhere = post("/nowhere/_bulk", &writer, &body).json();
    assert_eq!(elsewhere["items"][0]["create"]["status"], 404);
    let text = |answer: &Value| answer["items"].to_string();
    assert_eq!(text(&elsewhere).replace("more", "nowhere"), text(&nowhere));
    assert_eq!(post("/logs/_delete_by_query", &writer, &all).status, 403);
    assert_eq!(post("/logs/_delete_by_query", &reader, &all).status, 403);
    // Its filter restricts what it deletes.
    assert_eq!(
        post("/logs/_delete_by_query", &bounded, &all).json()["deleted"],
        1
    );
    assert_eq!(get(&server, "/logs/_count", &reader).json()["count"], 1);
}

#[test]
fn a_server_that_only_reads_says_so() {
    let folder = empty();
    let server = Server::of(folder.path(), &INDEXES);
    for path in [
        "/_bulk",
        "/logs/_doc",
        "/api/v1/logs/ingest",
        "/v1/logs",
        "/logs/_delete_by_query",
    ] {
        let answer = send(&server, path, lines(&[json!({"create": {}}), document(1)]));
        assert_eq!(answer.status, 403, "{path}: {}", answer.text);
        assert!(
            answer.text.contains("--writable"),
            "{path}: {}",
            answer.text
        );
    }
}

#[test]
fn the_id_that_a_document_is_acknowledged_with_finds_it() {
    let folder = empty();
    let server = writable(folder.path(), &[]);
    let bad = json!({"time": "never"});
    let mut ids: Vec<(u32, String)> = Vec::new();
    for (n, refresh) in [(0, "wait_for"), (10, "true"), (20, "false")] {
        let body = [document(n), bad.clone(), document(n + 1), document(n + 2)];
        let body = body
            .into_iter()
            .flat_map(|document| [json!({"create": {}}), document]);
        let body: Vec<Value> = body.collect();
        let answer = send(
            &server,
            &format!("/logs/_bulk?refresh={refresh}"),
            lines(&body),
        );
        let items = answer.json()["items"].as_array().unwrap().clone();
        let taken = items.iter().map(|item| &item["create"]);
        let taken = taken.filter(|item| item["status"] == 201);
        let taken = taken.map(|item| item["_id"].as_str().unwrap().to_owned());
        ids.extend((n..).zip(taken));
    }
    let one = send(&server, "/logs/_doc", document(30).to_string());
    assert_eq!(one.status, 201, "{}", one.text);
    ids.push((30, one.json()["_id"].as_str().unwrap().to_owned()));
    assert_eq!(send(&server, "/logs/_refresh", String::new()).status, 200);
    assert_eq!(ids.len(), 10, "{ids:?}");
    for (n, id) in &ids {
        let query = json!({"query": {"ids": {"values": [id]}}});
        let found = server.post_json("/logs/_search", &query).json();
        let hits = found["hits"]["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 1, "{n} {id}: {found}");
        assert_eq!(hits[0]["_id"], id.as_str());
        assert_eq!(hits[0]["_source"]["text"], format!("number{n} some"));
    }
}

const KEEPS_ALL: &str = "
version: 0.9
index_id: kept
doc_mapping:
  mode: dynamic
ingest_settings:
  on_error: keep
  multiline_start: '^S'
";

/// The beginning of a document does not affect those after it.
#[test]
fn ids_are_right_where_everything_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("kept.yaml"), KEEPS_ALL).unwrap();
    let create = [
        "index",
        "create",
        "--index",
        "kept",
        "--index-config",
        "kept.yaml",
    ];
    run(path, &create, 0);
    let args = [
        "--index",
        "kept=kept",
        "--writable",
        "--commit-interval",
        "20ms",
    ];
    let server = Server::of(path, &args);
    let hits = |id: &Value| {
        let query = json!({"query": {"ids": {"values": [id]}}});
        let found = server.post_json("/kept/_search", &query).json();
        found["hits"]["hits"].as_array().unwrap().clone()
    };
    let action = b"{\"create\":{}}\n";
    let beginnings: [&[u8]; 4] = [b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf{}"];
    for (n, beginning) in (0..).zip(beginnings) {
        for refresh in ["wait_for", "false"] {
            let second = format!("{{\"n\":{n}}}\n");
            let body = [&action[..], beginning, b"\n", action, second.as_bytes()].concat();
            let path = format!("/kept/_bulk?refresh={refresh}");
            let headers = [("content-type", "application/x-ndjson")];
            let answer = server.send_bytes(Method::POST, &path, &headers, body);
            assert_eq!(answer.json()["errors"], false, "{}", answer.text);
            assert_eq!(send(&server, "/kept/_refresh", String::new()).status, 200);
            let items = &answer.json()["items"];
            assert_eq!(hits(&items[0]["create"]["_id"]).len(), 1, "{beginning:x?}");
            let found = hits(&items[1]["create"]["_id"]);
            assert_eq!(found.len(), 1, "{beginning:x?}");
            assert_eq!(found[0]["_source"]["n"], n, "{beginning:x?}");
        }
    }
}

/// In the protocol's terms, resources are exhausted.
#[test]
fn logs_that_are_too_many_for_one_request_are_no_fault_of_the_server() {
    let folder = empty();
    let server = writable(folder.path(), &["--max-pending-bytes", "2kB"]);
    let text = "x".repeat(100);
    let record = json!({"timeUnixNano": "1714557600000000001", "body": {"stringValue": text}});
    let records = vec![record; 50];
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]});
    let answer = server.post_json("/v1/logs", &logs);
    assert_eq!((answer.status, &answer.json()["code"]), (413, &json!(8)));
}

/// A short body may be many bytes of documents, and many may be sent at once.
#[cfg(target_os = "linux")]
#[test]
fn documents_of_logs_wait_for_room_before_others_are_read() {
    let folder = empty();
    let server = writable(folder.path(), &["--max-pending-bytes", "16MiB"]);
    let shared = "x".repeat(200_000);
    let records = vec![json!({"timeUnixNano": "1714557600000000001"}); 75];
    let logs = json!({"resourceLogs": [{
        "resource": {"attributes": [{"key": "a", "value": {"stringValue": shared}}]},
        "scopeLogs": [{"logRecords": records}],
    }]});
    let before = server.peak_bytes();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = || server.post_json("/v1/logs", &logs).status;
        let sending: Vec<_> = (0..30).map(|_| scope.spawn(send)).collect();
        sending
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let is_known = |status: &u16| [200, 429].contains(status);
    assert!(statuses.iter().all(is_known), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
    // The documents of each are 15 MB, and a copy of them waits: 900 MB if all were read at once.
    let peak = server.peak_bytes() - before;
    assert!(peak < 560 << 20, "{peak}");
}

/// OpenTelemetry's logs have a default index if no header names one: a client that may not know of it gets the same
/// answer whether it exists or not.
#[test]
fn logs_without_an_index_tell_nothing_of_those_that_a_token_is_not_for() {
    let folder = empty();
    let path = folder.path();
    let tokens = [
        ("other", "more"),
        ("logs", "otel-logs"),
        ("old", "otel-logs-v0_9"),
    ]
    .map(|(id, index)| {
        let args = ["--id", id, "--right", "write", "--index", index];
        (id, format!("Bearer {}", key(path, &args)))
    });
    let token = |id: &str| &tokens.iter().find(|(own, _)| *own == id).unwrap().1;
    let serve = |indexes: &[&str]| {
        let keys = [
            "--writable",
            "--api-keys",
            "keys.toml",
            "--index",
            "more=more",
        ];
        Server::of(path, &[&keys[..], indexes].concat())
    };
    let with = serve(&["--index", "otel-logs-v0_9=otel-logs"]);
    let without = serve(&[]);
    let send = |server: &Server, id: &str, headers: &[(&str, &str)]| {
        let token = token(id);
        let own = [
            ("authorization", token.as_str()),
            ("content-type", "application/json"),
        ];
        let body = json!({"resourceLogs": []}).to_string();
        let answer = server.send(Method::POST, "/v1/logs", &[&own, headers].concat(), body);
        (answer.status, answer.text)
    };
    let named = |index| [("qw-otel-logs-index", index)];
    for headers in [&[][..], &named("otel-logs-v0_9"), &named("otel-logs")] {
        for id in ["other", "logs"] {
            let told = send(&with, id, headers);
            assert_eq!(told, send(&without, id, headers), "{id} {headers:?}");
            assert_eq!(told.0, 404, "{id} {headers:?}: {}", told.1);
        }
    }
    // The same as where another index is forbidden.
    let (_, forbidden) = send(&with, "other", &named("otel-logs-v0_9"));
    let (_, nowhere) = send(&with, "other", &named("nowhere"));
    assert_eq!(forbidden.replace("otel-logs-v0_9", "nowhere"), nowhere);
    assert_eq!(send(&with, "old", &[]).0, 200);
    drop((with, without));
    // The index that a token allows takes the logs, whatever else exists.
    let both = serve(&[
        "--index",
        "otel-logs-v0_9=more",
        "--index",
        "otel-logs=otel-logs",
    ]);
    let taken = send(&both, "logs", &[]);
    assert_eq!(taken.0, 200, "{}", taken.1);
}

//! What tools ask for at their start: health, state, tables, policies; and indexes with names that other paths have.

use serde_json::{Value, json};

use crate::serve::{Answer, Server};
use crate::serve_managing::{count, delete, put, send, server, status};

fn start() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    (folder, server)
}

fn post(server: &Server, path: &str, body: &Value) -> Answer {
    send(server, "POST", path, body)
}

#[test]
fn an_index_may_have_the_name_of_another_path() {
    let (_folder, server) = start();
    for name in ["metrics", "api", "health", "otlp", "v1"] {
        assert_eq!(status(&server, "HEAD", &format!("/{name}")), 404, "{name}");
        let made = put(&server, &format!("/{name}"), &json!({}));
        assert_eq!(made.status, 200, "{name}: {}", made.text);
        assert_eq!(status(&server, "HEAD", &format!("/{name}")), 200, "{name}");
        let lines = "{\"index\":{}}\n{\"a\":1}\n".to_owned();
        let headers = [("content-type", "application/x-ndjson")];
        let path = format!("/{name}/_bulk");
        let sent = server.send("POST".parse().unwrap(), &path, &headers, lines);
        assert_eq!(sent.json()["errors"], false, "{name}: {}", sent.text);
        let added = post(&server, &format!("/{name}/_doc"), &json!({"a": 2}));
        assert_eq!(added.status, 201, "{name}: {}", added.text);
        assert_eq!(count(&server, name), 2);
        let found = server.get(&format!("/{name}/_search?q=a:1")).json();
        assert_eq!(found["hits"]["total"]["value"], 1, "{name}: {found}");
    }
    // Prometheus still finds what it asks for, and clients of the API what they ask for.
    assert!(server.get("/metrics").text.contains("# EOF"));
    let headers = [("accept", "application/json")];
    let index = server.send("GET".parse().unwrap(), "/metrics", &headers, String::new());
    assert!(
        index.json()["metrics"]["mappings"].is_object(),
        "{}",
        index.text
    );
    let aliased = post(
        &server,
        "/_aliases",
        &json!({"actions": [{"add": {"index": "api", "alias": "other"}}]}),
    );
    assert_eq!(aliased.status, 200, "{}", aliased.text);
    assert_eq!((count(&server, "other"), count(&server, "health")), (2, 2));
    assert_eq!(delete(&server, "/metrics").status, 200);
    assert_eq!(put(&server, "/indexes", &json!({})).status, 400);
}

#[test]
fn the_health_of_what_there_is_not_is_not_good() {
    let (_folder, server) = start();
    assert_eq!(put(&server, "/logs", &json!({})).status, 200);
    let health = server.get("/_cluster/health/logs?level=indices").json();
    assert_eq!(
        (&health["status"], &health["timed_out"]),
        (&json!("green"), &json!(false))
    );
    assert_eq!(health["indices"]["logs"]["status"], "green", "{health}");
    let shards = server.get("/_cluster/health?level=shards").json();
    assert_eq!(
        shards["indices"]["logs"]["shards"]["0"]["primary_active"], true,
        "{shards}"
    );
    let missing = server.get("/_cluster/health/nope?timeout=1s");
    let told = missing.json();
    assert_eq!(missing.status, 408);
    assert_eq!(
        (&told["status"], &told["timed_out"]),
        (&json!("red"), &json!(true))
    );
    assert_eq!(server.get("/_cluster/health/nope*").status, 200);
}

#[test]
fn a_valid_query_is_explained_and_an_invalid_one_has_its_error() {
    let (_folder, server) = start();
    assert_eq!(
        put(&server, "/logs/_doc/1", &json!({"level": "INFO"})).status,
        201
    );
    for (query, text) in [
        (json!({"match_all": {}}), "*:*"),
        (json!({"term": {"level": "INFO"}}), "level:INFO"),
        (
            json!({"query_string": {"query": "level:INFO AND x"}}),
            "level:INFO AND x",
        ),
        (
            json!({"bool": {"filter": []}}),
            "{\"bool\":{\"filter\":[]}}",
        ),
    ] {
        let asked = json!({ "query": query });
        let answer = post(&server, "/logs/_validate/query?explain=true", &asked).json();
        let expected = json!([{"index": "logs", "valid": true, "explanation": text}]);
        assert_eq!(answer["explanations"], expected, "{answer}");
        let answer = post(&server, "/logs/_validate/query", &asked).json();
        assert_eq!(
            (&answer["valid"], answer.get("explanations")),
            (&json!(true), None)
        );
    }
    let asked = json!({"query": {"nonsense": {}}});
    let answer = post(&server, "/logs/_validate/query?explain=true", &asked).json();
    assert_eq!(answer["explanations"][0]["valid"], false);
    assert!(answer["explanations"][0]["error"].is_string(), "{answer}");
}

#[test]
fn what_tools_ask_at_their_start_is_answered_with_what_is_so() {
    let (_folder, server) = start();
    for id in 1..=3 {
        assert_eq!(
            put(&server, &format!("/logs/_doc/{id}"), &json!({"a": id})).status,
            201
        );
    }
    let named = json!({"actions": [{"add": {"index": "logs", "alias": "all"}}]});
    assert_eq!(post(&server, "/_aliases", &named).status, 200);
    for (path, pointer, expected) in [
        ("/_ingest/pipeline", "", json!({})),
        ("/_transform", "/count", json!(0)),
        ("/_enrich/policy", "/policies", json!([])),
        ("/_script_language", "/types_allowed/1", json!("stored")),
        ("/_ilm/policy", "", json!({})),
        ("/_remote/info", "", json!({})),
        ("/_nodes/usage", "/_nodes/total", json!(1)),
        ("/_nodes/_all/os,jvm?human=true", "/_nodes/total", json!(1)),
        ("/_features", "/features", json!([])),
        ("/_health_report", "/status", json!("green")),
        ("/_tasks?group_by=none", "/tasks", json!([])),
        ("/_data_stream/_stats", "/data_stream_count", json!(0)),
        (
            "/_cluster/settings?include_defaults=true",
            "/defaults",
            json!({}),
        ),
        ("/_cat/nodes?format=json&h=id,name", "/0/id", json!("-")),
        ("/_tasks?detailed=true", "/nodes", json!({})),
        ("/_cluster/pending_tasks", "/tasks", json!([])),
        ("/all/_ilm/explain", "/indices/logs/managed", json!(false)),
        (
            "/_cluster/state",
            "/metadata/indices/logs",
            json!({"state": "open", "aliases": ["all"]}),
        ),
        ("/_cluster/state/version", "/metadata", Value::Null),
        (
            "/_cluster/state/metadata/lo*",
            "/metadata/indices/logs/state",
            json!("open"),
        ),
        ("/_cluster/stats", "/indices/docs/count", json!(3)),
        ("/_cluster/stats", "/indices/shards/total", json!(1)),
        (
            "/_nodes/stats/indices",
            "/nodes/canter/indices/docs/count",
            json!(3),
        ),
        (
            "/_nodes/_local/stats",
            "/nodes/canter/indices/docs/deleted",
            json!(0),
        ),
        ("/_xpack", "/license/status", json!("active")),
        (
            "/_security/_authenticate",
            "/authentication_type",
            json!("anonymous"),
        ),
        ("/all/_search_shards", "/shards/0/0/index", json!("logs")),
        (
            "/logs/_segments",
            "/indices/logs/shards/0/0/routing/primary",
            json!(true),
        ),
        (
            "/logs/_stats/docs,store",
            "/indices/logs/total/docs/count",
            json!(3),
        ),
        ("/_cat/shards/logs?format=json", "/0/docs", json!("3")),
        (
            "/_cat/nodes?format=json&h=name,master",
            "",
            json!([{"name": "canter", "master": "*"}]),
        ),
        ("/_cat/allocation?format=json", "/0/shards", json!("1")),
        ("/_cat/plugins?format=json", "", json!([])),
        ("/_cat/recovery?format=json", "", json!([])),
        (
            "/api/v1/version",
            "/build/version",
            json!(env!("CARGO_PKG_VERSION")),
        ),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        let found = answer.json();
        let found = found.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{path}: {}", answer.text);
    }
    let store = server.get("/_stats").json()["_all"]["total"]["store"]["size_in_bytes"].clone();
    let shown = server.get("/_cat/shards?h=store&bytes=b");
    assert_eq!(shown.text.trim(), store.to_string());
    assert!(
        server.get("/_cat/master?v").text.starts_with("id"),
        "columns have names"
    );
    assert!(server.get("/_cat").text.contains("/_cat/shards\n"));
    let template = json!({"index_patterns": ["a-*", "b"], "priority": 7, "composed_of": []});
    assert_eq!(put(&server, "/_index_template/t1", &template).status, 200);
    let shown = server
        .get("/_cat/templates?format=json&h=name,index_patterns,order")
        .json();
    let expected = json!([{"name": "t1", "index_patterns": "[a-*, b]", "order": "7"}]);
    assert_eq!(shown, expected);
    assert_eq!(server.get("/_cat/templates/x*").text, "");
    for refused in ["/logs/_termvectors/1", "/_mtermvectors", "/logs/_rank_eval"] {
        let answer = server.get(refused);
        assert!(
            answer.status == 400 && answer.text.contains("is not supported"),
            "{}",
            answer.text
        );
    }
    for path in [
        "/logs/_forcemerge?max_num_segments=1",
        "/_cache/clear",
        "/all/_open",
    ] {
        let answer = post(&server, path, &Value::Null);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    }
}

#[test]
fn what_would_not_be_done_is_refused_by_name_and_every_error_has_its_status() {
    let (_folder, server) = start();
    assert_eq!(put(&server, "/logs", &json!({})).status, 200);
    for (method, path, expected, part) in [
        ("PUT", "/_ingest/pipeline/p", 400, "a pipeline is an object"),
        ("POST", "/logs/_close", 400, "[_close]"),
        ("GET", "/_cat/segments", 400, "[_cat/segments]"),
        ("GET", "/_cat/nonsense", 400, "[_cat/nonsense]"),
        ("GET", "/_ilm/policy/days", 404, "days"),
        ("GET", "/_ingest/pipeline/p", 404, "[p]"),
        ("POST", "/nope/_forcemerge", 404, "[nope]"),
        ("POST", "/nope/_open", 404, "[nope]"),
        ("GET", "/nope/_segments", 404, "[nope]"),
        ("GET", "/_tasks?nonsense=1", 400, "nonsense"),
        ("GET", "/_nonsense", 400, "no handler"),
        ("GET", "/logs/_nonsense/more", 400, "no handler"),
    ] {
        let answer = send(&server, method, path, &Value::Null);
        assert_eq!(answer.status, expected, "{method} {path}: {}", answer.text);
        assert!(
            answer.text.contains(part),
            "{method} {path}: {}",
            answer.text
        );
        assert_eq!(
            answer.json()["status"],
            expected,
            "{method} {path}: {}",
            answer.text
        );
    }
}

#[test]
fn documents_are_copied_into_an_index_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "logs"]);
    for id in 1..=3 {
        assert_eq!(
            put(
                &server,
                &format!("/logs/_doc/{id}"),
                &json!({"a": id, "s": "x y"})
            )
            .status,
            201
        );
    }
    assert_eq!(put(&server, "/other/_doc/1", &json!({"a": 1})).status, 404);
    let asked = json!({"source": {"index": "logs", "query": {"range": {"a": {"gte": 2}}}}, "dest": {"index": "copy"}});
    let answer = post(&server, "/_reindex", &asked);
    assert_eq!(answer.json()["created"], 2, "{}", answer.text);
    assert_eq!(count(&server, "copy"), 2);
    let copied = server.get("/copy/_doc/3").json();
    assert_eq!(copied["_source"], json!({"a": 3, "s": "x y"}));
    let found = server.get("/copy/_search?q=s.keyword:%22x%20y%22").json();
    assert_eq!(found["hits"]["total"]["value"], 2, "{found}");
}

#[test]
fn at_most_so_many_documents_are_deleted_as_a_request_says() {
    let (_folder, server) = start();
    for id in 1..=10 {
        let index = if id <= 6 { "one" } else { "two" };
        assert_eq!(
            put(&server, &format!("/{index}/_doc/{id}"), &json!({"a": id})).status,
            201
        );
    }
    let everything = json!({"query": {"match_all": {}}});
    let answer = post(&server, "/one/_delete_by_query?max_docs=2", &everything).json();
    assert_eq!(
        (&answer["deleted"], count(&server, "one")),
        (&json!(2), 4),
        "{answer}"
    );
    let some = json!({"query": {"match_all": {}}, "max_docs": 5});
    let answer = post(&server, "/one,two/_delete_by_query", &some).json();
    assert_eq!(
        (&answer["deleted"], count(&server, "one,two")),
        (&json!(5), 3),
        "{answer}"
    );
    let answer = post(
        &server,
        "/one,two/_delete_by_query?max_docs=50",
        &everything,
    )
    .json();
    assert_eq!(
        (&answer["deleted"], count(&server, "one,two")),
        (&json!(3), 0),
        "{answer}"
    );
    for wrong in ["0", "-1", "many"] {
        let path = format!("/one/_delete_by_query?max_docs={wrong}");
        assert_eq!(post(&server, &path, &everything).status, 400, "{wrong}");
    }
}

#[test]
fn a_long_write_goes_on_as_a_task() {
    let (_folder, server) = start();
    for id in 0..5 {
        let path = format!("/from/_doc/{id}?refresh=true");
        assert_eq!(put(&server, &path, &json!({"n": id})).status, 201);
    }
    let body = json!({"source": {"index": "from"}, "dest": {"index": "to"}});
    let begun = post(&server, "/_reindex?wait_for_completion=false", &body);
    assert_eq!(begun.status, 200, "{}", begun.text);
    let ended = |begun: &Answer| {
        let id = begun.json()["task"].as_str().unwrap().to_owned();
        server.get(&format!("/_tasks/{id}?wait_for_completion=true"))
    };
    let copied = ended(&begun).json();
    assert_eq!(copied["completed"], true, "{copied}");
    assert_eq!(copied["response"]["created"], 5, "{copied}");
    assert_eq!(copied["task"]["status"]["total"], 5, "{copied}");
    assert_eq!(count(&server, "to"), 5);
    let query = json!({"query": {"range": {"n": {"gte": 3}}}});
    let path = "/to/_delete_by_query?wait_for_completion=false&refresh=true";
    let deleted = ended(&post(&server, path, &query)).json();
    assert_eq!(deleted["response"]["deleted"], 2, "{deleted}");
    assert_eq!(count(&server, "to"), 3);
    // What is wrong with a request is what its task ended with.
    let wrong = ended(&post(&server, path, &json!({}))).json();
    assert_eq!(wrong["completed"], true, "{wrong}");
    assert!(wrong["error"]["reason"].is_string(), "{wrong}");
    assert_eq!(server.get("/_tasks/canter:1").status, 404);
}

#[test]
fn documents_are_deleted_from_indexes_of_any_name() {
    let (_folder, server) = start();
    for name in ["logs-2024.05.01", "ab", "2024", "plain"] {
        for id in 0..3 {
            let path = format!("/{name}/_doc/{id}?refresh=true");
            assert_eq!(put(&server, &path, &json!({"n": id})).status, 201);
        }
        let path = format!("/{name}/_delete_by_query");
        let deleted = post(&server, &path, &json!({"query": {"term": {"n": 1}}}));
        assert_eq!(deleted.json()["deleted"], 1, "{name}: {}", deleted.text);
        assert_eq!(count(&server, name), 2, "{name}");
        let named = json!({"query": {"term": {"_index": name}}});
        let answer = post(&server, &path, &named);
        assert_eq!(answer.json()["deleted"], 2, "{name}: {}", answer.text);
    }
}

#[test]
fn tables_have_the_columns_that_are_asked_for_by_patterns() {
    let (_folder, server) = start();
    assert_eq!(put(&server, "/logs", &json!({})).status, 200);
    for table in [
        "aliases",
        "allocation",
        "fielddata",
        "master",
        "nodes",
        "shards",
    ] {
        let whole = server.get(&format!("/_cat/{table}?h=*&format=json"));
        assert_eq!(whole.status, 200, "{table}: {}", whole.text);
    }
    let some = server.get("/_cat/shards?h=i*,unknown,state&format=json");
    assert_eq!(
        some.json(),
        json!([{"index": "logs", "ip": "-", "state": "STARTED"}]),
        "{}",
        some.text
    );
    assert_eq!(server.get("/_cat/shards?s=unknown").status, 400);
    let indexes = server.get("/_cat/indices?h=index,store.size").text;
    assert!(indexes.trim_end().ends_with('b'), "{indexes}");
}

#[test]
fn a_client_that_looks_for_nodes_finds_the_one_it_asks() {
    let (_folder, server) = start();
    for path in ["/_nodes/http", "/_nodes", "/_nodes/_all/http"] {
        let node = &server.get(path).json()["nodes"]["canter"];
        let address = node["http"]["publish_address"].as_str().unwrap_or_default();
        assert_eq!(address, server.address(), "{path}: {node}");
    }
}

//! Aliases and dates in names, over HTTP: made, shown, searched, written to, and known to other servers.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{count, delete, put, send, server, status};

fn post(server: &Server, path: &str, body: &Value) -> Value {
    let answer = send(server, "POST", path, body);
    assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text);
    answer.json()
}

fn fill(server: &Server) {
    for (path, document) in [
        ("/one/_doc/1", json!({"tenant": 7, "m": "red"})),
        ("/one/_doc/2", json!({"tenant": 8, "m": "red"})),
        ("/two/_doc/3", json!({"tenant": 8, "m": "red"})),
    ] {
        assert_eq!(put(server, path, &document).status, 201, "{path}");
    }
    let actions = json!({"actions": [
        {"add": {"indices": ["one", "two"], "alias": "all"}},
        {"add": {"index": "one", "alias": "mine", "filter": {"term": {"tenant": 7}}}},
        {"add": {"index": "two", "alias": "all", "is_write_index": true}},
    ]});
    post(server, "/_aliases", &actions);
}

#[test]
fn an_alias_stands_for_its_indexes_wherever_a_name_may_stand() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    fill(&server);
    assert_eq!(
        (
            count(&server, "all"),
            count(&server, "a*"),
            count(&server, "mine,two")
        ),
        (3, 3, 2)
    );
    let search = json!({"query": {"match": {"m": "red"}}});
    assert_eq!(
        post(&server, "/all/_search", &search)["hits"]["total"]["value"],
        3
    );
    let lines =
        "{\"index\":\"mine\"}\n{}\n{\"index\":\"all\"}\n{\"query\":{\"term\":{\"tenant\":8}}}\n";
    let headers = [("content-type", "application/x-ndjson")];
    let many = server.send(
        "POST".parse().unwrap(),
        "/_msearch",
        &headers,
        lines.to_owned(),
    );
    let totals = many.json()["responses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["hits"]["total"]["value"].as_u64())
        .collect::<Vec<_>>();
    assert_eq!(totals, [Some(1), Some(2)], "{}", many.text);
    // Filters hold for queries in URLs, and for deletions.
    assert_eq!(server.get("/mine/_count?q=m:red").json()["count"], 1);
    let deleted = post(
        &server,
        "/mine/_delete_by_query",
        &json!({"query": {"match_all": {}}}),
    );
    assert_eq!((&deleted["deleted"], count(&server, "one")), (&json!(1), 1));
    // One document: by an alias of one index.
    assert_eq!(server.get("/mine/_doc/2").json()["_index"], "one");
    assert_eq!(server.get("/all/_doc/2").status, 400);
    let mapped = server.get("/all/_mapping").json();
    assert!(
        mapped["one"].is_object() && mapped["two"].is_object(),
        "{mapped}"
    );
    assert_eq!(status(&server, "HEAD", "/mine"), 200);
    assert_eq!(status(&server, "HEAD", "/yours"), 404);
}

#[test]
fn documents_for_an_alias_go_into_its_write_index() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    fill(&server);
    let added = put(&server, "/all/_doc/9", &json!({"m": "blue"}));
    assert_eq!(
        (added.status, &added.json()["_index"]),
        (201, &json!("two")),
        "{}",
        added.text
    );
    post(
        &server,
        "/_aliases",
        &json!({"actions": [{"add": {"index": "*", "alias": "none"}}]}),
    );
    let refused = put(&server, "/none/_doc/9", &json!({"m": "blue"}));
    assert_eq!(refused.status, 400);
    assert!(
        refused
            .text
            .contains("no write index is defined for alias [none]"),
        "{}",
        refused.text
    );
    let refused = put(
        &server,
        "/one/_doc/9?require_alias=true",
        &json!({"m": "blue"}),
    );
    assert_eq!(refused.status, 404, "{}", refused.text);
    assert_eq!(
        delete(&server, "/all").status,
        400,
        "an alias is no index to delete"
    );
    assert_eq!(
        put(&server, "/all", &Value::Null).status,
        400,
        "nor to create"
    );
}

#[test]
fn aliases_are_shown_and_other_servers_know_them() {
    let folder = tempfile::tempdir().unwrap();
    let first = server(folder.path(), &["--auto-create-index", "*"]);
    fill(&first);
    let own = json!({"aliases": {"three-now": {"is_write_index": true, "routing": 5}}});
    assert_eq!(put(&first, "/three", &own).status, 200);
    let told = json!({"three": {"aliases": {
        "three-now": {"index_routing": "5", "search_routing": "5", "is_write_index": true}
    }}});
    // A server that only searches.
    let second = Server::of(folder.path(), &["--indexes-in", "all"]);
    for server in [&first, &second] {
        assert_eq!(server.get("/three/_alias").json(), told);
        assert_eq!(server.get("/_alias/three*").json(), told);
        assert_eq!(status(server, "HEAD", "/_alias/three-now"), 200);
        let missing = server.get("/_alias/three-now,nothing");
        assert_eq!(
            (missing.status, &missing.json()["error"]),
            (404, &json!("alias [nothing] missing"))
        );
        assert_eq!(
            server.get("/three").json()["three"]["aliases"],
            told["three"]["aliases"]
        );
        assert_eq!(
            server.get("/_cat/aliases/mine?h=alias,index,filter").text,
            "mine one *\n"
        );
        assert_eq!(count(server, "all"), 3);
    }
    assert_eq!(delete(&first, "/one").status, 200);
    assert_eq!(
        status(&first, "HEAD", "/_alias/mine"),
        404,
        "it goes with its index"
    );
    assert_eq!(delete(&first, "/two/_alias/all").status, 200);
    assert_eq!(delete(&first, "/two/_alias/all").status, 404);
    let refused = send(&first, "POST", "/three-now/_rollover", &Value::Null);
    assert!(
        refused.status == 400 && refused.text.contains("rolled over"),
        "{}",
        refused.text
    );
}

#[test]
fn dates_in_names_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let added = put(
        &server,
        "/%3Clogs-%7Bnow%2Fd%7D%3E/_doc/1",
        &json!({"m": "red"}),
    );
    let index = added.json()["_index"].as_str().unwrap().to_owned();
    assert!(
        index.starts_with("logs-2") && index.len() == "logs-2026.11.05".len(),
        "{index}"
    );
    // Midnight may lie between them.
    let found = server.get(
        "/%3Clogs-%7Bnow%2Fd%7D%3E,%3Clogs-%7Bnow%2Fd-1d%7D%3E/_count?ignore_unavailable=true",
    );
    assert_eq!(found.json()["count"], 1, "{}", found.text);
    assert_eq!(server.get("/%3Clogs-%7Bnow%7D/_count").status, 404);
}

#[test]
fn documents_are_written_again_and_copied() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    fill(&server);
    let updated = post(
        &server,
        "/all/_update_by_query",
        &json!({"query": {"term": {"tenant": 8}}}),
    );
    assert_eq!(
        (&updated["total"], &updated["updated"]),
        (&json!(2), &json!(2)),
        "{updated}"
    );
    assert_eq!(server.get("/one/_doc/2").json()["_version"], 2);
    assert_eq!(server.get("/one/_doc/1").json()["_version"], 1);
    let copy = json!({"source": {"index": "all", "query": {"term": {"tenant": 8}}}, "dest": {"index": "copy"}});
    let copied = post(&server, "/_reindex", &copy);
    assert_eq!(
        (&copied["created"], count(&server, "copy")),
        (&json!(2), 2),
        "{copied}"
    );
    assert_eq!(
        server.get("/copy/_doc/3").json()["_source"],
        json!({"tenant": 8, "m": "red"})
    );
    let again = post(&server, "/_reindex", &copy);
    assert_eq!(
        (&again["updated"], count(&server, "copy")),
        (&json!(2), 2),
        "{again}"
    );
    let mut only_new = copy.clone();
    only_new["dest"]["op_type"] = "create".into();
    let refused = send(&server, "POST", "/_reindex", &only_new);
    assert_eq!(
        (refused.status, &refused.json()["version_conflicts"]),
        (409, &json!(2))
    );
}

#[test]
fn clients_of_opensearch_are_told_what_they_want() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--compatible-with", "opensearch"]);
    let told = server.get("/").json();
    assert_eq!(told["version"]["distribution"], "opensearch", "{told}");
    assert!(told["tagline"].as_str().unwrap().contains("OpenSearch"));
}

#[test]
fn a_global_aggregation_covers_what_an_alias_shows() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    fill(&server);
    let search = json!({"size": 0, "query": {"match": {"m": "green"}}, "aggs": {
        "g": {"global": {}, "aggs": {"tenants": {"terms": {"field": "tenant"}}}}, "own": {"value_count": {"field": "tenant"}},
    }});
    for (names, expected) in [
        ("mine", 1),
        ("one", 2),
        ("all", 3),
        ("mine,two", 2),
        ("_all", 3),
    ] {
        let found = post(&server, &format!("/{names}/_search"), &search);
        let found = &found["aggregations"];
        assert_eq!(found["g"]["doc_count"], expected, "{names}: {found}");
        assert_eq!(found["own"]["value"], 0, "{names}");
        let lines = format!("{{\"index\":\"{names}\"}}\n{search}\n");
        let headers = [("content-type", "application/x-ndjson")];
        let many = server.send("POST".parse().unwrap(), "/_msearch", &headers, lines);
        let found = &many.json()["responses"][0]["aggregations"];
        assert_eq!(found["g"]["doc_count"], expected, "{names}: {}", many.text);
    }
}

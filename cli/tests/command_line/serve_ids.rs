//! Documents by ids of clients' choice: written, found, replaced, changed and deleted, and the order of those without.

use canter_tests::usual_or_full;
use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::{Answer, Server};
use crate::serve_managing::{delete, put, send, server, status};
use crate::support::run;

pub(crate) fn get(server: &Server, path: &str) -> (u16, Value) {
    let answer = send(server, "GET", path, &Value::Null);
    (answer.status, answer.json())
}

pub(crate) fn post(server: &Server, path: &str, body: &Value) -> Answer {
    send(server, "POST", path, body)
}

pub(crate) fn bulk(server: &Server, path: &str, lines: &[Value]) -> Vec<Value> {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let headers = [("content-type", "application/x-ndjson")];
    let answer = server.send(Method::POST, path, &headers, lines);
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["items"].as_array().unwrap().clone()
}

/// Says result and version of an answer.
#[track_caller]
pub(crate) fn said(answer: &Answer, status: u16, result: &str, version: u64) -> u64 {
    let json = answer.json();
    let found = (
        answer.status,
        json["result"].as_str(),
        json["_version"].as_u64(),
    );
    assert_eq!(
        found,
        (status, Some(result), Some(version)),
        "{}",
        answer.text
    );
    assert_eq!(json["_primary_term"], 1);
    json["_seq_no"].as_u64().unwrap()
}

#[track_caller]
pub(crate) fn problem(answer: &Answer, status: u16, kind: &str, reason: &str) {
    let error = &answer.json()["error"];
    assert_eq!(
        (answer.status, error["type"].as_str()),
        (status, Some(kind)),
        "{}",
        answer.text
    );
    assert!(
        error["reason"].as_str().unwrap().contains(reason),
        "{}",
        answer.text
    );
}

#[test]
fn a_document_lives_and_dies_by_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let first = put(
        &server,
        "/shop/_doc/a%2F1",
        &json!({"name": "Cup", "price": 1.50}),
    );
    let first = said(&first, 201, "created", 1);
    let (status_of, found) = get(&server, "/shop/_doc/a%2F1");
    let wanted = json!({
        "_index": "shop", "_id": "a/1", "_version": 1, "_seq_no": first, "_primary_term": 1,
        "found": true, "_source": {"name": "Cup", "price": 1.50},
    });
    assert_eq!((status_of, found), (200, wanted));
    let second = put(&server, "/shop/_doc/a%2F1", &json!({"name": "Mug"}));
    let second = said(&second, 200, "updated", 2);
    assert_ne!(first, second);
    assert_eq!(
        get(&server, "/shop/_source/a%2F1"),
        (200, json!({"name": "Mug"}))
    );
    let (_, search) = get(
        &server,
        "/shop/_search?version=true&seq_no_primary_term=true",
    );
    let hits = &search["hits"]["hits"];
    assert_eq!(hits.as_array().unwrap().len(), 1, "{search}");
    assert_eq!(
        (
            &hits[0]["_id"],
            &hits[0]["_version"],
            &hits[0]["_seq_no"],
            &hits[0]["_source"]
        ),
        (
            &json!("a/1"),
            &json!(2),
            &json!(second),
            &json!({"name": "Mug"})
        )
    );

    // Conditions.
    let path = "/shop/_doc/a%2F1?if_primary_term=1&if_seq_no=";
    let kind = "version_conflict_engine_exception";
    let late = put(&server, &format!("{path}{first}"), &json!({"name": "late"}));
    problem(&late, 409, kind, &format!("required seqNo [{first}]"));
    let third = put(&server, &format!("{path}{second}"), &json!({"name": "Jug"}));
    said(&third, 200, "updated", 3);
    problem(
        &put(&server, "/shop/_create/a%2F1", &json!({})),
        409,
        kind,
        "already exists (current version [3])",
    );
    problem(
        &put(&server, "/shop/_doc/a%2F1?op_type=create", &json!({})),
        409,
        kind,
        "already exists",
    );
    said(
        &put(&server, "/shop/_create/b", &json!({"name": "Bowl"})),
        201,
        "created",
        1,
    );

    // Changes.
    let changed = post(
        &server,
        "/shop/_update/b",
        &json!({"doc": {"size": {"cm": 7}}}),
    );
    said(&changed, 200, "updated", 2);
    let changed = post(
        &server,
        "/shop/_update/b",
        &json!({"doc": {"size": {"cm": 7}}}),
    );
    said(&changed, 200, "noop", 2);
    let changed = post(
        &server,
        "/shop/_update/b",
        &json!({"doc": {"size": {"color": "red"}}}),
    );
    said(&changed, 200, "updated", 3);
    let bowl = json!({"name": "Bowl", "size": {"cm": 7, "color": "red"}});
    assert_eq!(get(&server, "/shop/_source/b"), (200, bowl.clone()));
    let missing = post(&server, "/shop/_update/c", &json!({"doc": {"n": 1}}));
    problem(
        &missing,
        404,
        "document_missing_exception",
        "[c]: document missing",
    );
    let upsert = json!({"doc": {"n": 1}, "doc_as_upsert": true});
    said(
        &post(&server, "/shop/_update/c", &upsert),
        201,
        "created",
        1,
    );
    problem(
        &post(
            &server,
            "/shop/_update/c",
            &json!({"script": "ctx._source.n += x"}),
        ),
        400,
        "illegal_argument_exception",
        "failed to execute script",
    );

    // Several at once.
    let (_, several) = get(&server, "/shop/_search?q=*&size=0");
    assert_eq!(several["hits"]["total"]["value"], 3);
    let several = post(
        &server,
        "/_mget",
        &json!({"docs": [
            {"_index": "shop", "_id": "b", "_source": ["name"]}, {"_index": "shop", "_id": "nobody"},
            {"_index": "other", "_id": "b"}, {"_index": "shop", "_id": "a/1"},
        ]}),
    );
    let docs = several.json()["docs"].clone();
    assert_eq!(docs[0]["_source"], json!({"name": "Bowl"}), "{docs}");
    assert_eq!(
        docs[1],
        json!({"_index": "shop", "_id": "nobody", "found": false})
    );
    assert_eq!(
        docs[2]["error"]["type"], "index_not_found_exception",
        "{docs}"
    );
    assert_eq!(docs[3]["_source"], json!({"name": "Jug"}));
    let by_ids = post(&server, "/shop/_mget", &json!({"ids": ["b", "b", "x"]})).json();
    assert_eq!(by_ids["docs"][1]["_source"], bowl);
    assert_eq!(by_ids["docs"][2]["found"], false);

    // The end.
    said(&delete(&server, "/shop/_doc/b"), 200, "deleted", 4);
    said(&delete(&server, "/shop/_doc/b"), 404, "not_found", 1);
    assert_eq!(
        get(&server, "/shop/_doc/b"),
        (404, json!({"_index": "shop", "_id": "b", "found": false}))
    );
    assert_eq!(status(&server, "HEAD", "/shop/_doc/b"), 404);
    assert_eq!(status(&server, "HEAD", "/shop/_doc/c"), 200);
    assert_eq!(status(&server, "HEAD", "/shop/_source/c"), 200);
    let (status_of, none) = get(&server, "/shop/_source/b");
    assert_eq!(
        (status_of, &none["error"]["type"]),
        (404, &json!("resource_not_found_exception"))
    );
    // Neither field of versions is one of the documents.
    let (_, mapping) = get(&server, "/shop/_mapping");
    let properties = mapping["shop"]["mappings"]["properties"].as_object();
    let names: Vec<&String> = properties.unwrap().keys().collect();
    assert_eq!(names, ["name", "n"], "{mapping}");
    said(&put(&server, "/shop/_doc/b", &json!({})), 201, "created", 1);
    assert_eq!(get(&server, "/shop/_source/b"), (200, json!({})));
}

#[test]
fn actions_on_one_id_are_performed_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let items = bulk(
        &server,
        "/shop/_bulk",
        &[
            json!({"index": {"_id": "a"}}),
            json!({"n": 1}),
            json!({"create": {"_id": "a"}}),
            json!({"n": 2}),
            json!({"index": {"_id": "a"}}),
            json!({"n": 3}),
            json!({"delete": {"_id": "b"}}),
            json!({"index": {"_id": "b"}}),
            json!({"n": 4}),
            json!({"index": {}}),
            json!({"n": 5}),
            json!({"index": {"_id": "c"}}),
            json!({"n": 6}),
            json!({"delete": {"_id": "c"}}),
            json!({"update": {"_id": "a"}}),
            json!({"doc": {"m": 7}}),
            json!({"index": {"_id": "d", "if_seq_no": 1, "if_primary_term": 1}}),
            json!({"n": 8}),
            json!({"index": {"_id": ""}}),
            json!({"n": 9}),
            json!({"index": {"_id": "e"}}),
            json!({"_id": "e"}),
            json!({"update": {}}),
            json!({"doc": {}}),
            json!({"index": {"_id": "f", "version": 3}}),
            json!({}),
        ],
    );
    let told: Vec<(u64, String)> = items
        .iter()
        .map(|item| {
            let (_, item) = item.as_object().unwrap().iter().next().unwrap();
            let result = item["result"]
                .as_str()
                .or(item["error"]["type"].as_str())
                .unwrap();
            (item["status"].as_u64().unwrap(), result.to_owned())
        })
        .collect();
    let wanted = [
        (201, "created"),
        (409, "version_conflict_engine_exception"),
        (200, "updated"),
        (404, "not_found"),
        (201, "created"),
        (201, "created"),
        (201, "created"),
        (200, "deleted"),
        (200, "updated"),
        (409, "version_conflict_engine_exception"),
        (400, "illegal_argument_exception"),
        (400, "document_parsing_exception"),
        (400, "illegal_argument_exception"),
        (400, "action_request_validation_exception"),
    ];
    let wanted = wanted.map(|(status, result)| (status, result.to_owned()));
    assert_eq!(told, wanted, "{items:#?}");
    assert_eq!(items[8]["update"]["_version"], 3);
    let (_, found) = get(&server, "/shop/_doc/a");
    assert_eq!(
        (&found["_source"], &found["_version"]),
        (&json!({"n": 3, "m": 7}), &json!(3))
    );
    let (_, all) = get(&server, "/shop/_search?q=*");
    assert_eq!(all["hits"]["total"]["value"], 3, "{all}");
    // A document without an id of its own is found and replaced by the one that it got.
    let id = items[5]["index"]["_id"].as_str().unwrap();
    assert_eq!(
        get(&server, &format!("/shop/_source/{id}")),
        (200, json!({"n": 5}))
    );
    said(
        &put(&server, &format!("/shop/_doc/{id}"), &json!({"n": 10})),
        200,
        "updated",
        2,
    );
    assert_eq!(
        get(&server, &format!("/shop/_source/{id}")),
        (200, json!({"n": 10}))
    );
    let (_, by_ids) = get(&server, "/shop/_count?q=*");
    assert_eq!(by_ids["count"], 3);
    said(
        &delete(&server, &format!("/shop/_doc/{id}")),
        200,
        "deleted",
        3,
    );
}

#[test]
fn what_is_only_safe_is_performed_in_order_also_by_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let slow = [
        "--indexes-in",
        "all",
        "--writable",
        "--commit-interval",
        "1h",
    ];
    let one = Server::of(folder.path(), &slow);
    assert_eq!(put(&one, "/shop", &json!({})).status, 200);
    for n in 0..12 {
        let id = format!("p{}", n % 3);
        let answer = put(
            &one,
            &format!("/shop/_doc/{id}?refresh=false"),
            &json!({"n": n}),
        );
        assert_eq!(answer.status, 201, "{}", answer.text);
        assert_eq!(answer.json()["_version"], Value::Null, "not known yet");
    }
    assert_eq!(delete(&one, "/shop/_doc/p1?refresh=false").status, 200);
    // Killed, as by kill -9.
    drop(one);
    let two = server(folder.path(), &[]);
    // What is safe comes before what arrives now.
    // What depends on what is there waits for its publication, whatever `refresh` says.
    let create = put(&two, "/shop/_create/p9?refresh=false", &json!({}));
    said(&create, 201, "created", 1);
    let create = put(&two, "/shop/_create/p9?refresh=false", &json!({}));
    assert_eq!(create.status, 409, "{}", create.text);
    assert_eq!(delete(&two, "/shop/_doc/p9").status, 200);
    said(
        &put(&two, "/shop/_doc/p2", &json!({"n": "now"})),
        200,
        "updated",
        5,
    );
    let docs =
        post(&two, "/shop/_mget", &json!({"ids": ["p0", "p1", "p2"]})).json()["docs"].clone();
    assert_eq!(docs[0]["_source"], json!({"n": 9}), "{docs}");
    assert_eq!(docs[0]["_version"], 4);
    assert_eq!(docs[1]["found"], false);
    assert_eq!(docs[2]["_source"], json!({"n": "now"}));
}

#[test]
fn documents_of_one_time_come_back_in_the_order_of_their_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let num_times = usual_or_full(40, 100) as u64;
    for time in 0..num_times {
        let index = format!("i{}", time % 4);
        for n in 0..12 {
            let event = json!({"@timestamp": "2026-11-05T10:00:00Z", "n": time * 12 + n});
            // Those that are only safe are as good.
            let query = match n % 4 {
                3 => "?refresh=true",
                _ => "?refresh=false",
            };
            assert_eq!(
                post(&server, &format!("/{index}/_doc{query}"), &event).status,
                201
            );
        }
    }
    for index in 0..4 {
        let path = format!("/i{index}");
        assert_eq!(status(&server, "POST", &format!("{path}/_refresh")), 200);
        let (_, found) = get(&server, &format!("{path}/_search?size=1000&q=*"));
        let hits = found["hits"]["hits"].as_array().unwrap();
        let found: Vec<u64> = hits
            .iter()
            .map(|hit| hit["_source"]["n"].as_u64().unwrap())
            .collect();
        let wanted: Vec<u64> = (0..num_times)
            .filter(|time| time % 4 == index)
            .flat_map(|time| time * 12..(time + 1) * 12)
            .collect();
        assert_eq!(found, wanted, "{index}");
    }
}

#[test]
fn an_index_without_an_id_field_takes_no_ids() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("logs.yaml"),
        "{version: 0.9, index_id: logs, doc_mapping: {}}",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("shop.yaml"),
        "{version: 0.9, index_id: shop, doc_mapping: {id_field: sku, field_mappings: [{name: sku, type: text, tokenizer: raw}]}}",
    )
    .unwrap();
    for name in ["logs", "shop"] {
        let config = format!("{name}.yaml");
        run(
            folder.path(),
            &[
                "index",
                "create",
                "--index",
                name,
                "--index-config",
                &config,
            ],
            0,
        );
    }
    let server = Server::of(
        folder.path(),
        &[
            "--index",
            "logs",
            "--index",
            "shop",
            "--writable",
            "--commit-interval",
            "20ms",
        ],
    );
    let kind = "illegal_argument_exception";
    problem(
        &put(&server, "/logs/_doc/1", &json!({"a": 1})),
        400,
        kind,
        "no id_field",
    );
    problem(&delete(&server, "/logs/_doc/1"), 400, kind, "no id_field");
    assert_eq!(
        post(&server, "/logs/_doc", &json!({"_id": "x"})).status,
        201
    );
    // Where a field has the id, it is the same.
    said(
        &put(&server, "/shop/_doc/x1", &json!({"price": 1})),
        201,
        "created",
        1,
    );
    assert_eq!(
        get(&server, "/shop/_source/x1"),
        (200, json!({"sku": "x1", "price": 1}))
    );
    let own = post(&server, "/shop/_doc", &json!({"sku": "x1", "price": 2}));
    // The versions that a column would count are not mapped.
    let own = (
        own.status,
        own.json()["result"].clone(),
        own.json()["_id"].clone(),
    );
    assert_eq!(own, (200, json!("updated"), json!("x1")));
    assert_eq!(
        get(&server, "/shop/_source/x1"),
        (200, json!({"sku": "x1", "price": 2}))
    );
    let other = put(&server, "/shop/_doc/x1", &json!({"sku": "x2"}));
    problem(
        &other,
        400,
        "document_parsing_exception",
        "the document says",
    );
    std::fs::write(
        folder.path().join("night.ndjson"),
        "{\"sku\":\"x1\",\"price\":3}\n{\"sku\":\"x3\"}\n",
    )
    .unwrap();
    run(
        folder.path(),
        &[
            "index",
            "ingest",
            "--index",
            "shop",
            "--input",
            "night.ndjson",
        ],
        0,
    );
    let (_, found) = get(&server, "/shop/_search?q=*");
    assert_eq!(found["hits"]["total"]["value"], 2, "{found}");
}
